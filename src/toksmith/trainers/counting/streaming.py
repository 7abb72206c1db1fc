"""Counts that are passed on batch by batch, so that they need not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, TypeAlias

from toksmith._base.lazy import np
from toksmith.engine import counting
from toksmith.engine.counting import CountedChunks, Take, UInts
from toksmith.splitters import PatternSplitter

PassOn: TypeAlias = "Callable[[Take], None]"
"""Calls a function with all counted chunks, batch by batch. It may be called again."""


@dataclass(frozen=True)
class StreamedCounts:
    """Counts that are read once, a batch at a time.

    Attributes:
        pass_on: calls a function with each batch, in order of first appearance.
        splitter: the splitter that cut the chunks; ``None`` if they are whole documents.
        documents: the number of documents.
        chunks: the number of distinct chunks.
        occurrences: the sum of their counts.
        bytes: the size of the counted text in bytes.
    """

    pass_on: PassOn
    splitter: PatternSplitter | None
    documents: int
    chunks: int
    occurrences: int
    bytes: int


def pass_batches(batches: Iterable[CountedChunks], take: Take) -> None:
    """Call a function with each batch."""
    for batch in batches:
        take(*batch)


def pass_batch(take: Take, chunks: bytes, ends: UInts, counts: UInts) -> None:
    """Call a function with a batch that may be empty."""
    if len(ends):
        take(chunks, ends, counts)


def cut_batches(counted: CountedChunks) -> Iterator[CountedChunks]:
    """Yield batches of counted chunks, of the same sizes as those of the kernel."""
    chunks, ends, counts = counted
    first = start = 0
    while first < len(ends):
        fits = int(np.searchsorted(ends, np.uint64(start + counting.BATCH_BYTES), "right"))
        last = min(first + counting.BATCH_CHUNKS, max(fits, first + 1))
        part = ends[first:last]
        end = int(part[-1])
        yield chunks[start:end], part - np.uint64(start), counts[first:last]
        first, start = last, end


class SpooledCounts:
    """Counts that are written to a temporary file as they are passed on, to be read again.

    Args:
        file: an empty file; its owner closes it.
        check: called before each batch is written.

    Attributes:
        counts: the counts in the file, once all were written; ``None`` before.
    """

    def __init__(self, file: IO[bytes], check: Callable[[], object]) -> None:
        self._file, self._check = file, check
        self._batches: list[tuple[int, int]] = []  # the bytes, and the number of chunks
        self.counts: StreamedCounts | None = None

    def spool(self, counts: StreamedCounts) -> StreamedCounts:
        """Return counts that are written to the file while they are passed on."""
        return replace(counts, pass_on=partial(self._write_passed, counts))

    def _write_passed(self, counts: StreamedCounts, take: Take) -> None:
        def write(chunks: bytes, ends: UInts, numbers: UInts) -> None:
            self._check()
            for part in (chunks, ends.tobytes(), numbers.tobytes()):
                self._file.write(part)
            self._batches.append((len(chunks), len(ends)))
            take(chunks, ends, numbers)

        counts.pass_on(write)
        self.counts = replace(counts, pass_on=self._pass_on)

    def _pass_on(self, take: Take) -> None:
        self._file.seek(0)
        for size, chunks in self._batches:
            data = self._file.read(size)
            ends = np.frombuffer(self._file.read(8 * chunks), np.uint64)
            take(data, ends, np.frombuffer(self._file.read(8 * chunks), np.uint64))
