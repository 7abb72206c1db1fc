"""Counts the words that a model makes of counted lines or chunks, within memory limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice, pairwise
from typing import TypeAlias

from toksmith._base.lazy import np
from toksmith.engine.counting import ChunkCounter, CountedChunks
from toksmith.trainers.counting.chunks import limit_counts
from toksmith.trainers.counting.counts import Counts
from toksmith.trainers.counting.streaming import PassOn, pass_batch
from toksmith.trainers.memory import MemoryLimits

Feed: TypeAlias = "Callable[[ChunkCounter], object]"
"""Passes words to a counter."""

_WORDS = 1 << 13
"""The number of words that are counted with one call."""


def counted_words(feed: Feed, limits: MemoryLimits) -> Counts:
    """Return the counts of the words of a feed.

    Raises:
        OptionError: the words exceed the memory limit.
    """
    counter = ChunkCounter(None, 1)
    with limits.spill(counter):
        feed(counter)
        limits.merge(counter)
        counts = Counts(*counter.finish())
    return counts if counter.spilled else limit_counts(counts, limits)


@contextmanager
def passed_words(feed: Feed, limits: MemoryLimits) -> Iterator[PassOn]:
    """Count the words of a feed, and pass them on.

    The words need not fit into memory: those that do not are in a temporary file, which the end of
    the ``with`` block deletes.
    """
    counter = ChunkCounter(None, 1)
    with limits.spill(counter):
        feed(counter)
        if limits.limit is not None:
            limits.merge(counter)
        if counter.spilled:
            yield counter.pass_merged
        else:
            counts = Counts(*counter.finish())
            if limits.min_count > 1:
                counts = counts.filter(limits.min_count)
            yield lambda take: pass_batch(take, counts.chunks, counts.ends, counts.counts)


def add_words(counter: ChunkCounter, counted: Iterable[tuple[str, int]]) -> None:
    """Count words a number of times each."""
    left = iter(counted)
    while batch := [*islice(left, _WORDS)]:
        words = [word.encode() for word, _ in batch]
        ends = np.cumsum(np.fromiter(map(len, words), np.uint64, len(words)), dtype=np.uint64)
        counts = np.fromiter((count for _, count in batch), np.uint64, len(batch))
        counter.add_counted(b"".join(words), ends, counts)


def items_of(counted: CountedChunks) -> Iterator[tuple[bytes, int]]:
    """Yield each chunk and its count."""
    chunks, ends, counts = counted
    for (start, end), count in zip(pairwise([0, *ends.tolist()]), counts.tolist(), strict=True):
        yield chunks[start:end], count
