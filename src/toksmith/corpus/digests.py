"""A set of digests in bounded memory: a hash table, and sorted runs on disk."""

from __future__ import annotations

import os
import sys
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from toksmith._base.lazy import np, npt
from toksmith.errors import OptionError

_SIZE = 16
_FEWEST_SLOTS = 1 << 12
_PAGE = 256
"""The least number of digests between two entries of a run's index: 4 KiB."""
_FEWEST_ENTRIES = 16
_MERGED = 8
"""The number of runs of a level that are merged to one of the next level."""
_LEAST_READ = 1 << 20
_AT_ONCE = 1 << 16


class DigestSet:
    """A set of digests of 128 bits, with exact answers in bounded memory.

    New digests go into an open-addressing table, at most half full. When the table reaches its
    largest size, its digests are sorted and written to a temporary file as a run, and the table is
    empty again. A search looks into the table, and then into the runs; a Bloom filter of constant
    size saves most searches in the runs. Runs are merged, eight at a time, so that a digest is
    written a few times and the number of runs grows with the logarithm of the number of digests.

    Args:
        memory: the memory limit in bytes; ``None`` for no limit. A few hundred KiB are the least.

    Attributes:
        spilled: the number of bytes written to temporary files.
    """

    def __init__(self, memory: int | None = None) -> None:
        self.spilled = 0
        self._memory = memory
        self._most: int | None = None
        if memory is not None:
            # While the table doubles or is sorted, it and its copies take up to 28 bytes a slot.
            self._most = max(_FEWEST_SLOTS, _power_of_two(memory // 40))
        self._table = np.zeros((_FEWEST_SLOTS, 2), np.uint64)
        self._size = 0
        self._levels: list[list[_Run]] = []
        self._filter: _Filter | None = None

    def add(self, digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Add digests, and return for each whether it is new.

        Args:
            digests: uint64, shape ``(n, 2)``. Of equal ones, the first is new.

        Raises:
            OptionError: the disk of temporary files is full or fails.
        """
        is_new = np.zeros(len(digests), bool)
        first = _first_places(digests)
        most = self._most
        step = len(first) if most is None else most // 4
        for start in range(0, len(first), max(step, 1)):
            places = first[start : start + step]
            if self._levels:
                places = places[~self._in_runs(digests[places])]
            if most is not None and 2 * (self._size + len(places)) > most:
                places = places[~self._in_table(digests[places])]
                if 2 * (self._size + len(places)) > most:
                    self._spill()
            while 2 * (self._size + len(places)) > len(self._table):
                self._grow()
            inserted = self._insert(digests[places])
            is_new[places] = inserted
            self._size += int(inserted.sum())
        return is_new

    def _grow(self) -> None:
        old = self._table
        self._table = np.zeros((2 * len(old), 2), np.uint64)
        self._insert(old[old.any(axis=1)])

    def _insert(self, digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Add distinct digests, vectorized; of several digests for one free slot, one gets it."""
        table, last = self._table, np.uint64(len(self._table) - 1)
        is_new = np.zeros(len(digests), bool)
        slots = digests[:, 1] & last  # not the first halves, which are all small in a sample
        waiting = np.arange(len(digests))
        while len(waiting):
            there = table[slots[waiting]]
            is_free = ~there.any(axis=1)
            is_same = (there == digests[waiting]).all(axis=1)
            wanting = waiting[is_free]
            table[slots[wanting]] = digests[wanting]
            has_won = (table[slots[wanting]] == digests[wanting]).all(axis=1)
            is_new[wanting[has_won]] = True
            waiting = np.concatenate([waiting[~is_free & ~is_same], wanting[~has_won]])
            slots[waiting] = (slots[waiting] + np.uint64(1)) & last
        return is_new

    def _in_table(self, digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        table, last = self._table, np.uint64(len(self._table) - 1)
        found = np.zeros(len(digests), bool)
        slots = digests[:, 1] & last
        waiting = np.arange(len(digests))
        while len(waiting):
            there = table[slots[waiting]]
            is_same = (there == digests[waiting]).all(axis=1)
            found[waiting[is_same]] = True
            waiting = waiting[~is_same & there.any(axis=1)]
            slots[waiting] = (slots[waiting] + np.uint64(1)) & last
        return found

    def _in_runs(self, digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        found = np.zeros(len(digests), bool)
        assert self._filter is not None  # as there are runs
        waiting = np.flatnonzero(self._filter.may_hold(digests))
        waiting = waiting[np.argsort(digests[waiting, 0])]
        for level in self._levels:
            for run in level:
                if len(waiting):
                    is_there = run.find(digests[waiting], self._read_size)
                    found[waiting[is_there]] = True
                    waiting = waiting[~is_there]
        return found

    @property
    def _read_size(self) -> int:
        """The number of bytes of runs to hold in memory at a time."""
        return max((self._memory or 0) // 16, _LEAST_READ)

    def _spill(self) -> None:
        assert self._memory is not None  # without a limit, nothing is spilled
        digests = self._table[self._table.any(axis=1)]
        self._table = np.zeros((_FEWEST_SLOTS, 2), np.uint64)
        self._size = 0
        if not len(digests):
            return
        if self._filter is None:
            self._filter = _Filter(max(_power_of_two(self._memory // 4), _FEWEST_SLOTS))
        self._filter.add(digests)
        entries = max(self._memory // 512, _FEWEST_ENTRIES)
        try:
            in_order = digests[np.lexsort((digests[:, 1], digests[:, 0]))]
            del digests
            self._keep(0, _write(iter([in_order]), len(in_order), entries))
            for number, level in enumerate(self._levels):
                if len(level) == _MERGED:
                    count = sum(run.count for run in level)
                    merged = _write(_merged(level, self._read_size), count, entries)
                    for run in level:
                        run.file.close()  # frees its room on disk
                    level.clear()
                    self._keep(number + 1, merged)
        except OSError as wrong:
            raise OptionError(
                f"digests of deduplicate= that do not fit into memory= cannot be written to "
                f"{tempfile.gettempdir()}: {wrong.strerror or wrong}; give more memory, or set "
                "TMPDIR to a folder on another disk"
            ) from wrong

    def _keep(self, level: int, run: _Run) -> None:
        if level == len(self._levels):
            self._levels.append([])
        self._levels[level].append(run)
        self.spilled += run.count * _SIZE


@dataclass(frozen=True, eq=False)
class _Run:
    """Sorted distinct digests in a temporary file.

    Attributes:
        file: the file.
        count: the number of digests.
        stride: the number of digests between two entries of the index.
        index: the first half of every digest whose number is a multiple of ``stride``.
    """

    file: IO[bytes]
    count: int
    stride: int
    index: npt.NDArray[np.uint64]

    def find(self, digests: npt.NDArray[np.uint64], size: int) -> npt.NDArray[np.bool_]:
        """Return which digests, in the order of their first halves, are in the run.

        Args:
            digests: the digests.
            size: the number of bytes to read at a time.
        """
        found = np.zeros(len(digests), bool)
        keys = digests[:, 0]
        # Equal first halves may start on the page before the one that the index names.
        low = np.maximum(np.searchsorted(self.index, keys, "left") - 1, 0)
        high = np.maximum(np.searchsorted(self.index, keys, "right") - 1, low)
        at_once = max(size // (_SIZE * self.stride), 1)
        start = 0
        while start < len(keys):
            end = start + at_once
            pages = np.unique(np.concatenate([low[start:end], high[start:end]]))
            for place in np.flatnonzero(high[start:end] - low[start:end] > 1).tolist():
                place += start
                pages = np.union1d(pages, np.arange(low[place], high[place] + 1))
            held = self._read(pages)
            found[start:end] = _contains(held, digests[start:end])
            start = end
        return found

    def _read(self, pages: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
        """Return the digests of pages, given in order."""
        breaks = np.flatnonzero(np.diff(pages) > 1) + 1
        starts = pages[np.concatenate([[0], breaks])].tolist()
        ends = (pages[np.concatenate([breaks - 1, [len(pages) - 1]])] + 1).tolist()
        stride, number = self.stride, self.file.fileno()
        parts = [
            _read_at(number, start * stride, min(end * stride, self.count))
            for start, end in zip(starts, ends, strict=True)
        ]
        return np.frombuffer(b"".join(parts), np.uint64).reshape(-1, 2)

    def blocks(self, size: int) -> list[tuple[int, int]]:
        """Return ranges of digests of ``size`` bytes that cover the run."""
        step = max(size // _SIZE, 1)
        return [(start, min(start + step, self.count)) for start in range(0, self.count, step)]


class _Filter:
    """A Bloom filter with three bits a digest."""

    def __init__(self, size: int) -> None:
        self._bits = np.zeros(size, np.uint8)

    def add(self, digests: npt.NDArray[np.uint64]) -> None:
        for start in range(0, len(digests), _AT_ONCE):
            for bits in self._places(digests[start : start + _AT_ONCE]):
                mask = np.left_shift(np.uint8(1), (bits & np.uint64(7)).astype(np.uint8))
                np.bitwise_or.at(self._bits, (bits >> np.uint64(3)).astype(np.int64), mask)

    def may_hold(self, digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        found = np.ones(len(digests), bool)
        for bits in self._places(digests):
            byte = self._bits[(bits >> np.uint64(3)).astype(np.int64)]
            found &= byte >> (bits & np.uint64(7)).astype(np.uint8) & 1 > 0
        return found

    def _places(self, digests: npt.NDArray[np.uint64]) -> list[npt.NDArray[np.uint64]]:
        last = np.uint64(8 * len(self._bits) - 1)
        # The highest bits of the first halves are equal in a small sample.
        first, second = digests[:, 1], digests[:, 0] ^ (digests[:, 1] >> np.uint64(32))
        return [first & last, (first >> np.uint64(17)) + second & last, second & last]


def _first_places(digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return the places of the first of equal digests, in order."""
    order = np.lexsort((digests[:, 1], digests[:, 0]))  # stable
    in_order = digests[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (in_order[1:] != in_order[:-1]).any(axis=1)
    return np.sort(order[is_first])


def _contains(
    held: npt.NDArray[np.uint64], digests: npt.NDArray[np.uint64]
) -> npt.NDArray[np.bool_]:
    """Return which digests are among sorted ones."""
    found = np.zeros(len(digests), bool)
    places = np.searchsorted(held[:, 0], digests[:, 0])
    waiting = np.arange(len(digests))
    while len(waiting):  # as often as first halves repeat
        waiting = waiting[places[waiting] < len(held)]
        there = held[places[waiting]]
        found[waiting] = (there == digests[waiting]).all(axis=1)
        waiting = waiting[(there[:, 0] == digests[waiting, 0]) & ~found[waiting]]
        places[waiting] += 1
    return found


def _write(parts: Iterator[npt.NDArray[np.uint64]], count: int, entries: int) -> _Run:
    """Write sorted digests to a temporary file.

    Args:
        parts: the digests.
        count: the number of digests.
        entries: the greatest number of entries of the index, if pages of ``_PAGE`` are more.
    """
    stride = max(_PAGE, -(-count // entries))
    index = []
    done = 0
    file = tempfile.TemporaryFile(prefix="toksmith-", buffering=0)  # noqa: SIM115
    try:
        for part in parts:
            index.append(part[-done % stride :: stride, 0].copy())
            data = part.tobytes()
            written = 0
            while written < len(data):
                written += file.write(memoryview(data)[written:])
            done += len(part)
    except BaseException:
        file.close()
        raise
    run = _Run(file, count, stride, np.concatenate(index))
    weakref.finalize(run, file.close)  # the file has no name, so this deletes it
    return run


def _merged(runs: list[_Run], size: int) -> Iterator[npt.NDArray[np.uint64]]:
    """Yield the digests of distinct runs in order, a part at a time.

    Args:
        runs: the runs.
        size: the number of bytes of all runs to hold in memory at a time.
    """
    waiting = [iter(run.blocks(max(size // len(runs) // 4, _SIZE * _PAGE))) for run in runs]
    held = [np.zeros((0, 2), np.uint64) for _ in runs]
    while True:
        for place, run in enumerate(runs):
            if not len(held[place]) and (span := next(waiting[place], None)):
                data = _read_at(run.file.fileno(), *span)
                held[place] = np.frombuffer(data, np.uint64).reshape(-1, 2)
        last = [tuple(part[-1].tolist()) for part in held if len(part)]
        if not last:
            return
        bound = min(last)
        taken = []
        for place, part in enumerate(held):
            end = _count_up_to(part, bound)
            taken.append(part[:end])
            held[place] = part[end:]
        together = np.concatenate(taken)
        yield together[np.lexsort((together[:, 1], together[:, 0]))]


def _count_up_to(part: npt.NDArray[np.uint64], bound: tuple[int, ...]) -> int:
    """Return how many of sorted digests are not above another."""
    end = int(np.searchsorted(part[:, 0], np.uint64(bound[0]), "right"))
    while end and part[end - 1, 0] == bound[0] and part[end - 1, 1] > bound[1]:
        end -= 1
    return end


def _read_at(number: int, start: int, end: int) -> bytes:
    """Read digests, given as a range of their numbers."""
    wanted = (end - start) * _SIZE
    data = _pread(number, wanted, start * _SIZE)
    while len(data) < wanted:
        more = _pread(number, wanted - len(data), start * _SIZE + len(data))
        if not more:
            raise OSError("a temporary file of digests is cut short")
        data += more
    return data


def _pread(number: int, size: int, start: int) -> bytes:
    if sys.platform != "win32":
        return os.pread(number, size, start)
    os.lseek(number, start, os.SEEK_SET)  # the file is complete when it is read
    return os.read(number, size)


def _power_of_two(number: int) -> int:
    """Return the greatest power of two that is not above a number; 1 for 0."""
    return 1 << max(number.bit_length() - 1, 0)
