"""Sources of documents: files, or an iterable of texts."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from toksmith._base.arrays import Bounds
from toksmith._base.text import Text, Texts, utf8
from toksmith.corpus.blocks import (
    BLOCK,
    STREAMED,
    Batching,
    Block,
    Cut,
    cut_bounds,
)
from toksmith.corpus.checking import check_slices
from toksmith.corpus.document_sample import Selection
from toksmith.corpus.file_blocks import file_blocks
from toksmith.corpus.hashing import FileHash, Hashing, KnownHash
from toksmith.corpus.options import Reading
from toksmith.corpus.paths import ONE, AnyPath, expand_all, weighted_runs
from toksmith.corpus.prefetch import prefetch
from toksmith.corpus.remote import FilePath
from toksmith.corpus.streams import file_size, kind_of, read_head
from toksmith.corpus.text_sample import KnownSample, TextSample, sample_size
from toksmith.engine.columns import blocks_of, size_of, texts_of
from toksmith.errors import warn


class DocumentSink(Protocol):
    """A consumer of the documents of a source."""

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count documents."""

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count slices of a text as documents."""

    def cut(self, text: Text, start: int, end: int) -> int:
        """Return the first byte from ``start`` on where a document may be cut, or ``end``."""


class DocumentSource(Protocol):
    """A corpus that can be counted once."""

    size: int | None
    """The final value passed to ``report``; ``None`` if unknown."""

    def feed(self, counter: DocumentSink, report: Callable[[int], None]) -> int:
        """Count all documents, report the number of bytes done, and return the number of documents.

        Weights are ignored.
        """

    def parts(self) -> Sequence[tuple[int, DocumentSource]]:
        """Return the parts in order, each with its weight in millionths."""

    def read(self) -> ReadTotals:
        """Return the totals of the text read so far."""


class FileRead(NamedTuple):
    """The documents and bytes that were read of a file.

    Attributes:
        path: the path as given.
        size: the size of the file in bytes.
        documents: the number of documents used.
        bytes: the size of their text in bytes.
        weight: the weight in millionths.
        hash: SHA-256 of the file; ``None`` for a pipe or a remote file, or without hashing.
        sample: documents, and parts of documents, from which figures of the file are estimated;
            ``None`` if none were kept.
    """

    path: FilePath
    size: int
    documents: int
    bytes: int
    weight: int
    hash: FileHash | KnownHash | None
    sample: TextSample | KnownSample | None = None


@dataclass
class ReadTotals:
    """The documents and bytes that were read of a corpus.

    Attributes:
        documents: the number of documents used.
        bytes: the size of their text in bytes.
        stored: the size of the files in bytes.
        skipped: the number of documents left out, by reason.
        files: the totals of each file.
    """

    documents: int = 0
    bytes: int = 0
    stored: int = 0
    skipped: dict[str, int] = field(default_factory=Counter)
    files: list[FileRead] = field(default_factory=list)

    def skip_nulls(self, path: FilePath, nulls: int) -> None:
        """Note documents without a text, and warn of the first ones."""
        if not self.skipped.get("null"):
            warn(
                f"{path} holds documents without a text (null): they are left out, there and in "
                "other files",
            )
        self.skipped["null"] = self.skipped.get("null", 0) + nulls

    @property
    def weighted_bytes(self) -> int:
        """The size of the text in bytes, times the weights of the files."""
        if not self.files:
            return self.bytes
        return (sum(file.bytes * file.weight for file in self.files) + ONE // 2) // ONE


def check_field(files: Sequence[FilePath], reading: Reading) -> None:
    """Check that ``field`` is not given for text files only, which have no fields.

    Raises:
        OptionError: ``field`` is given, and all files are text.
        FormatError: a file cannot be read, or its name contradicts its first bytes.
    """
    if reading.names_field and files:
        kinds = (kind_of(path, read_head(path), reading.read_as) for path in files)
        if all(kind.content == "text" for kind in kinds):
            reading.refuse_field(files[0])


class Files:
    """The documents of files.

    Args:
        paths: a path, a directory (all files below it), a pattern such as ``"*.txt"``, or a list
            of them. Files are read in the given order, those of a directory or pattern by name.
        reading: the options of reading.
        hashing: hashes the files; ``None`` for no hashes.
        streamed: the number of bytes to decompress at a time.
        check_fields: whether ``field`` is refused if all of these files are text. ``False`` for
            some of the files of a call, which calls :func:`check_field` with all of them.
        threads: the number of threads that may decode one file.
        memory: the memory limit in bytes, of which the digests of deduplication take a share.
        sampled: whether a sample of each file's text is kept.

    Raises:
        FormatError: a file does not exist, or a pattern or directory has no files.
        OptionError: a weight names no file, or ``field`` is given and all files are text.
    """

    def __init__(
        self,
        paths: AnyPath | Sequence[AnyPath],
        reading: Reading | None = None,
        hashing: Hashing | None = None,
        streamed: int = STREAMED,
        *,
        check_fields: bool = True,
        threads: int = 1,
        memory: int | None = None,
        sampled: bool = False,
    ) -> None:
        self._reading = reading or Reading()
        self._memory = memory
        self._runs = weighted_runs(expand_all(paths), self._reading.weights)
        files = [path for _, paths in self._runs for path in paths]
        sizes = [file_size(path) for path in files if path.is_file()]
        self.size: int | None = (
            sum(sizes) if len(sizes) == len(files) else None
        )  # unknown if there is a pipe
        self._selection = self._new_selection()
        self._hashing = hashing
        self._streamed = streamed
        self._threads = threads
        self._read = ReadTotals()
        self._sample_size = sample_size(len(files), self.size) if sampled else None
        if check_fields:
            check_field(files, self._reading)

    def parts(self) -> list[tuple[int, Files]]:
        """Return the runs of files of equal weight."""
        found = []
        for run in self._runs:
            part = copy.copy(self)  # shares the selection and the totals
            part._runs = [run]
            found.append((run[0], part))
        return found

    def split(self, least: int) -> list[Files]:
        """Split the files into groups of at least ``least`` bytes.

        With deduplication or weights, there is one group.
        """
        if self._reading.weights or self._reading.deduplicate:
            return [self]
        ((_, paths),) = self._runs
        stretches: list[list[FilePath]] = []
        size = least
        for path in paths:
            if size >= least:
                stretches.append([])
                size = 0
            stretches[-1].append(path)
            size += file_size(path)
        return [self._part(stretch) for stretch in stretches]

    def _part(self, paths: list[FilePath]) -> Files:
        """Return some of the files as a separate source."""
        part = copy.copy(self)
        part._runs = [(self._runs[0][0], paths)]
        part.size = sum(map(file_size, paths))
        part._selection = self._new_selection()
        part._read = ReadTotals()
        return part

    def _new_selection(self) -> Selection | None:
        return Selection(self._reading, self._memory) if self._reading.selects else None

    def read(self) -> ReadTotals:
        """Return the totals of the text read so far."""
        if self._selection is not None:
            self._selection.count_skipped(self._read.skipped)
        return self._read

    def feed(self, counter: DocumentSink, report: Callable[[int], None]) -> int:
        """Count all documents of all files."""
        before = self._read.documents
        batching = Batching(counter)
        for weight, paths in self._runs:
            for path in paths:
                self._feed_file(path, weight, counter.cut, batching, report)
        batching.flush()
        return self._read.documents - before

    def _feed_file(
        self,
        path: FilePath,
        weight: int,
        cut: Cut,
        batching: Batching,
        report: Callable[[int], None],
    ) -> None:
        hashed = None
        if self._hashing and isinstance(path, Path) and path.is_file():  # others are read only once
            hashed = self._hashing.start(path)
        sample = self._new_sample(path)
        documents = size = done = 0
        with closing(self._selected_blocks(path, cut)) as blocks:
            for block in blocks:
                if block.nulls:
                    self._read.skip_nulls(path, block.nulls)
                for bounds in cut_bounds(block, cut):
                    text, slices = block.data, bounds
                    if block.offset is not None:
                        errors = self._reading.encoding_errors
                        text, slices = check_slices(path, text, bounds, errors, block.offset)
                    batching.add_slices(text, slices)
                    if sample is not None:
                        sample.add(text, slices)
                    size += int((slices[:, 1] - slices[:, 0]).sum())
                    done = max(done, block.done - int(block.bounds[-1, 1] - bounds[-1, 1]))
                    report(self._read.stored + done)
                documents += block.documents
                done = block.done
                if hashed is not None:
                    hashed.follow(done)
        done = max(done, file_size(path))
        self._read.stored += done
        report(self._read.stored)
        self._read.documents += documents
        self._read.bytes += size
        if hashed is not None:
            hashed.follow(None)
        self._read.files.append(FileRead(path, done, documents, size, weight, hashed, sample))

    def _new_sample(self, path: FilePath) -> TextSample | None:
        if self._sample_size is None:
            return None
        expected = 0
        if isinstance(path, Path) and path.is_file():
            kind = kind_of(path, read_head(path), self._reading.read_as)
            if kind.compression is None and kind.content != "parquet":
                expected = int(file_size(path) * self._reading.sample)
        return TextSample(self._sample_size, expected)

    def _selected_blocks(self, path: FilePath, cut: Cut) -> Generator[Block, None, None]:
        selection = self._selection
        if selection is None:
            return file_blocks(path, self._reading, cut, self._streamed, threads=self._threads)
        if (
            self._reading.is_by_line
            and kind_of(path, read_head(path), self._reading.read_as).content == "text"
        ):
            lines = selection.of_stream
            return prefetch(file_blocks(path, self._reading, cut, self._streamed, lines=lines))
        blocks = file_blocks(path, self._reading, None, self._streamed, threads=self._threads)
        return prefetch(selection.of_blocks(blocks))


class Documents:
    """Documents from any iterable; one block of them is in memory at a time.

    Args:
        texts: a text (a string, or UTF-8 bytes), several, or a mapping from names to these.
        reading: the options that select documents.
        memory: the memory limit in bytes, of which the digests of deduplication take a share.
    """

    size: int | None = None

    def __init__(
        self, texts: Texts, reading: Reading | None = None, memory: int | None = None
    ) -> None:
        self._texts = texts_of(texts)
        self._selection = Selection(reading, memory) if reading and reading.selects else None
        self._read = ReadTotals()

    def parts(self) -> list[tuple[int, Documents]]:
        """Return all documents as one part."""
        return [(ONE, self)]

    def read(self) -> ReadTotals:
        """Return the totals of the text read so far."""
        if self._selection is not None:
            self._selection.count_skipped(self._read.skipped)
        return self._read

    def feed(self, counter: DocumentSink, report: Callable[[int], None]) -> int:
        """Count all documents."""
        for batch, size in self._batches():
            counter.add_texts(batch)
            self._read.documents += len(batch)
            self._read.bytes += size
            report(self._read.bytes)
        return self._read.documents

    def _batches(self) -> Iterator[tuple[Sequence[Text], int]]:
        for batch, size in self._all_batches():
            if self._selection is None:
                yield batch, size
                continue
            kept = self._selection.of_texts([utf8(text) for text in batch])
            yield kept, sum(map(len, kept))

    def _all_batches(self) -> Iterator[tuple[Sequence[Text], int]]:
        if (blocks := blocks_of(self._texts, BLOCK)) is not None:
            yield from ((block, size_of(block)) for block in blocks)
            return
        batch: list[Text] = []
        size = 0
        for text in self._texts:
            if isinstance(text, str) and not text.isascii():
                text = utf8(text)  # bytes, because their number is counted
            batch.append(text)
            size += len(text)
            if size >= BLOCK:
                yield batch, size
                batch, size = [], 0
        if batch:
            yield batch, size
