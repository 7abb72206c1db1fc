"""The substrings that tokenizers' Unigram training starts with, and where they occur.

A substring is a seed if it occurs twice in the distinct words, however often each word is counted,
and if what follows it differs: the end of a word is one continuation, the same for all words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from toksmith._base.lazy import np, npt


class Text(NamedTuple):
    """Distinct words, one after the other.

    Attributes:
        symbols: the number of each character, from 1 on in the order of code points, and a 0 after
            each word.
        characters: the characters.
        starts: the place of each word in ``symbols``.
        ends: the place of the 0 after it.
        counts: how often it was counted.
    """

    symbols: npt.NDArray[np.int64]
    characters: str
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    counts: npt.NDArray[np.float64]

    @classmethod
    def of(cls, words: dict[str, int]) -> Text:
        """Return the text of words and their counts."""
        lengths = np.array([*map(len, words)], np.int64)
        joined = np.array([*map(ord, "\0".join([*words, ""]))], np.int64)
        ends = np.cumsum(lengths + 1) - 1
        joined[ends] = -1  # a word may have the character U+0000
        points, symbols = np.unique(joined, return_inverse=True)
        characters = "".join(map(chr, points[1:].tolist()))
        counts = np.array([*words.values()], np.float64)
        return cls(symbols.reshape(-1), characters, ends - lengths, ends, counts)

    def spelled(self, place: int, length: int) -> str:
        """Return the characters at a place."""
        numbers = self.symbols[place : place + length].tolist()
        return "".join(self.characters[number - 1] for number in numbers)


class Pieces(NamedTuple):
    """Pieces, numbered from 1 on.

    Attributes:
        places: where each first occurs.
        lengths: its number of characters.
        scores: the logarithm of its probability.
    """

    places: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]

    def chosen(self, order: Any) -> Pieces:
        """Return some of the pieces, in a new order."""
        return Pieces(*(column[order] for column in self))


class Arcs(NamedTuple):
    """The pieces at each place of the text, ordered by place and length.

    Attributes:
        starts: the place.
        ends: the place after it.
        pieces: the number of the piece; 0 for a character that is none.
    """

    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    pieces: npt.NDArray[np.int64]

    def chosen(self, order: Any) -> Arcs:
        """Return some of the arcs, in a new order."""
        return Arcs(*(column[order] for column in self))


class _Level(NamedTuple):
    """The substrings of one length, and all places of those that occur twice."""

    length: int
    places: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    followers: npt.NDArray[np.int64]


def find_seeds(text: Text, longest: int, size: int) -> tuple[Pieces, Arcs]:
    """Return the seeds, with scores by the part of the text that each covers, and their arcs.

    Args:
        text: the words.
        longest: the most characters of a piece.
        size: the number of seeds, characters included.
    """
    levels = _levels(text, longest)
    characters, substrings = levels[0], levels[1:]
    weights = np.repeat(text.counts, text.ends - text.starts)
    covered = np.bincount(characters.ids, weights, len(text.characters))
    first = _first_places(characters)
    found = [(int(covered[i]), text.characters[i], 0, i) for i in range(len(text.characters))]
    found.sort(reverse=True)
    candidates = []
    for number, level in enumerate(substrings, 1):
        places = _first_places(level).tolist()
        for i in np.flatnonzero(level.followers > 1).tolist():
            spelled = text.spelled(places[i], level.length)
            candidates.append((int(level.counts[i]) * level.length, spelled, number, i))
    candidates.sort(reverse=True)
    found += candidates[: max(size - len(found), 1)]
    numbers = [np.zeros(len(level.counts), np.int64) for level in levels]
    for number, (_, _, level_number, i) in enumerate(found, 1):
        numbers[level_number][i] = number
    firsts = [first, *map(_first_places, substrings)]
    covers = np.array([each[0] for each in found], np.float64)
    pieces = Pieces(
        np.array([firsts[level][i] for _, _, level, i in found], np.int64),
        np.array([levels[level].length for _, _, level, _ in found], np.int64),
        np.log(covers) - np.log(max(covers.sum(), 1.0)),
    )
    return pieces, _arcs(levels, numbers)


def _levels(text: Text, longest: int) -> list[_Level]:
    """Return the substrings of each length; the ids of one length are in the order of spellings."""
    symbols, width = text.symbols, len(text.characters) + 1
    places = np.flatnonzero(symbols)
    ids = symbols[places] - 1
    levels = []
    for length in range(1, max(longest, 1) + 1):
        keys, each, counts = np.unique(
            ids * width + symbols[places + length], return_inverse=True, return_counts=True
        )
        each = each.reshape(-1)
        size = int(ids.max(initial=-1)) + 1
        levels.append(
            _Level(
                length,
                places,
                ids,
                np.bincount(ids, minlength=size),
                np.bincount(keys // width, minlength=size),
            )
        )
        kept = (keys % width > 0) & (counts > 1)
        numbers = np.cumsum(kept) - 1
        here = kept[each]
        places, ids = places[here], numbers[each[here]]
        if not len(places):
            break
    return levels


def _first_places(level: _Level) -> npt.NDArray[np.int64]:
    """Return a place of each substring."""
    found = np.zeros(len(level.counts), np.int64)
    found[level.ids[::-1]] = level.places[::-1]
    return found


def _arcs(levels: Sequence[_Level], numbers: Sequence[npt.NDArray[np.int64]]) -> Arcs:
    starts, ends, pieces = [], [], []
    for level, of_level in zip(levels, numbers, strict=True):
        found = of_level[level.ids]
        here = found > 0
        starts.append(level.places[here])
        ends.append(level.places[here] + level.length)
        pieces.append(found[here])
    arcs = Arcs(np.concatenate(starts), np.concatenate(ends), np.concatenate(pieces))
    return arcs.chosen(np.argsort(arcs.starts, kind="stable"))
