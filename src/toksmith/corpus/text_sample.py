"""Samples of texts, from which figures of a whole text are estimated."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import NamedTuple

from toksmith._base.arrays import Bounds
from toksmith._base.lazy import np
from toksmith._base.text import Text

_FILE, _LEAST_OF_FILE = 1 << 20, 1 << 8
"""The largest and smallest sample of a file in bytes."""
_ALL, _LEAST, _PART = 1 << 22, 1 << 18, 128
"""The sample of a corpus in bytes: its size divided by ``_PART``, within these limits. Encoding it
takes a small part of the time that training takes."""
_STRETCH, _STRETCHES = 1 << 10, 32
"""The length of a stretch in bytes, and the least number of stretches."""
_EDGE = 1 << 8
"""The number of bytes in which the cut end of a stretch is moved to white space."""

_SPACE = re.compile(rb"[ \n]")
_CONTINUES = re.compile(rb"[\x80-\xbf]*")
_LAST = re.compile(rb"[\xc0-\xff][\x80-\xbf]*\Z")


def sample_size(files: int, size: int | None) -> int:
    """Return the size in bytes of the sample of each file.

    Args:
        files: the number of files.
        size: the size of all files in bytes; ``None`` if unknown.

    Example:
        >>> sample_size(4, 10**9), sample_size(1000, 10**9)
        (1048576, 4194)
    """
    whole = min(_ALL, max(_LEAST, (size or 0) // _PART))
    return min(_FILE, max(_LEAST_OF_FILE, whole // max(files, 1)))


@dataclass
class _Stretch:
    """A stretch of the documents, as if they were one text.

    Attributes:
        text: its bytes.
        sizes: the size of each document, or part of one, in it.
        is_start_cut: whether it starts inside a document.
        is_end_cut: whether it ends inside a document.
    """

    text: bytearray = field(default_factory=bytearray)
    sizes: array[int] = field(default_factory=lambda: array("I"))
    is_start_cut: bool = False
    is_end_cut: bool = False

    def add(self, part: bytes, is_start_cut: bool, is_end_cut: bool) -> None:
        """Add a part of a document.

        Args:
            part: the part.
            is_start_cut: whether the document starts before it.
            is_end_cut: whether the document goes on after it.
        """
        self.is_start_cut |= is_start_cut and not self.sizes
        self.is_end_cut = is_end_cut
        self.text += part
        self.sizes.append(len(part))

    def take(self, text: Text, bounds: Bounds, ends: Bounds, start: int, end: int) -> None:
        """Add the documents between two offsets.

        Args:
            text: holds the documents.
            bounds: the bounds of each document in ``text``.
            ends: the end of each document as an offset.
            start: the first offset.
            end: the offset after the last one.
        """
        first = int(np.searchsorted(ends, start, "right"))
        last = int(np.searchsorted(ends, end, "left")) + 1
        found = bounds[first:last].copy()
        head = int(found[0, 1] - (ends[first] - start))
        tail = int(found[-1, 1] - max(0, ends[last - 1] - end))
        if head > found[0, 0]:
            found[0, 0] = head
            self.is_start_cut |= not self.sizes
        self.is_end_cut = tail < found[-1, 1]
        found[-1, 1] = tail
        with memoryview(text) as view:  # type: ignore[arg-type]  # no block is a str
            for left, right in found.tolist():
                if left < right:
                    self.text += view[left:right]
                    self.sizes.append(right - left)

    def documents(self) -> list[bytes]:
        """Return its documents and parts of documents."""
        ends = accumulate(self.sizes, initial=0)
        return [bytes(self.text[start:end]) for start, end in pairwise(ends)]

    def trimmed(self) -> list[bytes]:
        """Return its documents, without incomplete words or characters at cut ends."""
        found = self.documents()
        if self.is_start_cut:
            found[0] = _trim_start(found[0])
        if self.is_end_cut:
            found[-1] = _trim_end(found[-1])
        return found


class KnownSample(NamedTuple):
    """A sample that was taken in an earlier run."""

    texts: Sequence[bytes]

    def documents(self) -> Sequence[bytes]:
        """Return the documents, and parts of documents, of the sample."""
        return self.texts


class TextSample:
    """A sample of a text: stretches of equal length at equal distances.

    It depends on the documents alone. Of a text that is no longer than the sample, it holds all.

    Args:
        size: the maximum size of the sample in bytes.
        expected: a size that the text is unlikely to exceed, in bytes. If it is much smaller, so is
            the sample.

    Example:
        >>> sample = TextSample(1 << 10)
        >>> sample.add(b"low lower", np.array([(0, 3), (4, 9)]))
        >>> sample.documents()
        [b'low', b'lower']
    """

    def __init__(self, size: int, expected: int = 0) -> None:
        self._length = max(_LEAST_OF_FILE, min(_STRETCH, size // _STRETCHES))
        self._most = max(2, size // self._length // 2 * 2)
        self._every = 1  # of this number of stretches of the text, one is in the sample
        while self._every * self._most * self._length * 2 < expected:
            self._every *= 2
        self._stretches = [_Stretch()]
        self._start = 0  # of the last stretch
        self._done = 0  # bytes of text so far

    def add(self, text: Text, bounds: Bounds) -> None:
        """Add the next slices of a text as documents, or as parts that are encoded separately."""
        sizes = bounds[:, 1] - bounds[:, 0]
        before, self._done = self._done, self._done + int(sizes.sum())
        if self._done <= self._start:
            return
        ends = np.cumsum(sizes) + before
        offset = int(bounds[0, 0]) - before if len(bounds) == 1 else None
        while True:
            start, end = max(self._start, before), min(self._start + self._length, self._done)
            if start < end and offset is not None:
                part = text[offset + start : offset + end]
                self._stretches[-1].add(part, start > before, end < self._done)  # type: ignore[arg-type]  # no block is a str
            elif start < end:
                self._stretches[-1].take(text, bounds, ends, start, end)
            if self._start + self._length >= self._done:
                return
            self._next()

    def _next(self) -> None:
        """Go to the next stretch; if the sample is full, keep every second one."""
        if len(self._stretches) == self._most:
            del self._stretches[1::2]
            self._every *= 2
        self._start = len(self._stretches) * self._every * self._length
        self._stretches.append(_Stretch())

    def documents(self) -> list[bytes]:
        """Return the documents, and parts of documents, of the sample."""
        if self._every > 1:
            return [text for stretch in self._stretches for text in stretch.trimmed() if text]
        whole = _Stretch()
        is_open = False  # whether the last document continues in the next stretch
        for stretch in self._stretches:
            whole.text += stretch.text
            sizes = stretch.sizes[:]
            if is_open and sizes:
                whole.sizes[-1] += sizes.pop(0)
            whole.sizes += sizes
            is_open = stretch.is_end_cut
        return whole.documents()


def _trim_start(text: bytes) -> bytes:
    space = _SPACE.search(text, 0, _EDGE)
    if space:
        return text[space.start() :]
    return text[_CONTINUES.match(text).end() :]  # type: ignore[union-attr]  # matches any text


def _trim_end(text: bytes) -> bytes:
    near = max(1, len(text) - _EDGE)
    space = max(text.rfind(mark, near) for mark in (b" ", b"\n"))
    if space > 0:
        return text[:space]
    last = _LAST.search(text)
    return text[: last.start()] if last else text
