"""Framing: added and special tokens, templates, truncation and padding around a model's tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from toksmith._base.records import dataclass, field, replace
from toksmith._base.visible import short_repr
from toksmith.errors import OptionError, SpecialTokenError
from toksmith.framing.added import AddedToken, find, literal_pattern, search_order_matters
from toksmith.framing.lengths import Padding, Truncation
from toksmith.framing.settings import Settings
from toksmith.framing.template import Part, Template, TextPart, TokenPart, TrimOffsets

__all__ = [
    "AddedSearch",
    "AddedToken",
    "Framing",
    "Padding",
    "Part",
    "Settings",
    "Template",
    "TextPart",
    "TokenPart",
    "TrimOffsets",
    "Truncation",
]

PAD_TOKENS = ("[PAD]", "<pad>", "<PAD>", "<|pad|>", "<|padding|>", "<|finetune_right_pad_id|>")
"""Special tokens used for padding if the tokenizer's file names none; the first found is used."""

MOST_IDS = 1 << 26
"""Ids of added tokens are below this: each id up to the highest costs memory."""


@short_repr
@dataclass(frozen=True, init=False)
class Framing:
    """Added tokens, and the template and lengths of model inputs.

    Args:
        added_tokens: in any order.
        prefix: ids that the template puts before each text.
        suffix: ids after it.
        template: the template, in place of ``prefix`` and ``suffix``.
        trim_offsets: see below.
        padding: see below.
        truncation: see below.

    Attributes:
        added_tokens: in the order of their ids.
        template: what ``add_special_tokens`` puts around a text, or two.
        trim_offsets: how the spans of tokens leave out white space; ``None``: they do not.
        padding: how batches of model inputs are filled, where the caller does not say; it and
            ``truncation`` never change what encoding returns.
        truncation: how they are cut.

    Raises:
        OptionError: two added tokens share a literal, or an id without one being an alias, or a
            literal is empty; or both a template and its parts are given.

    Example:
        >>> tokens = (AddedToken("[CLS]", 0), AddedToken("[SEP]", 1))
        >>> framing = Framing(tokens, prefix=(0,), suffix=(1,))
        >>> framing.special_tokens, framing.template.added()
        ({'[CLS]': 0, '[SEP]': 1}, 2)
    """

    added_tokens: tuple[AddedToken, ...]
    template: Template
    trim_offsets: TrimOffsets | None
    padding: Padding | None
    truncation: Truncation | None
    _by_content: dict[str, AddedToken] = field(repr=False, compare=False)

    def __init__(
        self,
        added_tokens: tuple[AddedToken, ...] = (),
        prefix: tuple[int, ...] = (),
        suffix: tuple[int, ...] = (),
        template: Template | None = None,
        trim_offsets: TrimOffsets | None = None,
        padding: Padding | None = None,
        truncation: Truncation | None = None,
    ) -> None:
        if template is not None and (prefix or suffix):
            raise OptionError("give a template, or its prefix and suffix")
        by_content = _checked(added_tokens)
        ordered = tuple(sorted(added_tokens, key=lambda token: (token.id, token.alias)))
        object.__setattr__(self, "added_tokens", ordered)
        if padding is not None and padding.id is None:
            padding = replace(padding, id=self.pad_id or 0)
        for name, value in (
            ("template", template or Template.around(prefix, suffix)),
            ("trim_offsets", trim_offsets),
            ("padding", padding),
            ("truncation", truncation),
            ("_by_content", by_content),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def of(
        cls, special_tokens: Mapping[str, int], aliases: Mapping[str, int] | None = None
    ) -> Framing:
        """Return the framing whose only content is these special tokens, and their aliases.

        Args:
            special_tokens: ids by literal.
            aliases: ids by further literals; each id is that of a special token.

        Raises:
            OptionError: a literal is empty or occurs twice, or an alias has the id of no token.

        Example:
            >>> framing = Framing.of({"<eos>": 7}, aliases={"</s>": 7})
            >>> [(token.content, token.id) for token in framing.added_tokens]
            [('<eos>', 7), ('</s>', 7)]
        """
        tokens = [AddedToken(content, token_id) for content, token_id in special_tokens.items()]
        others = (aliases or {}).items()
        tokens += [AddedToken(content, token_id, alias=True) for content, token_id in others]
        return cls(tuple(tokens))

    @cached_property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens' ids by literal.

        Example:
            >>> Framing.of({"<eos>": 7}).special_tokens
            {'<eos>': 7}
        """
        return {token.content: token.id for token in self.added_tokens if token.special}

    @property
    def pad_id(self) -> int | None:
        """The id of the special token that pads, by its literal; ``None`` if there is none.

        Example:
            >>> Framing.of({"<eos>": 7, "<pad>": 8}).pad_id
            8
        """
        special = self.special_tokens
        return next((special[literal] for literal in PAD_TOKENS if literal in special), None)

    @cached_property
    def always(self) -> frozenset[str]:
        """The literals matched in every call: those of added tokens that are not special.

        Example:
            >>> Framing((AddedToken("<eos>", 7), AddedToken("Mr.", 8, special=False))).always
            frozenset({'Mr.'})
        """
        return frozenset(token.content for token in self.added_tokens if not token.special)

    @cached_property
    def normalized(self) -> frozenset[str]:
        """The literals that are looked for in the normalized text.

        Example:
            >>> Framing((AddedToken("mr.", 8, special=False, normalized=True),)).normalized
            frozenset({'mr.'})
        """
        return frozenset(token.content for token in self.added_tokens if token.normalized)

    @property
    def prefix(self) -> tuple[int, ...]:
        """The ids that the template puts before one text.

        Example:
            >>> Framing(prefix=(101,), suffix=(102,)).prefix
            (101,)
        """
        return self.template.prefix

    @property
    def suffix(self) -> tuple[int, ...]:
        """The ids that the template puts after one text.

        Example:
            >>> Framing(prefix=(101,), suffix=(102,)).suffix
            (102,)
        """
        return self.template.suffix

    @cached_property
    def _all(self) -> frozenset[str]:
        return frozenset(token.content for token in self.added_tokens)

    def literals(self, special: str | Collection[str]) -> frozenset[str]:
        """Return the literals that are looked for in a text and become tokens.

        Args:
            special: ``"text"`` or ``"raise"`` (tokens that always match), ``"encode"`` (all), or
                the literals themselves.

        Raises:
            OptionError: it is none of these, or names what is no special token.

        Example:
            >>> framing = Framing((AddedToken("<eos>", 7), AddedToken("Mr.", 8, special=False)))
            >>> sorted(framing.literals("text")), sorted(framing.literals("encode"))
            (['Mr.'], ['<eos>', 'Mr.'])
        """
        if special in ("text", "raise"):
            return self.always
        if special == "encode":
            return self._all
        if isinstance(special, str) or not isinstance(special, Collection):
            raise OptionError(
                f'special is {special!r}: use "text", "encode", "raise" or a set of literals'
            )
        unknown = sorted(set(special) - self.special_tokens.keys() - self.always)
        if unknown:
            raise OptionError(f"{unknown[0]!r} is not a special token of this tokenizer")
        return self.always | frozenset(special)

    def refuse_special_tokens(self, text: bytes) -> None:
        """Check that a text holds no special token's literal.

        Args:
            text: UTF-8.

        Raises:
            SpecialTokenError: it does.

        Example:
            >>> Framing.of({"<eos>": 7}).refuse_special_tokens(b"to be<eos>")
            Traceback (most recent call last):
            ...
            toksmith.errors.SpecialTokenError: the text holds the special token '<eos>' at byte ...
        """
        if not self.special_tokens:
            return
        if found := literal_pattern(frozenset(self.special_tokens)).search(text):
            raise SpecialTokenError(
                f"the text holds the special token {found.group().decode()!r} at byte "
                f'{found.start()}; special="text" takes it as text, special="encode" as the token'
            )

    def segments(
        self, text: bytes, literals: Collection[str]
    ) -> Iterator[tuple[int, int, AddedToken | None]]:
        """Cut text at the literals: at each place the longest, those of normalized tokens last.

        Args:
            text: UTF-8.
            literals: the literals to look for, as :meth:`literals` returns them.

        Yields:
            ``(start, end, token)`` in bytes; ``token`` is ``None`` for the text between.

        Example:
            >>> found = Framing.of({"<eos>": 7}).segments(b"to be<eos>", ["<eos>"])
            >>> [(start, end, token and token.id) for start, end, token in found]
            [(0, 5, None), (5, 10, 7)]
        """
        literals = frozenset(literals)
        if not literals:
            yield 0, len(text), None
            return
        later = literals & self.normalized
        for start, end, token in find(text, literals - later, self._by_content):
            if token or not later:
                yield start, end, token
                continue
            for first, last, other in find(text[start:end], later, self._by_content):
                yield start + first, start + last, other


class AddedSearch:
    """A search for some of a framing's added tokens.

    Args:
        framing: the framing.
        literals: the literals to look for, as :meth:`Framing.literals` returns them.
        has_normalizer: whether the pipeline has a normalizer, so that normalized tokens are looked
            for in another text.

    Attributes:
        tokens: those that are looked for in the text as it is.
        within: the literals that are looked for in the normalized text.
        in_order: whether normalized tokens have to be looked for after the others.

    Example:
        >>> search = AddedSearch(Framing.of({"<eos>": 7}), frozenset({"<eos>"}), False)
        >>> [(start, end) for start, end, _ in search.segments(b"to be<eos>")]
        [(0, 5), (5, 10)]
    """

    def __init__(self, framing: Framing, literals: frozenset[str], has_normalizer: bool) -> None:
        self._framing = framing
        self.within = literals & framing.normalized if has_normalizer else frozenset()
        self._literals = literals - self.within
        self.tokens = [token for token in framing.added_tokens if token.content in self._literals]
        self.in_order = search_order_matters(self.tokens)

    def segments(self, text: bytes) -> Iterator[tuple[int, int, AddedToken | None]]:
        """Cut text at the tokens, as :meth:`Framing.segments` does.

        Args:
            text: UTF-8.

        Example:
            >>> search = AddedSearch(Framing(), frozenset(), False)
            >>> list(search.segments(b"to be"))
            [(0, 5, None)]
        """
        return self._framing.segments(text, self._literals)


def _is_text(content: str) -> bool:
    """Return whether a string has no surrogates; models may have ten thousands of tokens."""
    try:
        content.encode()
    except UnicodeEncodeError:
        return False
    return True


def _checked(tokens: tuple[AddedToken, ...]) -> dict[str, AddedToken]:
    """Return the tokens by literal."""
    by_content: dict[str, AddedToken] = {}
    by_id: dict[int, AddedToken] = {}
    for token in tokens:
        if not isinstance(token.content, str):
            kind = type(token.content).__name__
            raise OptionError(f"added token {token.content!r:.80} is {kind}, not a str")
        if not token.content:
            raise OptionError(f"the added token of id {token.id} is an empty string")
        if not _is_text(token.content):
            raise OptionError(
                f"added token {token.content!a:.80} holds half of a surrogate pair, which no "
                "text holds"
            )
        if not 0 <= token.id < MOST_IDS:
            raise OptionError(
                f"added token {token.content!r} has id {token.id}; ids are below {MOST_IDS:,}"
            )
        if by_content.setdefault(token.content, token) is not token:
            raise OptionError(
                f"added token {token.content!r} occurs twice: give each content one id"
            )
        if token.alias:
            continue
        if (other := by_id.setdefault(token.id, token)) is not token:
            raise OptionError(
                f"added tokens {other.content!r} and {token.content!r} share id {token.id}"
            )
    for token in tokens:
        if token.id not in by_id:
            raise OptionError(f"{token.content!r} is an alias of id {token.id}, which no token has")
    return by_content
