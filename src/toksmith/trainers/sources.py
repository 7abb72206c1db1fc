"""Where training text comes from: files, or documents that the caller hands over."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Protocol, TypeAlias

from toksmith.arguments import literal
from toksmith.documents import document_bounds, open_mapped
from toksmith.engine import Bounds
from toksmith.errors import FormatError, OptionError
from toksmith.lazy import np
from toksmith.text import Text, utf8

AnyPath: TypeAlias = "str | PathLike[str]"

BLOCK = 1 << 25
"""How many bytes are counted between two looks at the progress bar and at Ctrl-C."""


class Counter(Protocol):
    """What a source hands its documents to."""

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count documents."""

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count slices of a text as documents."""

    def cut(self, text: Text, start: int, end: int) -> int:
        """Return the first byte from ``start`` on where a document may be cut, or ``end``."""


class Source(Protocol):
    """A corpus that can be counted, once."""

    size: int | None
    """Its bytes, where they are known beforehand."""

    def feed(self, counter: Counter, report: Callable[[int], None]) -> int:
        """Count all documents, tell ``report`` the bytes done, and return how many there are."""


class Files:
    """The documents of files.

    Args:
        paths: a path, a directory (all files below it), a pattern such as ``"*.txt"``, or a list
            of them. Files are read in the given order, those of a directory or pattern by name.
        separator: what stands between the documents of a file; see
            :func:`toksmith.documents.document_bounds`.

    Raises:
        FormatError: there is no such file, or a pattern or directory gives none.
    """

    def __init__(self, paths: AnyPath | Sequence[AnyPath], separator: str | None = None) -> None:
        if separator is not None:
            literal("separator", separator)
        if isinstance(paths, bytes) or not isinstance(paths, str | PathLike | Iterable):
            raise OptionError(
                f"files is {paths!r:.80}: use a path, a directory, a pattern, or a list of them"
            )
        several = [paths] if isinstance(paths, str | PathLike) else list(paths)
        self.paths = [found for path in several for found in expand(path)]
        if not self.paths:
            raise OptionError("no files to train on: the list is empty")
        self._separator = separator
        self.size: int | None = sum(path.stat().st_size for path in self.paths)

    def feed(self, counter: Counter, report: Callable[[int], None]) -> int:
        """Count all documents of all files."""
        documents = done = 0
        for path in self.paths:
            with open_mapped(path) as data:
                bounds = document_bounds(data, self._separator)
                documents += len(bounds)
                for block in _blocks(data, bounds, counter):
                    counter.add_slices(data, block)
                    report(done + int(block[-1, 1]))
                done += len(data)
        return documents


class Documents:
    """Documents from any iterable; only a block of them is held at a time.

    Args:
        texts: strings, or UTF-8 bytes.
    """

    size: int | None = None

    def __init__(self, texts: Iterable[Text]) -> None:
        if isinstance(texts, str | bytes):
            raise OptionError("texts is one string; give a list of documents")
        if not isinstance(texts, Iterable):
            raise OptionError(f"texts is {texts!r:.80}: give a list of documents")
        self._texts = texts

    def feed(self, counter: Counter, report: Callable[[int], None]) -> int:
        """Count all documents."""
        documents = done = 0
        for batch, size in self._batches():
            try:
                counter.add_texts(batch)
            except UnicodeEncodeError:
                counter.add_texts([utf8(text) for text in batch])
            documents += len(batch)
            done += size
            report(done)
        return documents

    def _batches(self) -> Iterator[tuple[list[Text], int]]:
        batch: list[Text] = []
        size = 0
        for text in self._texts:
            if not isinstance(text, str | bytes | bytearray | memoryview):
                raise OptionError(f"texts holds a {type(text).__name__}; each must be a str")
            batch.append(text)
            size += len(text)
            if size >= BLOCK:
                yield batch, size
                batch, size = [], 0
        if batch:
            yield batch, size


def expand(path: AnyPath) -> list[Path]:
    """Return the files that a path, a directory or a pattern stands for, by name.

    Raises:
        FormatError: there are none.
        OptionError: it is no path, or an empty one.
    """
    if not isinstance(path, str | PathLike):
        raise OptionError(f"files holds {path!r:.80}; each must be a path")
    if path == "":
        raise OptionError("files holds an empty path; the current folder is '.'")
    found = Path(path)
    if found.is_dir():
        files = sorted(file for file in found.rglob("*") if file.is_file())
        if not files:
            raise FormatError(path, "the directory holds no files")
        return files
    if found.exists():
        return [found]
    if glob.has_magic(fspath(path)):
        matched = glob.glob(fspath(path), recursive=True)  # noqa: PTH207  # absolute ones too
        files = sorted(file for file in map(Path, matched) if file.is_file())
        if not files:
            raise FormatError(path, "the pattern matches no file")
        return files
    raise FormatError(path, "there is no such file or directory")


def _blocks(data: Text, bounds: Bounds, counter: Counter) -> Iterator[Bounds]:
    """Cut documents into blocks of about ``BLOCK`` bytes, long ones where no chunk is cut."""
    block: list[tuple[int, int]] = []
    size = 0
    for start, end in bounds.tolist():
        begin = start
        while end - begin > 2 * BLOCK:
            cut = counter.cut(data, begin + BLOCK, end)
            if cut >= end:
                break
            yield np.array([*block, (begin, cut)], np.int64)
            block, size, begin = [], 0, cut
        block.append((begin, end))
        size += end - begin
        if size >= BLOCK:
            yield np.array(block, np.int64)
            block, size = [], 0
    if block:
        yield np.array(block, np.int64)
