"""Packing: assigns documents, or pieces of them, to sequences of at most a fixed length.

A method takes the lengths of documents, all of 1 token or more, and returns :class:`Pieces`.
Methods work on blocks of documents where they can; none reads ids.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np

Method: TypeAlias = Literal["best-fit", "concat", "truncate"]

_BLOCK = 1 << 20


class Pieces(NamedTuple):
    """Pieces of documents in sequences.

    Attributes:
        documents: int64, shape ``(pieces,)``: the document of each piece.
        starts: int64, shape ``(pieces,)``: its first token in the document.
        lengths: int64, shape ``(pieces,)``: its tokens.
        bounds: int64, shape ``(sequences + 1,)``: sequence ``i`` has the pieces from ``bounds[i]``
            to ``bounds[i + 1]``.
    """

    documents: OffsetArray
    starts: OffsetArray
    lengths: OffsetArray
    bounds: OffsetArray


def truncate(lengths: OffsetArray, length: int) -> Pieces:
    """Return one sequence for each document: its first ``length`` tokens.

    Example:
        >>> truncate(np.array([3, 9]), 4).lengths.tolist()
        [3, 4]
    """
    count = len(lengths)
    return Pieces(
        np.arange(count),
        np.zeros(count, np.int64),
        np.minimum(lengths, length),
        np.arange(count + 1),
    )


def concat(lengths: OffsetArray, length: int) -> Pieces:
    """Return all documents end to end, cut every ``length`` tokens.

    Example:
        >>> pieces = concat(np.array([3, 9]), 5)
        >>> pieces.documents.tolist(), pieces.lengths.tolist(), pieces.bounds.tolist()
        ([0, 1, 1, 1], [3, 2, 5, 2], [0, 2, 3, 4])
    """
    ends = np.cumsum(lengths)
    begins = ends - lengths
    first = begins // length  # the sequence in which each document begins
    counts = (ends - 1) // length - first + 1
    documents = np.repeat(np.arange(len(lengths)), counts)
    sequences = _count_up(counts) + np.repeat(first, counts)
    starts = np.maximum(sequences * length, begins[documents]) - begins[documents]
    stops = np.minimum((sequences + 1) * length, ends[documents]) - begins[documents]
    return Pieces(documents, starts, stops - starts, _bounds(sequences))


def best_fit(lengths: OffsetArray, length: int) -> Pieces:
    """Return pieces of at most ``length`` tokens, packed by best-fit decreasing.

    Documents longer than a sequence are cut every ``length`` tokens. Pieces are placed from the
    longest to the shortest, each in the fullest sequence that has room for it. A document that
    fits into a sequence is never cut.

    Sequences are in the order of the documents whose pieces opened them (their longest pieces), and
    pieces inside a sequence in the order of documents.

    Source: Ding et al. 2024, "Fewer Truncations Improve Language Modeling",
    https://arxiv.org/abs/2404.10830.

    Example:
        >>> pieces = best_fit(np.array([3, 9, 2, 4]), 5)
        >>> pieces.documents.tolist(), pieces.lengths.tolist(), pieces.bounds.tolist()
        ([0, 2, 1, 1, 3], [3, 2, 5, 4, 4], [0, 2, 3, 4, 5])
    """
    counts = -(-lengths // length)
    documents = np.repeat(np.arange(len(lengths)), counts)
    starts = _count_up(counts) * length
    parts = np.minimum(lengths[documents] - starts, length)
    sequences = _best_fit_sequences(parts, length)
    order = _stable_order(sequences)
    return Pieces(documents[order], starts[order], parts[order], _bounds(sequences[order]))


METHODS: dict[str, Callable[[OffsetArray, int], Pieces]] = {
    "best-fit": best_fit,
    "concat": concat,
    "truncate": truncate,
}


def _best_fit_sequences(lengths: OffsetArray, length: int) -> OffsetArray:
    """Return the sequence of each piece.

    All pieces of one length are placed together. Sequences with the same room form groups; the
    tightest group takes as many pieces into each of its sequences as they hold, and moves to the
    group of the room that is left. Each move at least halves the room, so the number of moves grows
    with ``length``, not with the number of pieces.
    """
    order = _stable_order(length - lengths)
    placed = np.empty(len(lengths), np.int64)  # the sequence of piece order[i]
    openers: list[OffsetArray] = []  # the first piece of each sequence
    groups = _Groups()
    opened = done = 0
    sizes, counts = np.unique(lengths, return_counts=True)
    for size, count in zip(sizes[::-1].tolist(), counts[::-1].tolist(), strict=True):
        while count:
            room, group = groups.pop(size)
            if group is None:
                room = length
                group = np.arange(opened, opened - (-count // (length // size)))
                opened += len(group)
                openers.append(order[done : done + count : length // size])
            each = min(room // size, count)  # pieces for one sequence
            full = min(len(group), count // each)
            stop = done + full * each
            placed[done:stop] = np.repeat(group[:full], each)
            groups.add(room - each * size, group[:full])
            groups.add(room, group[full:], first=True)
            done, count = stop, count - full * each
    rank = np.empty(opened, np.int64)
    rank[np.argsort(np.concatenate([np.zeros(0, np.int64), *openers]))] = np.arange(opened)
    found = np.empty(len(lengths), np.int64)
    found[order] = rank[placed]
    return found


class _Groups:
    """Groups of sequences by their room."""

    def __init__(self) -> None:
        self._rooms: list[int] = []  # sorted
        self._groups: dict[int, deque[OffsetArray]] = {}

    def add(self, room: int, group: OffsetArray, *, first: bool = False) -> None:
        """Add a group; ``first``: before the others of this room."""
        if not room or not len(group):
            return
        if room not in self._groups:
            insort(self._rooms, room)
            self._groups[room] = deque()
        if first:
            self._groups[room].appendleft(group)
        else:
            self._groups[room].append(group)

    def pop(self, size: int) -> tuple[int, OffsetArray | None]:
        """Take out a group with the least room for ``size`` tokens; ``None`` if there is none."""
        place = bisect_left(self._rooms, size)
        if place == len(self._rooms):
            return 0, None
        room = self._rooms[place]
        group = self._groups[room].popleft()
        if not self._groups[room]:
            del self._groups[room], self._rooms[place]
        return room, group


def _stable_order(keys: OffsetArray) -> OffsetArray:
    """Return ``argsort(keys, kind="stable")`` of keys of 0 or more, faster."""
    count = max(len(keys), 1)
    combined = keys * count + np.arange(len(keys))
    combined.sort()
    combined %= count
    return combined


def _count_up(counts: OffsetArray) -> OffsetArray:
    """Return ``0 … count - 1`` for each count.

    Example:
        >>> _count_up(np.array([2, 3])).tolist()
        [0, 1, 0, 1, 2]
    """
    ends = np.cumsum(counts)
    numbers: OffsetArray = np.arange(ends[-1] if len(ends) else 0) - np.repeat(
        ends - counts, counts
    )
    return numbers


def _bounds(sequences: OffsetArray) -> OffsetArray:
    """Return where each sequence begins in a sorted array of sequence numbers, and the end."""
    if not len(sequences):
        return np.zeros(1, np.int64)
    return np.concatenate(
        [[0], np.flatnonzero(sequences[1:] != sequences[:-1]) + 1, [len(sequences)]]
    )
