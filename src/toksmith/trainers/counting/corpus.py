"""The corpus of a training: files, texts or counts, and totals of the text that was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property, partial

from toksmith._base.progress import counting_progress
from toksmith._base.text import Texts
from toksmith._base.threads import thread_count
from toksmith._base.visible import count_of
from toksmith.corpus import (
    AnyPath,
    Documents,
    DocumentSink,
    DocumentSource,
    Files,
    Hashing,
    Reading,
    ReadTotals,
)
from toksmith.corpus.paths import ONE, check_paths
from toksmith.engine.counting import ChunkCounter, CountedLines
from toksmith.errors import OptionError, TrainingError
from toksmith.splitters import PatternSplitter
from toksmith.trainers.counting.chunks import (
    count_chunks,
    limit_counts,
    stream_chunks,
    stream_sum,
    sum_counts,
)
from toksmith.trainers.counting.counted_documents import CountedDocuments
from toksmith.trainers.counting.counted_parts import CountedParts
from toksmith.trainers.counting.counts import Counts, stream_counts
from toksmith.trainers.counting.files.sums import SumOfFiles, batches_of
from toksmith.trainers.counting.forecast import Forecast
from toksmith.trainers.counting.lines import (
    LineCounts,
    LineSink,
    finished_lines,
    merged_lines,
    sum_lines,
)
from toksmith.trainers.counting.streaming import StreamedCounts
from toksmith.trainers.counting.weights import feed_weighted, weighted_lines, weighted_parts
from toksmith.trainers.memory import MemoryLimits


class Corpus:
    """Files, documents or counts: exactly one of them. It can be read once.

    Args:
        files: paths; see :class:`~toksmith.corpus.Files`.
        texts: documents.
        counts: existing counts.
        reading: the options of reading files and of selecting documents.
        threads: the number of threads; ``None`` for the cores this process may use.
        progress: whether to show a progress bar; ``None`` if standard error is a terminal.
        recorded: whether the files are recorded: a background thread hashes them, and a sample of
            each is kept. Then use the corpus as a context manager, which stops the thread.
        limits: the memory limit of counting, and the least count of a chunk.

    Attributes:
        kept_parts: the folder that counts are written to, and first read from, if there is one.
        given_counts: the existing counts, if given.
        was_read: totals of the text that was read.

    Raises:
        OptionError: not exactly one source is given.
    """

    def __init__(
        self,
        files: AnyPath | Sequence[AnyPath] | None = None,
        texts: Texts | None = None,
        counts: Counts | SumOfFiles | None = None,
        reading: Reading | None = None,
        threads: int | None = None,
        progress: bool | None = None,
        recorded: bool = False,
        limits: MemoryLimits | None = None,
    ) -> None:
        given = [name for name, value in (("files", files), ("texts", texts), ("counts", counts))
                 if value is not None]  # fmt: skip
        if len(given) != 1:
            raise OptionError(
                "give exactly one of files, texts= and counts=; "
                f"{' and '.join(given) + ' are' if given else 'none is'} given"
            )
        self.reading = reading or Reading()
        self._files, self._texts = files, texts
        if files is None:
            self._check_without_files()
        else:
            check_paths(files)
        self.limits = limits or MemoryLimits()
        self.given_counts = counts
        self.was_read = ReadTotals()
        if isinstance(counts, Counts) and not self.limits.of_words:
            frequent = limit_counts(counts, self.limits)
            if len(counts):
                self.check_left(len(frequent))
            self.given_counts = frequent
        self.progress = progress
        self._threads = threads
        self._kept: int | None = None  # bytes of text in chunks with at least min_count occurrences
        self.kept_parts: CountedParts | None = None
        self._hashing = Hashing() if recorded and files is not None else None

    def __enter__(self) -> Corpus:
        return self

    def __exit__(self, *_: object) -> None:
        if self._hashing is not None:
            self._hashing.close()

    @property
    def documents(self) -> int:
        """The number of documents read."""
        given = self.given_counts
        return self.was_read.documents if given is None else given.documents

    @property
    def bytes(self) -> int:
        """The size of the text in bytes, times the weights of the files, without rare chunks."""
        if self._kept is not None:
            return self._kept
        given = self.given_counts
        return self.was_read.weighted_bytes if given is None else given.bytes

    @cached_property
    def counts(self) -> Counts | None:
        """The existing counts in memory, if given.

        Raises:
            OptionError: the memory limit is too small.
        """
        if isinstance(self.given_counts, Counts | None):
            return self.given_counts
        return self.given_counts.read(MemoryLimits() if self.limits.of_words else self.limits)

    @property
    def threads(self) -> int:
        """The maximum number of threads."""
        return thread_count(self._threads)

    def source(self) -> DocumentSource:
        """Return the source of the documents; counts are counts of documents.

        Raises:
            OptionError, FormatError: a file does not exist, or is no text.
        """
        if self.given_counts is not None:
            return CountedDocuments(partial(batches_of, self.given_counts))
        if self._texts is not None:
            return Documents(self._texts, self.reading, self.limits.limit)
        return Files(
            self._files or (),
            self.reading,
            self._hashing,
            threads=self.threads,
            memory=self.limits.limit,
            sampled=self._hashing is not None,
        )

    @contextmanager
    def lines(
        self, make: Callable[[], LineSink], at_once: str | None = None
    ) -> Iterator[LineCounts]:
        """Count the lines, or their chunks, of all documents.

        Args:
            make: returns a new counter. Each run of documents of equal weight has its own.
            at_once: the option because of which one counter must read all documents. Weights do
                not apply to it.

        Yields:
            The weighted counts. They may be in temporary files, which the end of the ``with`` block
            deletes.

        Raises:
            OptionError: some documents have a weight, and ``at_once`` is given.
            TrainingError: there is no text.
        """
        source = self.source()
        if at_once and any(weight != ONE for weight, _ in source.parts()):
            raise OptionError(f"weights= does not apply to {at_once}: leave it out")
        forecast = self._forecast(source)
        if self.kept_parts is None:
            with self._counted_lines(forecast.watch(source), make) as found:
                self._note(source)
                self.check_bytes()
                yield found
        else:
            parts, self.was_read = self.kept_parts.count_lines(
                source,
                lambda part: self._counted_lines(forecast.watch(part), make),
                at_once is None,
            )
            self.check_bytes()
            yield sum_lines(parts, self.limits)

    @contextmanager
    def _counted_lines(
        self, source: DocumentSource, make: Callable[[], LineSink]
    ) -> Iterator[LineCounts]:
        with counting_progress(source.size, self.progress) as report:
            unit, parts = weighted_parts(source)
            if self.limits.limit is None:

                def counted() -> Iterator[tuple[int, CountedLines]]:
                    for weight, part in parts:
                        sink = make()
                        part.feed(sink, report)
                        sink.end()
                        yield weight, finished_lines(sink)

                yield LineCounts.of(weighted_lines(counted(), unit))
                return
            sink = make()
            with self.limits.spill(sink.counter):
                feed_weighted(parts, sink, sink.counter, report)
                sink.end()
                self.limits.merge_all(sink.counter, unit)
                yield merged_lines(sink)

    def chunks(self, splitter: PatternSplitter | None) -> Counts:
        """Return the chunk counts of all documents; existing counts are returned unchanged.

        Raises:
            TrainingError: there is no text.
        """
        if self.counts is None:
            if self.kept_parts is None:
                source = self.source()
                watched = self._forecast(source).watch(source)
                counts = count_chunks(watched, splitter, self.threads, self.progress, self.limits)
                self._note(source)
            else:
                counts = sum_counts(self._counted_parts(splitter, self.kept_parts), self.limits)
        else:
            counts = self.counts
        self._check_counts(counts)
        return counts

    @contextmanager
    def stream(self, splitter: PatternSplitter | None) -> Iterator[StreamedCounts]:
        """Count the chunks of all documents; the counts need not fit into memory.

        Yields:
            The counts, which can be read once.

        Raises:
            TrainingError: there is no text.
        """
        with self._streamed(splitter) as counts:
            self._check_counts(counts)
            yield counts

    @contextmanager
    def _streamed(self, splitter: PatternSplitter | None) -> Iterator[StreamedCounts]:
        if isinstance(self.given_counts, SumOfFiles):
            with self.given_counts.stream(self.limits) as counts:
                yield counts
        elif self.given_counts is not None:
            yield stream_counts(self.given_counts)
        elif self.kept_parts is None:
            source = self.source()
            watched = self._forecast(source).watch(source)
            with stream_chunks(
                watched, splitter, self.threads, self.progress, self.limits
            ) as counts:
                self._note(source)
                yield counts
        else:
            parts = self._counted_parts(splitter, self.kept_parts)
            with stream_sum(parts, self.limits) as counts:
                yield counts

    def _counted_parts(
        self, splitter: PatternSplitter | None, kept: CountedParts
    ) -> Iterator[Counts]:
        """Return the counts of the parts of the corpus, which are read lazily."""
        source = self.source()
        forecast = self._forecast(source)

        def count(part: DocumentSource) -> AbstractContextManager[LineCounts]:
            make = partial(ChunkCounter, splitter, self.threads)
            return self._counted_lines(forecast.watch(part), make)

        parts, self.was_read = kept.count(source, count, splitter)
        return parts

    def _forecast(self, source: DocumentSource) -> Forecast:
        return Forecast(self.limits, source, self.kept_parts)

    def _check_counts(self, counts: Counts | StreamedCounts) -> None:
        self.check_bytes()
        self.check_left(len(counts) if isinstance(counts, Counts) else counts.chunks)
        self.note_kept(counts.bytes)

    def note_kept(self, size: int) -> None:
        """Record the bytes of text in chunks that are frequent enough."""
        if self.limits.min_count > 1:
            self._kept = size

    def feed(self, sink: DocumentSink) -> None:
        """Pass all documents to a sink; weights are ignored.

        Raises:
            TrainingError: there is no text.
        """
        source = self.source()
        with counting_progress(source.size, self.progress) as report:
            source.feed(sink, report)
        self._note(source)
        self.check_bytes()

    def _note(self, source: DocumentSource) -> None:
        """Record the totals of a source that was counted completely."""
        self.was_read = source.read()
        if self._hashing is not None:
            self._hashing.begin()

    def _check_without_files(self) -> None:
        if self.reading.separator is not None:
            given = "counts are given" if self._texts is None else "texts= are documents already"
            raise OptionError(f"separator= is for files, but {given}: leave it out")
        if self.reading.field != Reading.field or self.reading.read_as is not None:
            raise OptionError("field= and read_as= are for files, and none are given")
        if self.reading.encoding_errors != "strict":
            raise OptionError("encoding_errors= is for files, but no files are given")
        if self.reading.weights:
            raise OptionError("weights= is for files, but no files are given")
        if self.reading.selects and self._texts is None:
            raise OptionError("sample= and deduplicate= are for text, not for counts")

    def check_bytes(self) -> None:
        """Raise TrainingError if there is no text."""
        if self.bytes == 0:
            raise TrainingError(f"there is no text to train on: {self._why_empty()}")

    def _why_empty(self) -> str:
        """Return what left no text, and what to do about it."""
        if self.given_counts is not None:
            return "the counts are empty"
        if self.was_read.bytes:
            return "the weights round all counts to 0; use larger weights="
        if self.reading.sample != 1:
            return (
                f"the corpus is empty, or sample={self.reading.sample:g} selects none of its "
                "documents (a text file without separator= is one document); use a larger "
                "sample=, or another seed="
            )
        return "the corpus is empty"

    def check_left(self, number: int) -> None:
        """Raise TrainingError if ``min_count`` leaves none of the chunks or words.

        Args:
            number: the number of those that are left.
        """
        if number == 0 and self.limits.min_count > 1:
            given = self.given_counts
            size = self.was_read.weighted_bytes if given is None else given.bytes
            raise TrainingError(
                f"min_count={self.limits.min_count} leaves nothing of the text "
                f"({count_of(size, 'byte')} in {count_of(self.documents, 'document')}): use a "
                "smaller min_count"
            )
