"""tokenizers' ``PreTokenizedString``: a text that is cut into splits, and these into tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from itertools import accumulate
from typing import Any, TypeAlias

from toksmith._base.text import byte_sizes
from toksmith.compat.tokenizers.callbacks import check_callable, checked, wrapping
from toksmith.compat.tokenizers.checks import an_id, arguments, optional, string, unsigned
from toksmith.compat.tokenizers.encoding import Encoding
from toksmith.compat.tokenizers.failures import ComponentTypeError, TokenizersError
from toksmith.compat.tokenizers.normalized_string import NormalizedString
from toksmith.errors import OptionError
from toksmith.splitters import Splitter

Offsets: TypeAlias = tuple[int, int]


class OffsetReferential(Enum):
    """The text that offsets refer to."""

    ORIGINAL = "original"
    NORMALIZED = "normalized"


class OffsetType(Enum):
    """The unit of offsets."""

    BYTE = "byte"
    CHAR = "char"


class Token:
    """A token of one split.

    Args:
        id: its id.
        value: its text.
        offsets: its start and end in the split, in bytes of UTF-8.

    Raises:
        ComponentTypeError: an argument has a wrong type.
        ComponentOverflowError: the id or an offset is negative.

    Example:
        >>> Token(7, "go", (0, 2)).as_tuple()
        (7, 'go', (0, 2))
    """

    __slots__ = ("_id", "_offsets", "_value")

    @arguments(id=an_id, value=string)
    def __init__(self, id: int, value: str, offsets: Offsets) -> None:
        if len(checked(offsets, tuple)) != 2:
            raise ComponentTypeError(f"expected a start and an end, got {offsets!r:.80}")
        start, end = map(unsigned, offsets)
        self._id, self._value, self._offsets = id, value, (start, end)

    @property
    def id(self) -> int:
        """The id."""
        return self._id

    @property
    def value(self) -> str:
        """The text."""
        return self._value

    @property
    def offsets(self) -> Offsets:
        """The start and end in the split, in bytes."""
        return self._offsets

    def as_tuple(self) -> tuple[int, str, Offsets]:
        """Return the id, the text and the offsets."""
        return self._id, self._value, self._offsets


Split: TypeAlias = "tuple[NormalizedString, list[Token] | None]"
"""A part of a text, and its tokens if it has been tokenized."""


class PreTokenizedString:
    """A text as a list of splits: each is normalized, cut further, and at last tokenized.

    ``split``, ``normalize`` and ``tokenize`` leave splits alone that have tokens already.

    Args:
        sequence: the text.

    Example:
        >>> text = PreTokenizedString("Hey you")
        >>> text.split(lambda place, part: part.split(" ", "removed"))
        >>> text.normalize(lambda part: part.lowercase())
        >>> text.get_splits()
        [('hey', (0, 3), None), ('you', (4, 7), None)]
    """

    __slots__ = ("_source", "_splits")

    _source: str
    _splits: list[Split]

    def __init__(self, sequence: str) -> None:
        self._splits = [(NormalizedString(sequence), None)]
        self._source = sequence

    def split(self, func: Callable[[int, NormalizedString], Sequence[NormalizedString]]) -> None:
        """Cut each split that has no tokens.

        Args:
            func: a function of the number of a split and the split. It returns the parts, which
                should be slices of the split. Empty parts are dropped.
        """
        check_callable(
            func, "split", "fn(index: int, normalized: NormalizedString) -> List[NormalizedString]"
        )
        splits: list[Split] = []
        for place, (text, tokens) in enumerate(self._splits):
            if tokens is not None:
                splits.append((text, tokens))
                continue
            with wrapping():
                parts = [checked(part, NormalizedString) for part in func(place, text)]
            splits += [(part, None) for part in parts if part.normalized]
        self._splits = splits

    def normalize(self, func: Callable[[NormalizedString], object]) -> None:
        """Normalize each split that has no tokens.

        Args:
            func: a function that changes a split. It may not keep the object.
        """
        check_callable(func, "normalize", "fn(normalized: NormalizedString)")
        for text, tokens in self._splits:
            if tokens is None:
                with wrapping(), text._lent() as lent:
                    func(lent)

    def tokenize(self, func: Callable[[str], Sequence[Token]]) -> None:
        """Tokenize each split that has no tokens.

        Args:
            func: a function from the text of a split to its tokens.
        """
        check_callable(func, "tokenize", "fn(str) -> List[Token]")
        splits: list[Split] = []
        for text, tokens in self._splits:
            if tokens is None:
                with wrapping():
                    tokens = [checked(token, Token) for token in func(text.normalized)]
            splits.append((text, tokens))
        self._splits = splits

    def get_splits(
        self, offset_referential: str = "original", offset_type: str = "char"
    ) -> list[tuple[str, Offsets, list[Token] | None]]:
        """Return the text, the offsets and the tokens of each split.

        Args:
            offset_referential: the text that the offsets refer to: ``original`` or
                ``normalized``.
            offset_type: their unit: ``char`` or ``byte``.

        Raises:
            OptionError: an argument is another word.
        """
        referential = _choice(OffsetReferential, offset_referential)
        convert: Callable[[Offsets], Offsets] = _as_they_are
        if _choice(OffsetType, offset_type) is OffsetType.CHAR:
            convert = character_offsets(self._source)
        texts = [text for text, _ in self._splits]
        if referential is OffsetReferential.ORIGINAL:
            spans = [text._span for text in texts]
        else:
            ends = [*accumulate(len(text.normalized.encode()) for text in texts)]
            spans = list(zip([0, *ends], ends, strict=False))
        return [
            (text.normalized, convert(span), tokens)
            for (text, tokens), span in zip(self._splits, spans, strict=True)
        ]

    @arguments(type_id=an_id, word_idx=optional(an_id))
    def to_encoding(self, type_id: int = 0, word_idx: int | None = None) -> Encoding:
        """Return the tokens of all splits as an encoding.

        Args:
            type_id: the type of the tokens.
            word_idx: the word of all tokens. Default: that of a token is its split.

        Raises:
            TokenizersError: a split has no tokens.
        """
        if any(tokens is None for _, tokens in self._splits):
            raise TokenizersError(
                "Split has not been tokenized, call `PreTokenizedString.tokenize` first"
            )
        ids: list[int] = []
        columns: dict[str, list[Any]] = {"tokens": [], "offsets": [], "words": []}
        convert = character_offsets(self._source)
        for place, (part, tokens) in enumerate(self._splits):
            origins = _origins(part)
            for token in tokens or ():
                start, end = span = token.offsets
                if start < end <= len(origins):
                    span = origins[start][0], origins[end - 1][1]
                ids.append(token.id)
                columns["tokens"].append(token.value)
                columns["offsets"].append(convert(span))
                columns["words"].append(place if word_idx is None else word_idx)
        return Encoding.of(ids, columns.__getitem__, type_id)

    def _cut(self, step: Splitter) -> None:
        """Cut each split that has no tokens by a splitter."""
        self.split(lambda _, text: text._cut(step))

    @contextmanager
    def _lent(self) -> Iterator[PreTokenizedString]:
        """Give a caller's function an object that changes this one, until it returns."""
        lent = PreTokenizedString.__new__(PreTokenizedString)
        lent._source, lent._splits = self._source, self._splits
        try:
            yield lent
            self._splits = lent._splits
        finally:
            del lent._splits

    def __getattr__(self, name: str) -> object:
        if name == "_splits":
            raise TokenizersError(
                "Cannot use a PreTokenizedStringRefMut outside `pre_tokenize`: the object is "
                "valid until the function returns; keep get_splits() of it"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def character_offsets(source: str) -> Callable[[Offsets], Offsets]:
    """Return a function from offsets in bytes of a text to offsets in characters.

    An offset inside a character is that of the character. Offsets that the text does not have
    stay as they are.
    """
    sizes = byte_sizes(source).tolist()
    places = [place for place, size in enumerate(sizes) for _ in range(size)]

    def convert(offsets: Offsets) -> Offsets:
        start, end = offsets
        if start >= len(places):
            return offsets
        if end < len(places):
            return places[start], places[end]
        last = places[end - 1] if end == len(places) else places[start] + 1
        return places[start], last + 1

    return convert


def _origins(part: NormalizedString) -> list[Offsets]:
    """Return the bytes of the source that each byte of a normalized text comes from."""
    text = part._text
    return [
        (start, end)
        for character, start, end in zip(text.text, text.starts, text.ends, strict=True)
        for _ in range(len(character.encode()))
    ]


def _as_they_are(offsets: Offsets) -> Offsets:
    return offsets


def _choice(kind: type[Enum], value: object) -> Enum:
    try:
        return kind(checked(value, str))
    except ValueError:
        raise OptionError(
            f"Wrong value for {kind.__name__}, {value!r:.80}, expected one of "
            f"`{', '.join(each.value for each in kind)}`"
        ) from None
