"""Counts that are passed on a batch at a time, so that they need not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from toksmith._base.lazy import np
from toksmith.engine import counting
from toksmith.engine.counting import CountedChunks, Take
from toksmith.splitters import PatternSplitter


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

    pass_on: Callable[[Take], None]
    splitter: PatternSplitter | None
    documents: int
    chunks: int
    occurrences: int
    bytes: int


def pass_batches(batches: Iterable[CountedChunks], take: Take) -> None:
    """Call a function with each batch."""
    for batch in batches:
        take(*batch)


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
