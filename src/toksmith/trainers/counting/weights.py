"""Exact sums of weighted counts, in integers, so that the order does not matter.

Weights are whole numbers of a unit: of millionths, or of 1 if all weights are whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from toksmith._base.lazy import np
from toksmith.corpus import DocumentSink, DocumentSource
from toksmith.corpus.paths import ONE
from toksmith.engine.counting import ChunkCounter, CountedChunks, CountedLines, LineCounter
from toksmith.errors import OptionError


def weighted_parts(source: DocumentSource) -> tuple[int, list[tuple[int, DocumentSource]]]:
    """Return the number of units in 1, and the parts of a source with their weights in units."""
    parts = source.parts()
    unit = ONE if any(weight % ONE for weight, _ in parts) else 1
    return unit, [(weight * unit // ONE, part) for weight, part in parts]


def feed_weighted(
    parts: Sequence[tuple[int, DocumentSource]],
    sink: DocumentSink,
    counter: ChunkCounter | LineCounter,
    report: Callable[[int], None],
) -> None:
    """Feed all parts to a sink.

    Args:
        parts: the parts with their weights.
        sink: takes the documents.
        counter: the counter of the sink, which has temporary files.
        report: called with the number of bytes done.

    Raises:
        OptionError: the weighted counts reach 2**63 units.
    """
    total = before = 0
    for weight, part in parts:
        counter.weigh(weight)
        part.feed(sink, report)
        read = part.read().bytes
        total, before = total + weight * (read - before), read
        if total >= 2**63:  # no more chunks than bytes
            raise OptionError("the counts with their weights come to 2**63 or more")


class WeightedSum:
    """A sum of counted chunks, each part's counts times its weight.

    Sums are rounded half up at the end; chunks with a sum of 0 are left out. Chunks are in the
    order of first appearance, part after part.

    Args:
        unit: the number of units of weight in 1.
    """

    def __init__(self, unit: int) -> None:
        self._unit = unit
        self._first: tuple[int, CountedChunks] | None = None
        self._counter: ChunkCounter | None = None
        self._total = 0.0

    def add(self, weight: int, part: CountedChunks) -> None:
        """Add a part.

        Raises:
            OptionError: the sum reaches 2**63 units.
        """
        if self._first is None and self._counter is None:
            self._first = weight, part
            return
        self._add_first()
        self._add(weight, part)

    def finish(self) -> CountedChunks:
        """Return the sum.

        Raises:
            OptionError: the sum reaches 2**63 units.
        """
        if self._first is not None and self._first[0] == self._unit:  # the usual case: no weights
            return self._first[1]
        self._add_first()
        chunks, ends, counts = (self._counter or ChunkCounter(None, 1)).finish()
        counts = (counts + np.uint64(self._unit // 2)) // np.uint64(self._unit)
        kept = counts > 0
        if not kept.all():
            sizes = np.diff(ends, prepend=np.uint64(0))
            is_kept = np.repeat(kept, sizes.astype(np.int64))
            chunks = np.frombuffer(chunks, np.uint8)[is_kept].tobytes()
            ends, counts = np.cumsum(sizes[kept], dtype=np.uint64), counts[kept]
        return chunks, ends, counts

    def _add_first(self) -> None:
        if self._first is not None:
            first, self._first = self._first, None
            self._add(*first)

    def _add(self, weight: int, part: CountedChunks) -> None:
        chunks, ends, counts = part
        self._total += weight * float(counts.astype(np.float64).sum())
        if self._total >= 2.0**63:
            raise OptionError(
                f"the weighted counts reach 2**63 / {self._unit}: use smaller weights"
            )
        if self._counter is None:
            self._counter = ChunkCounter(None, 1)
        self._counter.add_counted(chunks, ends, counts * np.uint64(weight))


def weighted_sum(parts: Iterable[tuple[int, CountedChunks]], unit: int) -> CountedChunks:
    """Return the sum of counted chunks; see :class:`WeightedSum`."""
    result = WeightedSum(unit)
    for weight, part in parts:
        result.add(weight, part)
    return result.finish()


def weighted_lines(parts: Iterable[tuple[int, CountedLines]], unit: int) -> CountedLines:
    """Return the weighted sum of counted lines; the number of lines is not weighted."""
    chunks, plain = WeightedSum(unit), WeightedSum(unit)
    lines = too_long = reserved = 0
    for weight, part in parts:
        chunks.add(weight, (part.chunks, part.ends, part.counts))
        plain.add(weight, part.plain)
        lines += part.lines
        too_long += part.too_long
        reserved += part.reserved
    return CountedLines(*chunks.finish(), lines, too_long, reserved, plain.finish())
