"""Says from the first per cent of a text that its words will not fit into the memory limit.

The number of distinct words grows as a power of the size of the text (Heaps' law). The power is
that of the last part of what was read; it falls with the size, so the forecast is rather too large.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from toksmith._base.arrays import Bounds
from toksmith._base.lazy import np, npt
from toksmith._base.text import Text
from toksmith.corpus import DocumentSink, DocumentSource, ReadTotals
from toksmith.engine.counting import Tallies, UInts
from toksmith.errors import OptionError, warn
from toksmith.trainers.counting.counted_parts import CountedParts
from toksmith.trainers.counting.weights import weighted_parts
from toksmith.trainers.memory import MemoryLimits, at_least

if TYPE_CHECKING:
    from toksmith.engine.counting import ChunkCounter, LineCounter

_SHARE = 0.05
"""The share of the text from which the rest is forecast."""

_LEAST = 1 << 24
"""The smallest text that is a sample of the rest, in bytes."""

_STEP = 1.4
"""The ratio of the sizes at which distinct words are estimated."""

_SURE = 2.0
"""A forecast of this many times the limit ends the training; a smaller one is a warning."""

_MARGIN = 1.25
"""What is advised has room for a forecast that is too small by this factor."""


class Forecast:
    """Forecasts the memory of the words of a corpus while it is counted.

    Args:
        limits: the memory limit, and the memory that the model needs.
        source: the whole corpus.
        parts: the folder that counts are written to, if there is one. Then a part of the corpus is
            counted to its end, and kept, before the training ends.
    """

    def __init__(
        self, limits: MemoryLimits, source: DocumentSource, parts: CountedParts | None = None
    ) -> None:
        self._limits, self._parts = limits, parts
        self._total = source.size
        self._unit, _ = weighted_parts(source)
        self._is_open = limits.limit is not None
        self._refusal: OptionError | None = None

    def watch(self, part: DocumentSource) -> DocumentSource:
        """Return a part of the corpus, or all of it, that is watched while it is counted.

        Raises:
            OptionError: the words of the corpus will not fit; the parts before this one are kept.
        """
        if self._refusal is not None and self._parts is not None:
            kept = self._parts.describe()
            raise OptionError(f"{self._refusal}. Counting ends here: {kept}") from self._refusal
        if not self._is_open or not self._total:
            return part
        return _WatchedSource(part, _Watch(self._limits, self._total, self._unit, self._decide))

    def _decide(self, share: float, chunks: UInts, sizes: UInts) -> None:
        """Warn, or end the training, if a forecast exceeds the limit."""
        limits = self._limits
        self._is_open = False
        refusal = limits.forecast(chunks, sizes, share, margin=_MARGIN, times=1)
        if refusal is None:
            return
        if limits.forecast(chunks, sizes, share, margin=_MARGIN, times=_SURE) is None:
            warn(f"{refusal}. Counting goes on, because a forecast is not exact")
        elif self._parts is None:
            raise refusal
        else:
            self._refusal = refusal
            warn(
                f"{refusal}. Counting goes on to the end of this part, so that its counts are kept"
            )


class _Watch:
    """Estimates the distinct words of one counter at several sizes, until the forecast is made.

    Args:
        limits: the memory limit.
        total: the size of the files in bytes.
        unit: what counts must be divided by.
        decide: called once, with the share of the text and the forecast.

    Attributes:
        fed: the size of the text that was counted, in bytes.
    """

    def __init__(
        self,
        limits: MemoryLimits,
        total: int,
        unit: int,
        decide: Callable[[float, UInts, UInts], None],
    ) -> None:
        self._limits, self._total, self._unit, self._decide = limits, total, unit, decide
        self._points: list[tuple[int, Tallies]] = []
        self._is_done = False
        self.fed = 0

    def note(self, counter: ChunkCounter | LineCounter, done: int, *, ends: bool) -> None:
        """Note how far counting is.

        Args:
            counter: the counter.
            done: the bytes of the files that were read.
            ends: whether this is the end of the text of the counter.
        """
        share, fed = done / self._total, self.fed
        self._limits.files.share = share
        if self._is_done or fed < _LEAST or not self._limits.is_forecast:
            return
        is_far_enough = share >= _SHARE or ends
        if not is_far_enough and self._points and fed < _STEP * self._points[-1][0]:
            return
        tallies = at_least(counter.estimate(self._unit))
        before = [point for point in self._points if _STEP * point[0] <= fed]
        self._points.append((fed, tallies))
        if not is_far_enough or not before:
            return
        self._is_done = True
        if share < 1:
            (first, earlier) = before[-1]
            growth = fed / first
            chunks, sizes = (
                _extrapolated(old, new, growth, 1 / share)
                for old, new in zip(earlier, tallies, strict=True)
            )
            self._decide(share, chunks, sizes)


def _extrapolated(old: UInts, new: UInts, growth: float, scale: float) -> npt.NDArray[np.uint64]:
    """Extrapolate numbers by powers of the size of the text.

    Args:
        old: the numbers at a first size.
        new: the numbers at a second size.
        growth: the ratio of the second size to the first.
        scale: the ratio of the last size to the second.
    """
    before, now = np.maximum(old.astype(float), 1), np.maximum(new.astype(float), 1)
    power = np.clip(np.log(now / before) / np.log(growth), 0, 1)
    found = np.minimum.accumulate(np.where(new > 0, now * scale**power, 0))
    return found.astype(np.uint64)


class _WatchedSource:
    """A corpus whose counter is watched.

    Args:
        source: the corpus, or some of its files.
        watch: what watches the counter.
        ends: whether the counter gets no other text.
    """

    def __init__(self, source: DocumentSource, watch: _Watch, *, ends: bool = True) -> None:
        self._source, self._watch, self._ends = source, watch, ends
        self.size = source.size

    def feed(self, counter: DocumentSink, report: Callable[[int], None]) -> int:
        """Count all documents."""
        kernel: ChunkCounter | LineCounter = counter.counter  # type: ignore[attr-defined]
        last = 0

        def watched(done: int) -> None:
            nonlocal last
            last = done
            report(done)
            self._watch.note(kernel, done, ends=False)

        documents = self._source.feed(_MeasuringSink(counter, self._watch), watched)
        if self._ends:
            self._watch.note(kernel, last, ends=True)
        return documents

    def parts(self) -> Sequence[tuple[int, DocumentSource]]:
        """Return the parts in order, each with its weight."""
        parts = self._source.parts()
        ends = len(parts) == 1
        return [(weight, _WatchedSource(part, self._watch, ends=ends)) for weight, part in parts]

    def read(self) -> ReadTotals:
        """Return the totals of the text read so far."""
        return self._source.read()


class _MeasuringSink:
    """Passes documents on, and adds up their sizes."""

    def __init__(self, sink: DocumentSink, watch: _Watch) -> None:
        self._sink, self._watch = sink, watch
        self.cut = sink.cut

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count documents."""
        self._sink.add_texts(texts)
        self._watch.fed += sum(map(len, texts))

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count slices of a text as documents."""
        self._sink.add_slices(text, bounds)
        self._watch.fed += int((bounds[:, 1] - bounds[:, 0]).sum())
