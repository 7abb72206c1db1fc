"""Added tokens, and finding them in a text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache

from toksmith._base import lazy
from toksmith._base.records import dataclass
from toksmith._base.visible import short_repr

NONE: frozenset[str] = frozenset()
"""No literals."""


@short_repr
@dataclass(frozen=True)
class AddedToken:
    """A token next to the model's own vocabulary.

    Attributes:
        content: its literal.
        id: its id.
        special: whether it steers the model (a special token, matched only when the caller asks
            for it) or is plain text (always matched).
        alias: whether it is a second literal of another token's id: it encodes to that id, which
            decodes to the other's literal.
        single_word: whether it only matches without a word character next to it.
        lstrip: white space before it belongs to it.
        rstrip: white space after it belongs to it.
        normalized: it is looked for in the normalized text (by its own normalized literal), after
            those that are looked for in the text as it is.

    Example:
        >>> from toksmith import Tokenizer, framing, models, pipeline
        >>> added = framing.Framing((AddedToken("[MASK]", 1, lstrip=True),))
        >>> tok = Tokenizer(pipeline.Pipeline(models.WordLevel((b"to",)), framing=added))
        >>> tok.encoding("to [MASK]", special="encode").spans.tolist()
        [[0, 2], [2, 9]]
    """

    content: str
    id: int
    special: bool = True
    alias: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


def find(
    text: bytes, literals: frozenset[str], tokens: Mapping[str, AddedToken]
) -> Iterator[tuple[int, int, AddedToken | None]]:
    """Cut text at literals, leftmost first and the longest of those.

    Args:
        text: UTF-8.
        literals: the literals to search for.
        tokens: the token of each literal.

    Yields:
        ``(start, end, token)`` in bytes; ``token`` is ``None`` for the text between.

    Example:
        >>> mask = AddedToken("[M]", 5, lstrip=True)
        >>> [(start, end) for start, end, _ in find(b"a [M]b", frozenset({"[M]"}), {"[M]": mask})]
        [(0, 1), (1, 5), (5, 6)]
    """
    done = 0
    for match in literal_pattern(literals).finditer(text) if literals else ():
        token = tokens[match.group().decode()]
        start, end = match.span()
        if token.single_word and _inside_word(text, start, end):
            continue
        if token.lstrip:
            start = max(_space_before(text, start), done)
        if token.rstrip:
            end = _space_after(text, end)
        if start >= end:
            continue  # it was white space, and the token before has taken it
        if done < start:
            yield done, start, None
        yield start, end, token
        done = end
    if done < len(text):
        yield done, len(text), None


def search_order_matters(tokens: Collection[AddedToken]) -> bool:
    """Return whether it makes a difference that normalized tokens are looked for last.

    It does if one of them can overlap another, or if tokens take the characters around them
    into account. (In a text that no normalizer changes.)
    """
    first = [token.content for token in tokens if not token.normalized]
    last = [token.content for token in tokens if token.normalized]
    if not first or not last:
        return False
    if any(token.single_word or token.lstrip or token.rstrip for token in tokens):
        return True
    starts = {content[:end] for content in first for end in range(1, len(content) + 1)}
    return any(
        any(content[start:] in starts for start in range(1, len(content)))
        or any(other in content for other in first)
        for content in last
    )


_WORD = lazy.pattern(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]")
SPACE = tuple(
    chr(code).encode()
    for span in ((0x09, 0x0E), (0x20, 0x21), (0x85, 0x86), (0xA0, 0xA1), (0x1680, 0x1681),
                 (0x2000, 0x200B), (0x2028, 0x202A), (0x202F, 0x2030), (0x205F, 0x2060),
                 (0x3000, 0x3001))
    for code in range(*span)
)  # fmt: skip
_LONGEST = 4
"""The most bytes of a character."""


def _inside_word(text: bytes, start: int, end: int) -> bool:
    before = text[max(0, start - _LONGEST) : start].decode("utf-8", "surrogateescape")[-1:]
    after = text[end : end + _LONGEST].decode("utf-8", "surrogateescape")[:1]
    return is_word_character(before) or is_word_character(after)


def is_word_character(character: str) -> bool:
    """Return whether a character belongs to words, for :attr:`AddedToken.single_word`.

    Example:
        >>> [is_word_character(each) for each in ("a", "_", " ", "")]
        [True, True, False, False]
    """
    return bool(_WORD.match(character))


def _space_before(text: bytes, start: int) -> int:
    while found := next((space for space in SPACE if text.endswith(space, 0, start)), None):
        start -= len(found)
    return start


def _space_after(text: bytes, end: int) -> int:
    match = _spaces().match(text, end)
    return match.end() if match else end


@cache
def _spaces() -> re.Pattern[bytes]:
    return re.compile(b"(?:" + b"|".join(SPACE) + b")*")


@lru_cache(maxsize=64)
def literal_pattern(literals: frozenset[str]) -> re.Pattern[bytes]:
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
    for literal in sorted(literals, reverse=True):  # longer literals before their prefixes
        rest = literal[same:]
        groups.setdefault(rest[:1], []).append(rest[1:])
    branches = [re.escape(byte) + b"(?:" + _any_of(rests, depth + 1) + b")"
                for byte, rests in groups.items()]  # fmt: skip
    return re.escape(first[:same]) + b"(?:" + b"|".join(branches) + b")"
