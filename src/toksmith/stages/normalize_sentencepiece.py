"""SentencePiece's normalizer, and the way in which ``tokenizers`` applies its map.

SentencePiece's normalizer goes from place to place: a user-defined symbol, a key of the map, or one
character. The origin of a character of the result reaches from its own place to the place of the
next one, so dropped characters belong to the one before them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple, TypeAlias

from toksmith._base import lazy
from toksmith.normalizers import Precompiled, SentencePieceNormalizer
from toksmith.stages.aligned import Edit, apply_edits
from toksmith.stages.charsmap import CharacterMap, any_of, character_map

SPACE = "\u2581"
"""SentencePiece's mark for a space."""

_INVALID = frozenset(map(chr, range(0xDC80, 0xDD00)))  # invalid UTF-8 (surrogateescape)


def sentencepiece_edits(step: SentencePieceNormalizer, text: str) -> list[Edit]:
    """Return the edits of SentencePiece's normalizer in a text.

    Bytes of invalid UTF-8 (``surrogateescape``) become U+FFFD, which the map does not see.
    """
    places, end = _places(step, text)
    if not places or end is None:
        return [Edit(0, len(text), "")] if text else []
    edits = []
    if places[0].start:
        edits.append(Edit(0, places[0].start, ""))
    for place, after in zip_longest(places, places[1:]):
        stop = after.start if after else end
        if place.whole:
            # All characters start where the place does; the last one goes to its end.
            if len(place.new) > 1:
                edits.append(Edit(place.start, place.start, place.new[:-1]))
            edits.append(Edit(place.start, stop, place.new[-1]))
        elif stop > place.end:
            edits.append(Edit(place.end - 1, stop, place.new[-1]))
    if end < len(text):
        edits.append(Edit(end, len(text), ""))
    return edits


class Place(NamedTuple):
    """What the characters ``[start, end)`` become; ``whole``: they are replaced as one."""

    new: str
    start: int
    end: int
    whole: bool = True


def end_of_normalized(step: SentencePieceNormalizer, text: str) -> int | None:
    """Return where the part of a text that is left ends; ``None`` if it is white space alone."""
    return _places(step, text)[1]


def _places(step: SentencePieceNormalizer, text: str) -> tuple[list[Place], int | None]:
    """Return the places that become something, and where in the text the last of them ends."""
    look = _lookup(step.charsmap, step.protected)
    mark = SPACE if step.escape_whitespaces else " "
    start = 0
    if step.remove_extra_whitespaces:
        while start < len(text) and (place := look.at(text, start)).new == " ":
            start = place.end
    if start == len(text):
        return [], None
    places = []
    if step.add_dummy_prefix and not step.whitespace_as_suffix:
        places.append(Place(mark, start, start))
    after_space = step.remove_extra_whitespaces
    for place in look.places(text, start):
        new = place.new.lstrip(" ") if after_space else place.new
        if not new:
            continue
        after_space = step.remove_extra_whitespaces and new.endswith(" ")
        places.append(place._replace(new=new.replace(" ", mark), whole=place.whole or " " in new))
    end = len(text)
    if step.remove_extra_whitespaces:
        end = _strip(places, mark, end)
    if step.add_dummy_prefix and step.whitespace_as_suffix:
        places.append(Place(mark, end, end))
    return places, end


def _strip(places: list[Place], mark: str, end: int) -> int:
    """Take the marks off the end, and return where the text of what is left ends."""
    while places and places[-1].new.endswith(mark):
        place = places.pop()
        new = place.new.rstrip(mark)
        end = place.start if place.whole else place.start + len(new)
        if new:
            places.append(place._replace(new=new, end=end))
    return end


class _Lookup:
    """Finds the symbol, key or character at each place of a text."""

    def __init__(self, charsmap: CharacterMap, protected: tuple[str, ...]) -> None:
        self._map = charsmap
        self._protected = frozenset(protected)
        self._lengths = sorted({len(symbol) for symbol in protected}, reverse=True)
        firsts = {symbol[0] for symbol in protected} | charsmap.first_characters | _INVALID
        self._special = any_of(frozenset(firsts | {" "}))

    def at(self, text: str, start: int) -> Place:
        """Return the place that starts there."""
        for length in self._lengths:
            if (symbol := text[start : start + length]) in self._protected:
                return Place(symbol, start, start + len(symbol))
        if (found := self._map.longest(text, start)) is not None:
            return Place(found[1], start, found[0])
        if text[start] in _INVALID:
            return Place("\ufffd", start, start + 1)
        return Place(text[start], start, start + 1, whole=False)

    def places(self, text: str, start: int) -> Iterator[Place]:
        """Return the places from there on; characters that nothing changes are one."""
        while (match := self._special.search(text, start)) is not None:
            if match.start() > start:
                yield Place(text[start : match.start()], start, match.start(), whole=False)
            place = self.at(text, match.start())
            yield place
            start = place.end
        if start < len(text):
            yield Place(text[start:], start, len(text), whole=False)


