"""What stands around a model's tokens: added and special tokens, and the template."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from toksmith.errors import OptionError, SpecialTokenError

MOST_IDS = 1 << 26
"""Ids of added tokens are below this: each id up to the highest costs memory."""


@dataclass(frozen=True)
class AddedToken:
    """A token that stands beside the model's own vocabulary.

    Attributes:
        content: its literal.
        id: its id.
        special: whether it steers the model (a special token, matched only when the caller asks
            for it) or is plain text (always matched).
        alias: whether it is a second literal of another token's id: it encodes to that id, which
            decodes to the other's literal.
    """

    content: str
    id: int
    special: bool = True
    alias: bool = False


@dataclass(frozen=True)
class Framing:
    """Added tokens, and the ids that a template puts before and after a text.

    Attributes:
        added_tokens: in the order of their ids.
        prefix: ids before each text when ``add_special_tokens`` is asked for.
        suffix: ids after it.

    Raises:
        OptionError: two added tokens share a literal, or an id without one being an alias, or a
            literal is empty.
    """

    added_tokens: tuple[AddedToken, ...] = ()
    prefix: tuple[int, ...] = ()
    suffix: tuple[int, ...] = ()
    _by_content: dict[str, AddedToken] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_content: dict[str, AddedToken] = {}
        by_id: dict[int, AddedToken] = {}
        for token in self.added_tokens:
            if not isinstance(token.content, str):
                kind = type(token.content).__name__
                raise OptionError(f"added token {token.content!r:.80} is {kind}, not a str")
            if not token.content:
                raise OptionError(f"the added token of id {token.id} is an empty string")
            if any(0xD800 <= ord(character) < 0xE000 for character in token.content):
                raise OptionError(
                    f"added token {token.content!a:.80} holds half of a surrogate pair, which no "
                    "text holds"
                )
            if not 0 <= token.id < MOST_IDS:
                raise OptionError(
                    f"added token {token.content!r} has id {token.id}; ids are below {MOST_IDS:,}"
                )
            if by_content.setdefault(token.content, token) is not token:
                raise OptionError(f"added token {token.content!r} stands twice")
            if token.alias:
                continue
            if (other := by_id.setdefault(token.id, token)) is not token:
                raise OptionError(
                    f"added tokens {other.content!r} and {token.content!r} share id {token.id}"
                )
        for token in self.added_tokens:
            if token.id not in by_id:
                raise OptionError(f"{token.content!r} is an alias of id {token.id}, which is none")
        ordered = tuple(sorted(self.added_tokens, key=lambda token: (token.id, token.alias)))
        object.__setattr__(self, "added_tokens", ordered)
        object.__setattr__(self, "_by_content", by_content)

    @classmethod
    def of(
        cls, special_tokens: Mapping[str, int], aliases: Mapping[str, int] | None = None
    ) -> Framing:
        """Return the framing whose only content is these special tokens, and their aliases."""
        tokens = [AddedToken(content, token_id) for content, token_id in special_tokens.items()]
        others = (aliases or {}).items()
        tokens += [AddedToken(content, token_id, alias=True) for content, token_id in others]
        return cls(tuple(tokens))

    @cached_property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens' ids by literal."""
        return {token.content: token.id for token in self.added_tokens if token.special}

    @cached_property
    def always(self) -> frozenset[str]:
        """The literals that are matched whatever the caller asks: added, but not special."""
        return frozenset(token.content for token in self.added_tokens if not token.special)

    @cached_property
    def _all(self) -> frozenset[str]:
        return frozenset(token.content for token in self.added_tokens)

    def literals(self, special: str | Collection[str]) -> frozenset[str]:
        """Return the literals that are looked for in a text and become tokens.

        Args:
            special: ``"text"`` or ``"raise"`` (only what is always matched), ``"encode"`` (all), or
                the literals themselves.

        Raises:
            OptionError: it is none of these, or names what is no special token.
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

        Raises:
            SpecialTokenError: it does.
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
        """Cut text at the literals, leftmost first and the longest of those.

        Yields:
            ``(start, end, token)`` in bytes; ``token`` is ``None`` for the text between.
        """
        if not literals:
            yield 0, len(text), None
            return
        done = 0
        for match in literal_pattern(frozenset(literals)).finditer(text):
            if match.start() > done:
                yield done, match.start(), None
            yield match.start(), match.end(), self._by_content[match.group().decode()]
            done = match.end()
        if done < len(text):
            yield done, len(text), None


@lru_cache(maxsize=64)
def literal_pattern(literals: Iterable[str]) -> re.Pattern[bytes]:
    """Return a pattern that finds any of the literals, the longest where several start."""
    return re.compile(_any_of([literal.encode() for literal in literals]))


_MOST_BESIDE, _MOST_DEEP = 8, 16


def _any_of(literals: list[bytes], depth: int = 0) -> bytes:
    """Return a pattern of any of the literals, longer ones first.

    The ``re`` module tries alternatives one by one: many are grouped by how they start.
    """
    if len(literals) <= _MOST_BESIDE or depth == _MOST_DEEP:
        return b"|".join(map(re.escape, sorted(literals, key=len, reverse=True)))
    first, last = min(literals), max(literals)
    same = next((i for i in range(len(first)) if first[i] != last[i]), len(first))
    groups: dict[bytes, list[bytes]] = {}
    for literal in sorted(literals, reverse=True):  # what is another's start comes after it
        rest = literal[same:]
        groups.setdefault(rest[:1], []).append(rest[1:])
    branches = [re.escape(byte) + b"(?:" + _any_of(rests, depth + 1) + b")"
                for byte, rests in groups.items()]  # fmt: skip
    return re.escape(first[:same]) + b"(?:" + b"|".join(branches) + b")"
