"""What to train on, however it was given, and what was read of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toksmith.errors import OptionError, TrainingError
from toksmith.progress import counting_progress
from toksmith.splitters import PatternSplitter
from toksmith.text import Text
from toksmith.threads import thread_count
from toksmith.trainers.counts import Counts, count_chunks
from toksmith.trainers.sources import AnyPath, Counter, Documents, Files, Source


class Corpus:
    """Files, documents or counts: exactly one of them. It can be read once.

    Args:
        files: paths; see :class:`~toksmith.trainers.sources.Files`.
        texts: documents.
        counts: what was counted before.
        separator: what stands between the documents of a file.
        threads: for counting; ``None`` for the cores this process may use.
        progress: whether to show it; ``None`` where standard error is a terminal.

    Attributes:
        counts: what was counted before, if that was given.
        documents: how many documents were read; 0 for counts.
        bytes: how many bytes of text.

    Raises:
        OptionError: it is not clear what to train on.
    """

    def __init__(
        self,
        files: AnyPath | Sequence[AnyPath] | None = None,
        texts: Iterable[Text] | None = None,
        counts: Counts | None = None,
        separator: str | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> None:
        given = [name for name, value in (("files", files), ("texts", texts), ("counts", counts))
                 if value is not None]  # fmt: skip
        if len(given) != 1:
            raise OptionError(
                "train on exactly one of files, texts= and counts=, not on "
                f"{' and '.join(given) or 'nothing'}"
            )
        if separator is not None and files is None:
            raise OptionError(
                "separator= stands inside files; documents in texts= are apart already"
            )
        if counts is not None and not isinstance(counts, Counts):
            raise OptionError(f"counts is {type(counts).__name__}: use Counts, or Counts.of(…)")
        self.counts = counts
        self.separator = separator
        self.progress = progress
        self.documents = counts.documents if counts is not None else 0
        self.bytes = counts.bytes if counts is not None else 0
        self._files, self._texts = files, texts
        self._threads = threads

    @property
    def threads(self) -> int:
        """How many threads may run."""
        return thread_count(self._threads)

    def source(self) -> Source:
        """Return the text.

        Raises:
            OptionError, FormatError: there are no such files, or they are no texts.
        """
        if self._texts is not None:
            return Documents(self._texts)
        return Files(self._files or (), self.separator)

    def read(self, counter: Counter) -> None:
        """Let a counter count all documents.

        Raises:
            TrainingError: there is no text.
        """
        source = self.source()
        with counting_progress(source.size, self.progress) as report:

            def note(done: int) -> None:
                self.bytes = done
                report(done)

            self.documents = source.feed(counter, note)
        self.check_bytes()

    def chunks(self, splitter: PatternSplitter | None) -> Counts:
        """Return the chunks of all documents; those that were counted before as they are.

        Raises:
            TrainingError: there is no text.
        """
        if self.counts is None:
            counts = count_chunks(self.source(), splitter, self.threads, self.progress)
            self.documents, self.bytes = counts.documents, counts.bytes
        else:
            counts = self.counts
        self.check_bytes()
        return counts

    def check_bytes(self) -> None:
        """Raise TrainingError where there is no text."""
        if self.bytes == 0:
            raise TrainingError("there is no text to train on: the corpus is empty")