@lru_cache(maxsize=16)
def _lookup(charsmap: bytes, protected: tuple[str, ...]) -> _Lookup:
    return _Lookup(character_map(charsmap), protected)


def precompiled_edits(step: Precompiled, text: str) -> list[Edit]:
    """Return the edits that ``tokenizers`` makes with SentencePiece's map.

    A cluster of characters (what people take for one) of less than six bytes is replaced as a
    whole by the *first* key that it starts with; otherwise each of its characters is.
    """
    charsmap = character_map(step.charsmap)
    if charsmap.first_characters.isdisjoint(text):
        return []
    rewrite = _cluster_rules(step.charsmap)
    changes: list[_Change] = []
    for cluster in _ASCII_CLUSTER.findall(text) if text.isascii() else _CLUSTER.findall(text):
        new, dropped = rewrite(cluster)
        if dropped and changes:
            changes[-1] = (changes[-1][0], changes[-1][1] + dropped)
        changes += new
    return _one_by_one(changes, text)


@lru_cache(maxsize=16)
def _cluster_rules(charsmap: bytes) -> Callable[[str], tuple[list[_Change], int]]:
    """Return a function that rewrites a cluster.

    It returns the changes, and the characters that are dropped before the first (-1, -2 …).
    """
    rules = character_map(charsmap)

    @lru_cache(65_536)
    def rewrite(cluster: str) -> tuple[list[_Change], int]:
        parts = [cluster]
        small = len(cluster.encode("utf-8", "surrogatepass")) < 6
        if not small or next(rules.matches(cluster), None) is None:
            parts = list(cluster)
        changes: list[_Change] = []
        dropped = 0
        for part in parts:
            found = next(rules.matches(part), None)
            new = part if found is None else found[1]
            added = len(new) - len(part)
            changes += [(c, int(place >= len(part))) for place, c in enumerate(new)]
            if added < 0 and changes:
                changes[-1] = (changes[-1][0], changes[-1][1] + added)
            elif added < 0:
                dropped += added
        return changes, dropped

    return rewrite


_Change: TypeAlias = tuple[str, int]
"""A new character, and how many old ones it adds (1) or drops after it (-1, …)."""


def map_precompiled(step: Precompiled, text: str) -> str:
    """Return what becomes of a text; a single character takes no search for clusters."""
    if len(text) == 1:
        found = next(character_map(step.charsmap).matches(text), None)
        return text if found is None else found[1]
    return apply_edits(text, precompiled_edits(step, text))


_ASCII_CLUSTER = re.compile(r"\r\n|.", re.DOTALL)

# Not \X: that joins a virama and the consonant after it whatever comes before them.
_CLUSTER = lazy.pattern(
    r"(?V1x) \r\n | [\p{GCB=Control}\r\n] | \p{GCB=Prepend}*+ (?:"
    r" \p{GCB=L}*+ (?: \p{GCB=LV} \p{GCB=V}*+ | \p{GCB=LVT} | \p{GCB=V}++ ) \p{GCB=T}*+"
    r" | \p{GCB=L}++ | \p{GCB=T}++ | \p{GCB=RI}{2}"
    r" | \p{ExtPict} (?: \p{GCB=Extend}*+ \p{GCB=ZWJ} \p{ExtPict} )*+"
    r" | [^\p{GCB=Control}\r\n] )? [\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*+",
)


def _one_by_one(changes: list[_Change], text: str) -> list[Edit]:
    """Return changes as edits of one character each, paired up as ``tokenizers`` does.

    Characters that are dropped before any other have no place in its list of changes; the rest
    then has the origins of the characters before it. Its offsets say so, and so do these.
    """
    start = ""
    new = [""] * len(text)
    place = 0
    for character, added in changes:
        if added <= 0:
            new[place] += character
            place += 1 - added
        elif place:
            new[place - 1] += character
        else:
            start += character
    edits = [Edit(i, i + 1, part) for i, part in enumerate(new) if part != text[i]]
    return [Edit(0, 0, start), *edits] if start else edits
