"""Packing: assigns documents, or pieces of them, to sequences of at most a fixed length.

A method takes the lengths of documents, all of 1 token or more, and yields :class:`Pieces`. None
reads ids. ``concat`` and ``truncate`` hold a block of documents at a time; ``best_fit`` holds a few
numbers for each piece.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np, npt

Method: TypeAlias = Literal["best-fit", "concat", "truncate"]

BLOCK = 1 << 18
"""The number of documents or pieces that are worked on at once."""

_Numbers: TypeAlias = "npt.NDArray[np.signedinteger[Any]]"


class Pieces(NamedTuple):
    """Consecutive pieces of documents, sequence after sequence.

    Attributes:
        documents: int64, shape ``(pieces,)``: the document of each piece.
        starts: int64, shape ``(pieces,)``: its first token in the document.
        lengths: int64, shape ``(pieces,)``: its tokens.
        ends: bool, shape ``(pieces,)``: whether it is the last of its sequence. So is the last
            piece of all.
    """

    documents: OffsetArray
    starts: OffsetArray
    lengths: OffsetArray
    ends: npt.NDArray[np.bool_]


def truncate(lengths: OffsetArray, length: int) -> Iterator[Pieces]:
    """Yield one sequence for each document: its first ``length`` tokens.

    Example:
        >>> [pieces.lengths.tolist() for pieces in truncate(np.array([3, 9]), 4)]
        [[3, 4]]
    """
    for first in range(0, len(lengths), BLOCK):
        sizes = lengths[first : first + BLOCK]
        count = len(sizes)
        numbers = np.arange(first, first + count)
        starts = np.zeros(count, np.int64)
        yield Pieces(numbers, starts, np.minimum(sizes, length), np.ones(count, np.bool_))


def concat(lengths: OffsetArray, length: int) -> Iterator[Pieces]:
    """Yield all documents end to end, cut every ``length`` tokens.

    Example:
        >>> for pieces in concat(np.array([3, 9]), 5):
        ...     pieces.documents.tolist(), pieces.lengths.tolist(), pieces.ends.tolist()
        ([0, 1, 1, 1], [3, 2, 5, 2], [False, True, True, False])
    """
    before = 0
    for first in range(0, len(lengths), BLOCK):
        ends = before + np.cumsum(lengths[first : first + BLOCK])
        begins = ends - lengths[first : first + BLOCK]
        sequences = begins // length  # the sequence in which each document begins
        counts = (ends - 1) // length - sequences + 1
        places = np.repeat(np.arange(len(ends)), counts)
        cuts = (sequences[places] + _count_up(counts)) * length
        froms = np.maximum(cuts, begins[places])
        stops = np.minimum(cuts + length, ends[places])
        starts = froms - begins[places]
        yield Pieces(first + places, starts, stops - froms, stops % length == 0)
        before = int(ends[-1])


def best_fit(lengths: OffsetArray, length: int) -> Iterator[Pieces]:
    """Yield pieces of at most ``length`` tokens, packed by best-fit decreasing.

    Documents longer than a sequence are cut every ``length`` tokens. Pieces are placed from the
    longest to the shortest, each in the fullest sequence that has room for it. A document that
    fits into a sequence is never cut.

    Sequences are in the order of the documents whose pieces opened them (their longest pieces), and
    pieces inside a sequence in the order of documents.

    Source: Ding et al. 2024, "Fewer Truncations Improve Language Modeling",
    https://arxiv.org/abs/2404.10830.

    Example:
        >>> for pieces in best_fit(np.array([3, 9, 2, 4]), 5):
        ...     pieces.documents.tolist(), pieces.lengths.tolist(), pieces.ends.tolist()
        ([0, 2, 1, 1, 3], [3, 2, 5, 4, 4], [False, True, True, True, True])
    """
    counts = -(-lengths // length)
    total = int(counts.sum())
    kind = np.int32 if max(total, length) < 1 << 31 else np.int64
    documents = np.repeat(np.arange(len(lengths), dtype=kind), counts)
    firsts = (np.cumsum(counts) - counts).astype(kind)  # the first piece of each document
    del counts

    def sizes_of(pieces: _Numbers) -> tuple[OffsetArray, OffsetArray, OffsetArray]:
        numbers = documents[pieces].astype(np.int64)
        starts = (pieces - firsts[numbers]).astype(np.int64) * length
        return numbers, starts, np.minimum(lengths[numbers] - starts, length)

    parts = np.empty(total, kind)
    for start in range(0, total, BLOCK):
        stop = min(start + BLOCK, total)
        parts[start:stop] = sizes_of(np.arange(start, stop, dtype=kind))[2]
    sequences = _best_fit_sequences(parts, length)
    del parts
    order = _stable_order(sequences)
    for start in range(0, total, BLOCK):
        block = order[start : start + BLOCK]
        following = sequences[order[start + 1 : start + BLOCK + 1]]
        ends = np.ones(len(block), np.bool_)
        ends[: len(following)] = following != sequences[block[: len(following)]]
        yield Pieces(*sizes_of(block), ends)


METHODS: dict[str, Callable[[OffsetArray, int], Iterator[Pieces]]] = {
    "best-fit": best_fit,
    "concat": concat,
    "truncate": truncate,
}


def _best_fit_sequences(lengths: _Numbers, length: int) -> _Numbers:
    """Return the sequence of each piece.

    All pieces of one length are placed together. Sequences with the same room form groups; the
    tightest group takes as many pieces into each of its sequences as they hold, and moves to the
    group of the room that is left. Each move at least halves the room, so the number of moves grows
    with ``length``, not with the number of pieces.
    """
    order = _stable_order(length - lengths)
    placed = np.empty_like(order)  # the sequence of piece order[i]
    openers: list[_Numbers] = [order[:0]]  # the first piece of each sequence
    groups = _Groups()
    opened = done = 0
    for stop in [*(np.flatnonzero(np.diff(lengths[order])) + 1).tolist(), len(order)]:
        if done == len(order):
            break
        size = int(lengths[order[done]])
        while done < stop:
            room, group = groups.pop(size)
            if group is None:
                room, fits = length, length // size
                group = np.arange(opened, opened - (done - stop) // fits, dtype=order.dtype)
                opened += len(group)
                openers.append(order[done:stop:fits])
            each = min(room // size, stop - done)  # pieces for one sequence
            full = min(len(group), (stop - done) // each)
            placed[done : done + full * each] = np.repeat(group[:full], each)
            groups.add(room - each * size, group[:full])
            groups.add(room, group[full:], first=True)
            done += full * each
    rank = np.empty(opened, order.dtype)
    rank[np.argsort(np.concatenate(openers))] = np.arange(opened, dtype=order.dtype)
    found = np.empty_like(order)
    found[order] = rank[placed]
    return found


class _Groups:
    """Groups of sequences by their room."""

    def __init__(self) -> None:
        self._rooms: list[int] = []  # sorted
        self._groups: dict[int, deque[_Numbers]] = {}

    def add(self, room: int, group: _Numbers, *, first: bool = False) -> None:
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

    def pop(self, size: int) -> tuple[int, _Numbers | None]:
        """Take out a group with the least room for ``size`` tokens; ``None`` if there is none."""
        place = bisect_left(self._rooms, size)
        if place == len(self._rooms):
            return 0, None
        room = self._rooms[place]
        group = self._groups[room].popleft()
        if not self._groups[room]:
            del self._groups[room], self._rooms[place]
        return room, group


def _stable_order(keys: _Numbers) -> _Numbers:
    """Return ``argsort(keys, kind="stable")`` of keys of 0 or more, faster, in the type of keys."""
    count = max(len(keys), 1)
    combined = keys.astype(np.int64)
    combined *= count
    combined += np.arange(len(keys), dtype=keys.dtype)
    combined.sort()
    combined %= count
    return combined.astype(keys.dtype, copy=False)


def _count_up(counts: OffsetArray) -> OffsetArray:
    """Return ``0 … count - 1`` for each count.

    Example:
        >>> _count_up(np.array([2, 3])).tolist()
        [0, 1, 0, 1, 2]
    """
    ends = np.cumsum(counts)
    firsts: OffsetArray = np.repeat(ends - counts, counts)
    return np.arange(len(firsts)) - firsts
