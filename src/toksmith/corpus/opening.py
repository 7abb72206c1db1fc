"""Opens one file as documents in memory, by the rules of a corpus."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike

from toksmith._base.arrays import Bounds
from toksmith._base.documents import document_bounds, open_mapped
from toksmith._base.text import Text, utf8
from toksmith.corpus.blocks import block_of
from toksmith.corpus.checking import HEAD, check_slices, text_start
from toksmith.corpus.options import Reading
from toksmith.corpus.paths import AnyPath
from toksmith.corpus.remote import FilePath, RemoteFile, as_file
from toksmith.corpus.streams import Kind, kind_of, open_binary, read_head
from toksmith.errors import OptionError


@contextmanager
def open_documents(
    path: AnyPath, reading: Reading, *, check_fields: bool = True
) -> Iterator[tuple[Text, Bounds]]:
    """Open a file as its documents: yield a text and the bounds of documents in it.

    Text is read or mapped in one piece, without a byte order mark at its start. JSON Lines,
    Parquet, CSV, TSV and compressed files are unpacked into memory.

    Args:
        path: a file, a pipe or a device.
        reading: the options of reading; weights, sample and deduplication are ignored.
        check_fields: whether ``field`` is refused if the file is text. ``False`` for one of several
            files, if :func:`~toksmith.corpus.sources.check_field` was called with all of them.

    Raises:
        FormatError: the file cannot be read, is not UTF-8 text, or has no such field.
    """
    if is_plain(path, reading):
        if check_fields and reading.names_field:
            reading.refuse_field(as_file(path))
        with _open_whole(path) as data:
            yield slice_text(as_file(path), data, reading)
        return
    from toksmith.corpus.sources import Files

    documents = _Documents()
    Files(path, reading, check_fields=check_fields).feed(documents, lambda _: None)
    block = block_of(documents.found, 0)
    yield block.data, block.bounds


@contextmanager
def _open_whole(path: AnyPath) -> Iterator[mmap.mmap | bytearray | bytes]:
    file = as_file(path)
    if isinstance(file, RemoteFile):
        with open_binary(file) as remote:
            yield remote.read()
        return
    with open_mapped(path) as data:
        yield data


def slice_text(
    path: FilePath, data: mmap.mmap | bytearray | bytes, reading: Reading
) -> tuple[Text, Bounds]:
    """Return a text and its documents, without a byte order mark at the start of the text.

    Args:
        path: the file, for the message.
        data: its content.
        reading: how; only ``separator`` and ``encoding_errors`` count.

    Raises:
        FormatError: the content is not UTF-8 text.
    """
    bounds = document_bounds(data, reading.separator)
    if start := text_start(path, bytes(data[:HEAD])):
        bounds[:1, 0] = start
    return check_slices(path, data, bounds, reading.encoding_errors)


def is_plain(path: AnyPath, reading: Reading) -> bool:
    """Return whether a file is uncompressed text without rows, which can be one document.

    Raises:
        FormatError: the file cannot be read, or its name contradicts its first bytes.
        OptionError: ``path`` is no path.
    """
    if not isinstance(path, str | PathLike):
        raise OptionError(f"a path is a str or a Path, not {type(path).__name__}")
    file = as_file(path)
    return file.is_dir() or kind_of(file, read_head(file), reading.read_as) == Kind("text")


class _Documents:
    """A sink that stores its documents."""

    def __init__(self) -> None:
        self.found: list[bytes] = []

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Store documents."""
        self.found += map(utf8, texts)

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Store slices of a text as documents."""
        with memoryview(utf8(text)) as view:
            self.found += [bytes(view[start:end]) for start, end in bounds.tolist()]

    def cut(self, text: Text, start: int, end: int) -> int:
        """Return the end, because documents are not cut."""
        return end
