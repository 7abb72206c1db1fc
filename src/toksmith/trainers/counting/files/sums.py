"""Counts that stay in their files, which are added as they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256

from toksmith.engine.counting import CountedChunks, Take
from toksmith.trainers.counting.chunks import limit_counts, stream_sum, sum_counts
from toksmith.trainers.counting.counts import Counts
from toksmith.trainers.counting.files.parquet import CountsFile, pieces
from toksmith.trainers.counting.files.shards import check_summands, in_order
from toksmith.trainers.counting.splits import check_splitters
from toksmith.trainers.counting.streaming import StreamedCounts
from toksmith.trainers.memory import MemoryLimits


class SumOfFiles:
    """The sum of files of counts, read from the files: it need not fit into memory.

    Args:
        files: one file or more, in the order in which they are added.

    Attributes:
        files: the files; shards of one corpus are in the order of their numbers.
        splitter: as in :class:`Counts`.
        documents: the number of documents.
        bytes: the size of the counted text in bytes, rare chunks included.

    Raises:
        OptionError: the chunks were cut by different splitters, or the sum would hold a text twice.
    """

    def __init__(self, files: Sequence[CountsFile]) -> None:
        self.splitter = files[0].splitter
        check_splitters(file.splitter for file in files)
        check_summands(files)
        self.files = tuple(in_order(files))
        self.documents = sum(file.documents for file in self.files)
        self.bytes = sum(file.bytes for file in self.files)

    @contextmanager
    def stream(self, limits: MemoryLimits) -> Iterator[StreamedCounts]:
        """Read the counts; the sum is available in the ``with`` block.

        Raises:
            FormatError: a file is damaged.
            OptionError: the temporary file cannot be written.
        """
        if len(self.files) > 1 or limits.min_count > 1:
            chunks = sum(file.chunks for file in self.files)
            with stream_sum(self._pieces(), limits, chunks) as counts:
                yield counts
            return
        (file,) = self.files

        def pass_on(take: Take) -> None:
            for batch in file.batches():
                take(*batch)

        yield StreamedCounts(
            pass_on, file.splitter, file.documents, file.chunks, file.occurrences, file.bytes
        )

    def read(self, limits: MemoryLimits) -> Counts:
        """Return the sum.

        Raises:
            FormatError: a file is damaged.
            OptionError: the memory limit is too small.
        """
        if len(self.files) == 1:
            return limit_counts(self.files[0].read(), limits)
        return sum_counts(self._pieces(), limits)

    def digest(self) -> str:
        """Return a hash of the counts."""
        found = sha256()
        for file in self.files:
            for batch in file.batches():
                found.update(batch[0])
                for array in batch[1:]:
                    found.update(array.tobytes())
        return found.hexdigest()[:32]

    def _pieces(self) -> Iterator[Counts]:
        return (piece for file in self.files for piece in pieces(file))


def batches_of(counts: Counts | SumOfFiles) -> Iterator[CountedChunks]:
    """Yield the counts in batches; those of several files are not added up."""
    if isinstance(counts, Counts):
        yield counts.chunks, counts.ends, counts.counts
        return
    for file in counts.files:
        yield from file.batches()
