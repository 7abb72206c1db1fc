"""Sums of counts with weights: exact, whatever the order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from toksmith.corpus.weights import ONE
from toksmith.engine import ChunkCounter
from toksmith.errors import OptionError
from toksmith.lazy import np
from toksmith.training_engine import Counted, CountedLines


def rounded(millionths: int) -> int:
    """Return a sum of counts times weights as a count: rounded half up."""
    return (millionths + ONE // 2) // ONE


def weighted_sum(parts: Iterable[tuple[int, Counted]]) -> Counted:
    """Return the sum of counted chunks, each part's counts times its weight in millionths.

    Sums are rounded half up at the end; what comes to 0 is left out. Chunks stand in the order in
    which the parts, one after the other, first show them.

    Raises:
        OptionError: the counts come to 2**63 millionths or more.
    """
    waiting = iter(parts)
    first = list(islice(waiting, 2))
    if len(first) == 1 and first[0][0] == ONE:  # mostly
        return first[0][1]
    counter = ChunkCounter(None, 1)
    total = 0.0
    for weight, (chunks, ends, counts) in chain(first, waiting):
        total += weight * float(counts.astype(np.float64).sum())
        if total >= 2.0**63:
            raise OptionError("the counts with their weights come to 2**63 millionths or more")
        counter.add_counted(chunks, ends, counts * np.uint64(weight))
    chunks, ends, counts = counter.finish()
    counts = (counts + np.uint64(ONE // 2)) // np.uint64(ONE)
    kept = counts > 0
    if not kept.all():
        sizes = np.diff(ends, prepend=np.uint64(0))
        is_kept = np.repeat(kept, sizes.astype(np.int64))
        chunks = np.frombuffer(chunks, np.uint8)[is_kept].tobytes()
        ends, counts = np.cumsum(sizes[kept], dtype=np.uint64), counts[kept]
    return chunks, ends, counts


def weighted_lines(parts: Iterable[tuple[int, CountedLines]]) -> CountedLines:
    """Return the sum of the chunks of lines as :func:`weighted_sum` does; lines count once each."""
    lines = too_long = reserved = 0

    def counted() -> Iterator[tuple[int, Counted]]:
        nonlocal lines, too_long, reserved
        for weight, part in parts:
            lines += part.lines
            too_long += part.too_long
            reserved += part.reserved
            yield weight, (part.chunks, part.ends, part.counts)

    return CountedLines(*weighted_sum(counted()), lines, too_long, reserved)
