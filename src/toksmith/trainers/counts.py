"""Counted chunks: all that training needs to know of a text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from toksmith.engine import ChunkCounter
from toksmith.errors import OptionError
from toksmith.progress import counting_progress
from toksmith.splitters import PatternSplitter
from toksmith.trainers.sources import Source


@dataclass(frozen=True, eq=False)
class Counts:
    """Distinct chunks with their counts, in the order in which the text first shows them.

    Attributes:
        chunks: the chunks end to end.
        ends: uint64, shape ``(n,)``: where each chunk ends in ``chunks``.
        counts: uint64, shape ``(n,)``: how often each stands in the text.
        splitter: what the chunks were cut with.
        documents: how many documents were read.

    Example:
        >>> counts = Counts.of({b"ab": 3, b"c": 1})
        >>> dict(counts), counts.bytes
        ({b'ab': 3, b'c': 1}, 7)
    """

    chunks: bytes
    ends: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.uint64]
    splitter: PatternSplitter | None = None
    documents: int = 0

    @classmethod
    def of(cls, counted: Mapping[bytes, int], splitter: PatternSplitter | None = None) -> Counts:
        """Return counts that were made elsewhere.

        Args:
            counted: how often each chunk stands in the text, in order of first appearance.
            splitter: what the chunks were cut with.

        Raises:
            OptionError: an empty chunk, or a count that is no 64-bit whole number.
        """
        if any(not chunk for chunk in counted):
            raise OptionError("a chunk is empty")
        wrong = next((count for count in counted.values() if not 0 <= count < 2**64), None)
        if wrong is not None:
            raise OptionError(f"a chunk's count is {wrong}")
        ends = np.cumsum([len(chunk) for chunk in counted], dtype=np.uint64)
        counts = np.fromiter(counted.values(), np.uint64, len(counted))
        return cls(b"".join(counted), ends, counts, splitter)

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        start = 0
        for end, count in zip(self.ends.tolist(), self.counts.tolist(), strict=True):
            yield self.chunks[start:end], count
            start = end

    @property
    def bytes(self) -> int:
        """How many bytes of text the chunks come to."""
        sizes = np.diff(self.ends, prepend=np.uint64(0))
        return int(np.dot(sizes, self.counts))


def count_chunks(
    source: Source,
    splitter: PatternSplitter | None,
    threads: int,
    progress: bool | None = None,
) -> Counts:
    """Count the chunks of a corpus; the result does not depend on the number of threads.

    Args:
        source: the corpus.
        splitter: what to cut it with.
        threads: how many threads count.
        progress: whether to show it; ``None`` where standard error is a terminal.
    """
    counter = ChunkCounter(splitter, threads)
    with counting_progress(source.size, progress) as report:
        documents = source.feed(counter, report)
    return Counts(*counter.finish(), splitter=splitter, documents=documents)
