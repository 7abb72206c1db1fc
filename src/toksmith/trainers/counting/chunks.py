"""Counting the chunks of a corpus, and adding counts: in memory, or spilled to a temporary file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from toksmith._base.progress import BytesCallback, counting_progress
from toksmith.corpus import DocumentSource
from toksmith.engine.counting import ChunkCounter, CountedChunks
from toksmith.errors import OptionError
from toksmith.splitters import PatternSplitter
from toksmith.trainers.counting.counts import Counts, stream_counts
from toksmith.trainers.counting.splits import check_splitters
from toksmith.trainers.counting.streaming import StreamedCounts, pass_batches
from toksmith.trainers.counting.weights import feed_weighted, weighted_parts, weighted_sum
from toksmith.trainers.memory import MemoryLimits, size_of_stream, tallies_of


def count_chunks(
    source: DocumentSource,
    splitter: PatternSplitter | None,
    threads: int,
    progress: bool | None = None,
    limits: MemoryLimits | None = None,
) -> Counts:
    """Count the chunks of a corpus; the result does not depend on the number of threads.

    The counts of a part are multiplied by its weight: see :class:`~toksmith.corpus.Reading`.

    Args:
        source: the corpus.
        splitter: cuts documents into chunks; ``None`` counts whole documents.
        threads: the number of threads.
        progress: whether to show a progress bar; ``None`` if standard error is a terminal.
        limits: the memory limit; it also records the number of spilled bytes.

    Raises:
        OptionError: the memory limit is too small.
    """
    limits = limits or MemoryLimits()
    with counting_progress(source.size, progress) as report:
        if limits.limit is not None:
            feed = _Weighted(source, report, limits)
            return _counted(ChunkCounter(splitter, threads), feed, splitter, limits, feed.unit)

        unit, parts = weighted_parts(source)

        def counted() -> Iterator[tuple[int, CountedChunks]]:
            for weight, part in parts:
                counter = ChunkCounter(splitter, threads)
                part.feed(counter, report)
                yield weight, counter.finish()

        found = weighted_sum(counted(), unit)
    return limit_counts(
        Counts(*found, splitter=splitter, documents=source.read().documents), limits
    )


@contextmanager
def stream_chunks(
    source: DocumentSource,
    splitter: PatternSplitter | None,
    threads: int,
    progress: bool | None,
    limits: MemoryLimits,
) -> Iterator[StreamedCounts]:
    """Count the chunks of a corpus; the counts are available in the ``with`` block.

    Args:
        source: see :func:`count_chunks`, also for the other arguments.
        splitter: cuts documents into chunks.
        threads: the number of threads.
        progress: whether to show a progress bar.
        limits: the memory limit of counting; the counts need not fit into memory.

    Raises:
        OptionError: the temporary file cannot be written, or exceeds its limit.
    """
    with counting_progress(source.size, progress) as report:
        feed = _Weighted(source, report, limits)
        if limits.limit is not None or feed.is_plain:
            counter = ChunkCounter(splitter, threads)
            with _streamed(counter, feed, splitter, limits, feed.unit) as found:
                yield found
            return
    yield stream_counts(count_chunks(source, splitter, threads, progress, limits))


class _Weighted:
    """Feeds a corpus to a counter with a memory limit.

    Attributes:
        unit: what the counts must be divided by.
        is_plain: whether no part has a weight.
    """

    def __init__(self, source: DocumentSource, report: BytesCallback, limits: MemoryLimits) -> None:
        self._source, self._report, self._limits = source, report, limits
        self.unit, self._parts = weighted_parts(source)
        self.is_plain = all(weight == self.unit for weight, _ in self._parts)

    def __call__(self, counter: ChunkCounter) -> int:
        if self.is_plain:
            for _, part in self._parts:
                part.feed(counter, self._note)
        else:
            feed_weighted(self._parts, counter, counter, self._note)
        return self._source.read().documents

    def _note(self, done: int) -> None:
        if self._source.size:
            self._limits.files.share = done / self._source.size
        self._report(done)


def sum_counts(parts: Iterable[Counts], limits: MemoryLimits | None = None) -> Counts:
    """Add counts in this order.

    Args:
        parts: the counts, which are read once.
        limits: the memory limit.

    Raises:
        OptionError: the chunks were cut by different splitters, the counted text has 2**63 bytes
            or more, or the memory limit is too small.
    """
    limits = limits or MemoryLimits()
    feed = _Summands(parts, limits)
    counts = _counted(ChunkCounter(None, 1), feed, None, limits)
    return replace(counts, splitter=feed.splitter)


@contextmanager
def stream_sum(
    parts: Iterable[Counts], limits: MemoryLimits, chunks: int | None = None
) -> Iterator[StreamedCounts]:
    """Add counts in this order; the sum is available in the ``with`` block.

    Args:
        parts: the counts, which are read once.
        limits: the memory limit.
        chunks: the number of chunks of all parts, if known; for messages.

    Raises:
        OptionError: see :func:`sum_counts`; the sum need not fit into memory.
    """
    feed = _Summands(parts, limits, chunks)
    with _streamed(ChunkCounter(None, 1), feed, None, limits) as found:
        yield replace(found, splitter=feed.splitter)


class _Summands:
    """Feeds counts to a counter.

    Attributes:
        splitter: their splitter.
    """

    def __init__(
        self, parts: Iterable[Counts], limits: MemoryLimits, chunks: int | None = None
    ) -> None:
        self._parts, self._limits, self._chunks = parts, limits, chunks
        self.splitter: PatternSplitter | None = None

    def __call__(self, counter: ChunkCounter) -> int:
        documents = total = chunks = 0
        for number, part in enumerate(self._parts):
            if number == 0:
                self.splitter = part.splitter
            check_splitters((self.splitter, part.splitter))
            documents += part.documents
            total += part.bytes
            if total >= 2**63:  # so that no single count overflows
                raise OptionError("the counted text comes to 2**63 bytes or more")
            chunks += len(part)
            if self._chunks:
                self._limits.files.share = chunks / self._chunks
            counter.add_counted(part.chunks, part.ends, part.counts)
        return documents


def _counted(
    counter: ChunkCounter,
    feed: Callable[[ChunkCounter], int],
    splitter: PatternSplitter | None,
    limits: MemoryLimits,
    unit: int = 1,
) -> Counts:
    """Feed a counter within limits, and return its counts divided by ``unit``."""
    with limits.spill(counter):
        documents = feed(counter)
        limits.merge(counter, unit)
        counts = Counts(*counter.finish(), splitter=splitter, documents=documents)
    return counts if counter.spilled else limit_counts(counts, limits)


@contextmanager
def _streamed(
    counter: ChunkCounter,
    feed: Callable[[ChunkCounter], int],
    splitter: PatternSplitter | None,
    limits: MemoryLimits,
    unit: int = 1,
) -> Iterator[StreamedCounts]:
    """Feed a counter within limits, and stream its counts divided by ``unit``."""
    limits.need = size_of_stream
    with limits.spill(counter):
        documents = feed(counter)
        limits.merge(counter, unit)
        found = counter.stream(limits.min_count)
        yield StreamedCounts(
            partial(pass_batches, found),
            splitter,
            documents,
            found.chunks,
            found.occurrences,
            found.bytes,
        )


def limit_counts(counts: Counts, limits: MemoryLimits) -> Counts:
    """Return counts without rare chunks.

    Raises:
        OptionError: the memory limit is too small.
    """
    if limits.limit is not None:
        limits.check(tallies_of(counts.sizes, counts.counts))
    return counts if limits.min_count == 1 else counts.filter(limits.min_count)
