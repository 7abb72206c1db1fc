"""Counted documents as a source of documents, for models that make words of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from toksmith._base.arrays import Bounds
from toksmith._base.lazy import np
from toksmith.corpus import DocumentSink, ReadTotals
from toksmith.corpus.paths import ONE
from toksmith.engine.counting import CountedChunks, UInts, valid_utf8
from toksmith.trainers.counting.counts import Counts
from toksmith.trainers.counting.symbol_words import is_utf8


class CountedDocuments:
    """Distinct documents: a :class:`~toksmith.corpus.sources.DocumentSource`.

    The first part has each document once, so words come in the order of the text. Part ``1 + i``
    adds the documents that have bit ``i`` in the number of their repetitions, with weight ``2**i``.

    Args:
        batches: returns the documents with their counts, batch by batch; it is called several
            times.
    """

    def __init__(self, batches: Callable[[], Iterable[CountedChunks]]) -> None:
        self._batches = batches
        self._bit: int | None = None
        self._read = ReadTotals()
        self.size: int | None = None

    def parts(self) -> list[tuple[int, CountedDocuments]]:
        """Return the parts in order, each with its weight in millionths."""
        bits = 0
        for _, _, counts in self._batches():
            bits |= int(np.bitwise_or.reduce(_repetitions(counts), initial=np.uint64(0)))
        return [
            (ONE, self),
            *((ONE << bit, self._part(bit)) for bit in range(bits.bit_length()) if bits >> bit & 1),
        ]

    def _part(self, bit: int) -> CountedDocuments:
        part = CountedDocuments(self._batches)
        part._bit, part._read = bit, self._read
        return part

    def read(self) -> ReadTotals:
        """Return the totals of the documents read so far, those of all parts."""
        return self._read

    def feed(self, counter: DocumentSink, report: Callable[[int], None]) -> int:
        """Count the documents of this part once each."""
        for batch in self._batches():
            for data, bounds in self._chosen(batch):
                counter.add_slices(data, bounds)
                self._read.documents += len(bounds)
                self._read.bytes += int((bounds[:, 1] - bounds[:, 0]).sum())
            report(self._read.bytes)
        return self._read.documents

    def _chosen(self, batch: CountedChunks) -> Iterator[tuple[bytes, Bounds]]:
        """Yield the documents of a batch that belong to the part, as slices of valid UTF-8."""
        data, ends, counts = batch
        if self._bit is None:
            is_chosen = counts > 0
        else:
            is_chosen = (_repetitions(counts) >> np.uint64(self._bit) & np.uint64(1)) > 0
        places = np.concatenate([np.zeros(1, np.int64), ends.astype(np.int64)])
        bounds = np.stack([places[:-1], places[1:]], axis=1)[is_chosen]
        if not len(bounds):
            return
        if is_utf8(Counts(*batch)):
            yield data, bounds
            return
        for start, end in bounds.tolist():
            text = valid_utf8(data[start:end])
            yield text, np.array([[0, len(text)]], np.int64)


def _repetitions(counts: UInts) -> UInts:
    """Return how often each document comes again after its first occurrence."""
    repetitions: UInts = np.maximum(counts, np.uint64(1)) - np.uint64(1)
    return repetitions
