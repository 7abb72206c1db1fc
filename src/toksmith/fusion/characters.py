"""The normalized form of single characters, and which of them depend on their neighbours."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence, Set
from dataclasses import replace
from operator import or_
from typing import Literal, Protocol, TypeAlias

from toksmith._base import lazy
from toksmith.normalizers import (
    Normalizer,
    Precompiled,
    Replace,
    SentencePieceNormalizer,
    Step,
)
from toksmith.stages.character_maps import is_context_free, map_characters
from toksmith.stages.charsmap import character_map

INVALID = "\udfff"
"""Replaces a byte of invalid UTF-8."""


Origins: TypeAlias = Literal["own", "kept", "up-to-next"]


class Characters(Protocol):
    """A normalizer, character by character.

    Attributes:
        inside: the normalizer for a chunk inside a text, for what depends on neighbours.
        sentinel: a character, or none, to put before such a chunk, so that its start is no start
            of a text; it comes out as it is.
        lead: whether the normalizer puts a space before a text.
        collapse: whether it makes one space of several.
        trim: whether it leaves no space at the end of a text.
        origins: the origin of a character: ``"own"``, what it was made of; ``"kept"``, the same
            as long as no character becomes nothing; ``"up-to-next"``, all up to the place of the
            next one.
        firsts: the characters that the keys of its compiled maps start with.
        sees_replaced: whether it gets U+FFFD for invalid UTF-8, as for a U+FFFD of the text.
    """

    inside: Normalizer
    sentinel: str
    lead: bool
    collapse: bool
    trim: bool
    origins: Origins
    firsts: Set[str]
    sees_replaced: bool

    def leaves(self, start: int, end: int) -> bool:
        """Return whether these code points all become themselves, whatever their neighbours are."""

    def map(self, characters: Sequence[str]) -> tuple[list[str], list[bool]]:
        """Return what each becomes; and if what it or the one before it becomes depends on both."""

    def sees_space(self, text: str) -> bool:
        """Return whether the space that a text starts with may change what follows."""


def characters_of(normalizer: Normalizer) -> Characters | None:
    """Return a normalizer character by character; ``None`` where it has to see the whole text."""
    if len(normalizer) == 1 and isinstance(normalizer[0], SentencePieceNormalizer):
        step = normalizer[0]
        # What it does at the ends of a text can be derived from a chunk only where spaces are first
        # put there and then counted.
        extra = step.remove_extra_whitespaces
        if step.whitespace_as_suffix or extra > (step.add_dummy_prefix and step.escape_whitespaces):
            return None
        return SentencePieceCharacters(step)
    collapse = bool(normalizer) and _makes_one_space(normalizer[-1])
    mapped = normalizer[:-1] if collapse else normalizer
    if all(isinstance(step, Precompiled) or is_context_free((step,)) for step in mapped):
        return MappedCharacters(normalizer, mapped, collapse)
    return None


def _makes_one_space(step: Step) -> bool:
    """Return whether this is how one space is made of several."""
    if not isinstance(step, Replace):
        return False
    return (step.pattern, step.content, step.is_regex) == (" {2,}", " ", True)


class MappedCharacters:
    """Steps that see characters one by one, and at the end perhaps one space made of several."""

    sentinel = ""
    lead = False
    trim = False
    sees_replaced = True

    def __init__(self, normalizer: Normalizer, mapped: Normalizer, collapse: bool) -> None:
        self.inside = normalizer
        self.collapse = collapse
        self._mapped = mapped
        maps = [character_map(step.charsmap) for step in mapped if isinstance(step, Precompiled)]
        self.firsts: Set[str] = frozenset().union(*(each.first_characters for each in maps))
        self._clusters = bool(maps)
        self.origins: Origins = "kept" if maps else "own"

    def leaves(self, start: int, end: int) -> bool:
        """Return ``False``: only running the steps shows what they change."""
        return False

    def map(self, characters: Sequence[str]) -> tuple[list[str], list[bool]]:
        """Return the new form of each character, and whether its neighbours matter."""
        given = ["\ufffd" if c == INVALID else c for c in characters]
        becomes, depends = map_characters(self._mapped, given)
        if self._clusters:
            joining = set(_JOINS.findall("".join(given)))
            depends = [d or c in joining for d, c in zip(depends, given, strict=True)]
        if self.collapse:
            spaced = [" " in new and new != " " for new in becomes]
            depends = list(map(or_, depends, spaced))
        return becomes, depends

    def sees_space(self, text: str) -> bool:
        """Return whether the space is of one cluster with what follows."""
        return self._clusters and text[:1] == " " and _JOINS.match(text, 1) is not None


# Characters that form one cluster with a neighbour.
_JOINS = lazy.pattern(
    r"[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}\p{GCB=Prepend}\p{GCB=V}\p{GCB=T}\p{GCB=RI}\r]"
)


class SentencePieceCharacters:
    """SentencePiece's normalizer."""

    origins: Origins = "up-to-next"
    sees_replaced = False

    def __init__(self, step: SentencePieceNormalizer) -> None:
        self.inside: Normalizer = (replace(step, add_dummy_prefix=False),)
        self.lead = step.add_dummy_prefix
        self.collapse = self.trim = step.remove_extra_whitespaces
        self._map = character_map(step.charsmap)
        self._alone = {symbol for symbol in step.protected if len(symbol) == 1}
        self._space = "\u2581" if step.escape_whitespaces else " "
        # What is rewritten together with the character before it, and what starts a symbol that
        # passes as it is.
        self._depends = set(self._map.later_characters)
        self._depends |= {symbol[0] for symbol in step.protected if len(symbol) > 1}
        if self.collapse:  # spaces are counted by what they are, not by what they are written as
            self._depends.add(self._space)
        self.firsts: Set[str] = self._map.first_characters
        self._changed = self.firsts | {" ", INVALID}
        self._seen = sorted(map(ord, self._changed | self._depends))
        used = self._depends | self.firsts | self._alone
        self.sentinel = next(c for c in _PRIVATE if c not in used)

    def leaves(self, start: int, end: int) -> bool:
        """Return whether none of them is changed or depends: as with whole scripts."""
        return bisect_left(self._seen, start) == bisect_left(self._seen, end)

    def map(self, characters: Sequence[str]) -> tuple[list[str], list[bool]]:
        """Return the new form of each character, and whether its neighbours matter."""
        changed, depending, space = self._changed, self._depends, self._space
        becomes = [self._single(c) if c in changed else c for c in characters]
        depends = [c in depending for c in characters]
        if self.collapse:
            spaced = [space in new and new != space for new in becomes]
            depends = list(map(or_, depends, spaced))
        return becomes, depends

    def sees_space(self, text: str) -> bool:
        """Return whether the first space changes what follows: there is no such key."""
        return False

    def _single(self, character: str) -> str:
        if character == INVALID:
            return "\ufffd"
        if character in self._alone:
            return character.replace(" ", self._space)
        found = self._map.longest(character)
        return (found[1] if found else character).replace(" ", self._space)


_PRIVATE = [chr(code) for code in range(0xE000, 0xF900)]
