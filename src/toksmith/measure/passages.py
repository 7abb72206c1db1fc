"""A random sample of passages of a corpus, the same for the same seed."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from mmap import mmap

from toksmith._base.lazy import np, npt

PASSAGE = 1 << 12
"""The approximate maximum size of a passage in bytes."""


class Sampler:
    """Takes documents as they come, and keeps about ``size`` bytes of them: passages, at random.

    A passage is a document, or a stretch of a longer one of about :data:`PASSAGE` bytes that ends
    at a line break or a space where there is one near, and between two characters in any case.
    Each passage draws a number; those with the smallest are kept, so every passage is as likely as
    any other.

    Args:
        size: the number of bytes to keep; a smaller text is kept whole.
        seed: of the numbers. They do not depend on the version of NumPy.

    Example:
        >>> sampler = Sampler(size=5, seed=1)
        >>> sampler.add(b"one|two|six", np.array([[0, 3], [4, 7], [8, 11]]))
        >>> sampler.passages
        [b'one', b'six']
    """

    def __init__(self, size: int, seed: int) -> None:
        self._size = size
        self._numbers = np.random.PCG64(seed)
        self._kept: list[tuple[int, int, bytes]] = []  # the largest number first
        self._taken = self._seen = 0

    def add(self, data: bytes | bytearray | mmap, bounds: npt.NDArray[np.int64]) -> None:
        """Sample documents.

        Args:
            data: the text.
            bounds: int64, shape ``(documents, 2)``: where each starts and ends.
        """
        parts = np.maximum(-(-(bounds[:, 1] - bounds[:, 0]) // PASSAGE), 1)
        numbers = self._numbers.random_raw(int(parts.sum()))
        ends = np.cumsum(parts)
        for place in self._wanted(numbers):
            document = int(np.searchsorted(ends, place, "right"))
            start, end = bounds[document].tolist()
            part = place - int(ends[document] - parts[document])
            first = _cut(data, start + part * PASSAGE, end) if part else start
            is_last = place + 1 == ends[document]
            last = end if is_last else _cut(data, start + (part + 1) * PASSAGE, end)
            if first < last:
                self._keep(int(numbers[place]), self._seen + place, bytes(data[first:last]))
        self._seen += len(numbers)

    @property
    def passages(self) -> list[bytes]:
        """The passages that were kept, in the order of the text."""
        return [passage for _, _, passage in sorted(self._kept, key=lambda kept: kept[1])]

    def _wanted(self, numbers: npt.NDArray[np.uint64]) -> Iterator[int]:
        """Yield the places of numbers that are small enough, when it is their turn."""
        place = 0
        while place < len(numbers):
            if self._taken < self._size:
                yield place
                place += 1
                continue
            small = np.flatnonzero(numbers[place:] < -self._kept[0][0])
            if not len(small):
                return
            place += int(small[0])
            yield place
            place += 1

    def _keep(self, number: int, order: int, passage: bytes) -> None:
        heapq.heappush(self._kept, (-number, order, passage))
        self._taken += len(passage)
        while self._taken - len(self._kept[0][2]) >= self._size:
            self._taken -= len(heapq.heappop(self._kept)[2])


def _cut(data: bytes | bytearray | mmap, place: int, end: int) -> int:
    """Return where the first line from a place on starts, if it is near.

    Else the place of the first space, which belongs to the word behind it, or a character's start.
    """
    near = min(place + PASSAGE // 2, end)
    line = data.find(b"\n", place, near)
    if line >= 0:
        return line + 1
    space = data.find(b" ", place, near)
    if space >= 0:
        return space
    while place < end and data[place] & 0xC0 == 0x80:
        place += 1
    return place
