"""Counted chunks: all that training needs to know of a text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toksmith.arguments import whole
from toksmith.engine import ChunkCounter
from toksmith.errors import OptionError
from toksmith.lazy import np, npt
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

    Raises:
        OptionError: the arrays do not fit each other, a chunk is empty, or the text would come to
            2**63 bytes or more.

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

    def __post_init__(self) -> None:
        sizes = np.diff(np.asarray(self.ends, np.int64), prepend=0)
        if len(self.ends) != len(self.counts) or int(sizes.sum()) != len(self.chunks):
            raise OptionError("chunks, ends and counts do not fit each other")
        if (sizes <= 0).any():
            raise OptionError("a chunk is empty")
        if float(np.dot(sizes.astype(float), self.counts.astype(float))) >= 2.0**63:
            raise OptionError("the counted text comes to 2**63 bytes or more")

    @classmethod
    def of(cls, counted: Mapping[bytes, int], splitter: PatternSplitter | None = None) -> Counts:
        """Return counts that were made elsewhere.

        Args:
            counted: how often each chunk stands in the text, in order of first appearance.
            splitter: what the chunks were cut with.

        Raises:
            OptionError: a chunk that is empty or no bytes, or a count that is no whole number.
        """
        for chunk, count in counted.items():
            if not isinstance(chunk, bytes):
                raise OptionError(f"chunk {chunk!r:.80} is {type(chunk).__name__}; use bytes")
            whole("a chunk's count", count, least=0)
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
