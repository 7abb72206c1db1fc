"""The corpus of a training: files, texts or counts, and what was read of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from toksmith._base.progress import counting_progress
from toksmith._base.text import Texts
from toksmith._base.threads import thread_count
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
from toksmith.errors import OptionError, TrainingError
from toksmith.splitters import PatternSplitter
from toksmith.tokenizer.training_record import SourceRecord
from toksmith.trainers.counts import Counts, count_chunks, limit_counts, sum_counts
from toksmith.trainers.memory import MemoryLimits

if TYPE_CHECKING:
    from toksmith.trainers.checkpoint import Checkpoint

AnyCounter = TypeVar("AnyCounter", bound=DocumentSink)


class Corpus:
    """Files, documents or counts: exactly one of them. It can be read once.

    Args:
        files: paths; see :class:`~toksmith.corpus.Files`.
        texts: documents.
        counts: what was counted before.
        reading: how files are read, and which documents are taken.
        threads: for counting; ``None`` for the cores this process may use.
        progress: whether to show it; ``None`` if standard error is a terminal.
        hashed: whether hashes are made of the files, meanwhile in a thread; then the corpus is used
            as a context, which ends it.
        limits: how much memory the chunks may take, and which of them are too rare.

    Attributes:
        checkpoint: where counts are kept, and may have been before.
        counts: what was counted before, if that was given.
        was_read: what was read of the text.

    Raises:
        OptionError: it is not clear what to train on.
    """

    def __init__(
        self,
        files: AnyPath | Sequence[AnyPath] | None = None,
        texts: Texts | None = None,
        counts: Counts | None = None,
        reading: Reading | None = None,
        threads: int | None = None,
        progress: bool | None = None,
        hashed: bool = False,
        limits: MemoryLimits | None = None,
    ) -> None:
        given = [name for name, value in (("files", files), ("texts", texts), ("counts", counts))
                 if value is not None]  # fmt: skip
        if len(given) != 1:
            raise OptionError(
                "give files, texts= or counts=, one of them; "
                f"{' and '.join(given) + ' are' if given else 'nothing is'} given"
            )
        self.reading = reading or Reading()
        self._files, self._texts = files, texts
        if files is None:
            self._check_without_files()
        else:
            check_paths(files)
        if counts is not None and not isinstance(counts, Counts):
            raise OptionError(
                f"counts is {type(counts).__name__}: use Counts, such as Counts.of(…) or "
                "Counts.load(path)"
            )
        self.limits = limits or MemoryLimits()
        self.counts = counts = None if counts is None else limit_counts(counts, self.limits)
        self.progress = progress
        self.was_read = ReadTotals()
        self._threads = threads
        self._kept: int | None = None  # bytes of chunks that are not too rare
        self.checkpoint: Checkpoint | None = None
        self._hashing = Hashing() if hashed and files is not None else None

    def __enter__(self) -> Corpus:
        return self

    def __exit__(self, *_: object) -> None:
        if self._hashing is not None:
            self._hashing.close()

    @property
    def documents(self) -> int:
        """The number of documents read."""
        return self.was_read.documents if self.counts is None else self.counts.documents

    @property
    def bytes(self) -> int:
        """How many bytes of text, times the weights of their files; without chunks too rare."""
        if self._kept is not None:
            return self._kept
        return self.was_read.weighted_bytes if self.counts is None else self.counts.bytes

    @property
    def threads(self) -> int:
        """The number of threads that may run."""
        return thread_count(self._threads)

    def source(self) -> DocumentSource:
        """Return the text.

        Raises:
            OptionError, FormatError: there are no such files, or they are no texts.
        """
        if self._texts is not None:
            return Documents(self._texts, self.reading)
        return Files(self._files or (), self.reading, self._hashing)

    def read(self, counter: DocumentSink, what: str) -> None:
        """Let a counter count all documents, without weights.

        Args:
            counter: counts them.
            what: it does, for the message.

        Raises:
            OptionError: some have a weight.
            TrainingError: there is no text.
        """
        source = self.source()
        if any(weight != ONE for weight, _ in source.parts()):
            raise OptionError(f"weights= is not for {what}: lines are taken or not")
        with counting_progress(source.size, self.progress) as report:
            source.feed(counter, report)
        self._note(source)
        self.check_bytes()

    def count(self, make: Callable[[], AnyCounter]) -> Iterator[tuple[int, AnyCounter]]:
        """Let counters count all documents: one counter for each run of documents of one weight.

        Args:
            make: makes a counter.

        Yields:
            Counters with the weight, in millionths, of what they counted.

        Raises:
            TrainingError: there is no text.
        """
        source = self.source()
        with counting_progress(source.size, self.progress) as report:
            for weight, part in source.parts():
                counter = make()
                part.feed(counter, report)
                yield weight, counter
        self._note(source)
        self.check_bytes()

    def chunks(self, splitter: PatternSplitter | None) -> Counts:
        """Return the chunk counts of all documents; counts that were given are returned unchanged.

        Raises:
            TrainingError: there is no text.
        """
        if self.counts is None:
            source = self.source()
            if self.checkpoint is None:
                counts = count_chunks(source, splitter, self.threads, self.progress, self.limits)
                self._note(source)
            else:
                limit = MemoryLimits(self.limits.limit)  # each part is kept whole
                parts, self.was_read = self.checkpoint.count(
                    source,
                    lambda part: count_chunks(part, splitter, self.threads, self.progress, limit),
                )
                counts = sum_counts(parts, self.limits)
        else:
            counts = self.counts
        self.check_bytes()
        if self.limits.min_count > 1:
            self._kept = counts.bytes
        return counts

    def sources(self) -> tuple[SourceRecord, ...]:
        """Return the files that were read, for a record; waits for their hashes.

        Raises:
            FormatError: a file can no longer be read.
        """
        return tuple(
            SourceRecord(
                str(read.path),
                read.size,
                None if read.hash is None else read.hash.hexdigest(),
                read.documents,
                read.bytes,
                read.weight / ONE,
            )
            for read in self.was_read.files
        )

    def _note(self, source: DocumentSource) -> None:
        """Note what was read of a source that was counted to its end."""
        self.was_read = source.read()
        if self._hashing is not None:
            self._hashing.begin()

    def _check_without_files(self) -> None:
        if self.reading.separator is not None:
            raise OptionError(
                "separator= is for files: the documents in texts= are separate already"
            )
        if self.reading.field != Reading.field or self.reading.read_as is not None:
            raise OptionError("field= and read_as= are for files, and none are given")
        if self.reading.encoding_errors != "strict":
            raise OptionError("encoding_errors= is for files, but no files are given")
        if self.reading.weights:
            raise OptionError("weights= are for files, but no files are given")
        if self.reading.selects and self._texts is None:
            raise OptionError("sample= and deduplicate= are for text, not for counts")

    def check_bytes(self) -> None:
        """Raise TrainingError if there is no text."""
        if self.bytes == 0:
            raise TrainingError("there is no text to train on: the corpus is empty")
