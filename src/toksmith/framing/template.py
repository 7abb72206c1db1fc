"""Templates: the ids around a text, or around a pair of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from toksmith._base.records import dataclass
from toksmith._base.visible import short_repr
from toksmith.errors import OptionError


@short_repr
@dataclass(frozen=True)
class TextPart:
    """The place of a text.

    Attributes:
        which: ``A`` for the first text, ``B`` for the second of a pair.
        type_id: what type its tokens are.

    Example:
        >>> Template((TokenPart(101), TextPart("A"))).prefix
        (101,)
    """

    which: Literal["A", "B"]
    type_id: int = 0


@short_repr
@dataclass(frozen=True)
class TokenPart:
    """One id that the template puts.

    Attributes:
        id: the id.
        type_id: what type it is.

    Example:
        >>> Template((TextPart("A"), TokenPart(102))).suffix
        (102,)
    """

    id: int
    type_id: int = 0


Part: TypeAlias = TextPart | TokenPart


@short_repr
@dataclass(frozen=True)
class Template:
    """The ids around one text, and around a pair of texts.

    Attributes:
        single: for one text.
        pair: for two.

    Raises:
        OptionError: ``single`` leaves the text out or has a second one.

    Example:
        >>> bert = Template.bert(101, 102)
        >>> bert.prefix, bert.suffix, bert.added(pair=True)
        ((101,), (102,), 3)
    """

    single: tuple[Part, ...] = (TextPart("A"),)
    pair: tuple[Part, ...] = (TextPart("A"), TextPart("B", 1))

    def __post_init__(self) -> None:
        texts = [part.which for part in self.single if isinstance(part, TextPart)]
        if not texts or "B" in texts:
            raise OptionError(f"the template of one text has the texts {texts}: it needs A alone")

    @classmethod
    def around(cls, prefix: Sequence[int], suffix: Sequence[int]) -> Template:
        """Return the template that puts ids before and after each text, one or two.

        Args:
            prefix: the ids before each text.
            suffix: the ids after it.

        Example:
            >>> template = Template.around([1], [2])
            >>> template.prefix, template.suffix, template.added(pair=True)
            ((1,), (2,), 4)
        """

        def side(which: Literal["A", "B"], kind: int) -> tuple[Part, ...]:
            before, after = ([TokenPart(i, kind) for i in ids] for ids in (prefix, suffix))
            return (*before, TextPart(which, kind), *after)

        return cls(side("A", 0), side("A", 0) + side("B", 1))

    @classmethod
    def bert(cls, start: int, end: int) -> Template:
        """Return BERT's template, ``[CLS] A [SEP] B [SEP]``, from the ids of the two tokens.

        Args:
            start: the id of ``[CLS]``.
            end: the id of ``[SEP]``.

        Example:
            >>> Template.bert(101, 102).pair[-2:]
            (TextPart(which='B', type_id=1), TokenPart(id=102, type_id=1))
        """
        single = (TokenPart(start), TextPart("A"), TokenPart(end))
        return cls(single, (*single, TextPart("B", 1), TokenPart(end, 1)))

    @property
    def prefix(self) -> tuple[int, ...]:
        """The ids before one text.

        Example:
            >>> Template.bert(101, 102).prefix
            (101,)
        """
        first = next(i for i, part in enumerate(self.single) if isinstance(part, TextPart))
        return self._ids(self.single[:first])

    @property
    def suffix(self) -> tuple[int, ...]:
        """The ids after one text (after the first, if the template repeats it).

        Example:
            >>> Template.bert(101, 102).suffix
            (102,)
        """
        return self._ids(self.single)[len(self.prefix) :]

    @property
    def times(self) -> int:
        """Occurrences of the text in the template for one text.

        Example:
            >>> Template((TextPart("A"), TokenPart(102), TextPart("A"))).times
            2
        """
        return sum(isinstance(part, TextPart) for part in self.single)

    def added(self, pair: bool = False) -> int:
        """Return the number of ids that the template adds.

        Args:
            pair: whether for a pair of texts.

        Example:
            >>> Template.bert(101, 102).added(), Template.bert(101, 102).added(pair=True)
            (2, 3)
        """
        return len(self._ids(self.pair if pair else self.single))

    @staticmethod
    def _ids(parts: Sequence[Part]) -> tuple[int, ...]:
        return tuple(part.id for part in parts if isinstance(part, TokenPart))


@short_repr
@dataclass(frozen=True)
class TrimOffsets:
    """The spans of tokens leave out the spaces at their ends.

    Attributes:
        add_prefix_space: the first token keeps its space, which was put before it.

    Example:
        >>> from toksmith import Tokenizer, framing, models, pipeline
        >>> trimmed = framing.Framing(trim_offsets=TrimOffsets())
        >>> model = models.LongestMatch((b"to", b" be"))
        >>> tok = Tokenizer(pipeline.Pipeline(model, framing=trimmed))
        >>> tok.encoding("to be").spans.tolist()
        [[0, 2], [3, 5]]
    """

    add_prefix_space: bool = True
