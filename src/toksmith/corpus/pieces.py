"""Pieces of a corpus: stretches of files that are read independently, in any order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from toksmith._base.checks import whole
from toksmith._base.lazy import hashlib
from toksmith.corpus.blocks import Block, Cut, Damage
from toksmith.corpus.checking import check_slices
from toksmith.corpus.document_sample import Selection
from toksmith.corpus.file_blocks import can_cut, file_blocks
from toksmith.corpus.options import Reading
from toksmith.corpus.paths import AnyPath, expand_all
from toksmith.corpus.remote import FilePath, RemoteFile
from toksmith.corpus.sources import check_field
from toksmith.corpus.streams import file_errors, file_size, kind_of, open_binary, read_head
from toksmith.errors import FormatError, OptionError

_SHARE = 1 << 16
"""The number of bytes of each part of a file that its fingerprint holds."""


@dataclass(frozen=True)
class Piece:
    """A stretch of one file. A document belongs to the piece in which it starts.

    Attributes:
        path: the file.
        start: its first byte, or its first row group in Parquet.
        end: the byte or row group after its last one; 0 and the size of the file for files that
            are read as a whole.
        size: the number of bytes of the file that it covers.
    """

    path: FilePath
    start: int
    end: int
    size: int


def pieces(
    files: AnyPath | Sequence[AnyPath], reading: Reading, size: int = 1 << 28
) -> list[Piece]:
    r"""Return the pieces of files, in order; together they hold each document once.

    JSON Lines and text with a separator are cut by bytes, Parquet by row groups. A file stays whole
    if it is compressed, CSV or TSV, or text without a separator or with one that can overlap
    itself, such as ``"\n\n"``.

    Args:
        files: a path, a directory, a pattern, a URL of these, or a list of them.
        reading: the options of reading.
        size: the number of bytes of a piece; a row group may be larger.

    Raises:
        FormatError: a file does not exist or cannot be read.
        OptionError: an option cannot be used here.
    """
    whole("size", size, least=1)
    if reading.deduplicate or reading.weights:
        name = "deduplicate" if reading.deduplicate else "weights"
        raise OptionError(f"{name} cannot be used here: each piece of a corpus is read by itself")
    paths = expand_all(files)
    check_field(paths, reading)
    return [piece for path in paths for piece in _pieces(path, reading, size)]


def _pieces(path: FilePath, reading: Reading, size: int) -> Iterator[Piece]:
    if not path.is_file():
        raise FormatError(path, "is a pipe or a device: save its text to a file first")
    stored = file_size(path)
    kind = kind_of(path, read_head(path), reading.read_as)
    if kind.content == "parquet":
        from toksmith.corpus.parquet import group_sizes

        start = covered = 0
        sizes = group_sizes(path, stored)
        if not sizes:
            yield Piece(path, 0, 0, stored)
        for place, group in enumerate(sizes, 1):
            covered += group
            if covered >= size or place == len(sizes):
                yield Piece(path, start, place, covered)
                start, covered = place, 0
        return
    if not can_cut(kind, reading) or not stored:
        yield Piece(path, 0, stored, stored)
        return
    for start in range(0, stored, size):
        end = min(start + size, stored)
        yield Piece(path, start, end, end - start)


def read_piece(
    piece: Piece,
    reading: Reading,
    skip: Callable[[Damage], None] | None = None,
    cut: Cut | None = None,
) -> Generator[Block, None, None]:
    """Yield the documents of a piece in order, in blocks of whole documents in valid UTF-8.

    The ``done`` of a block is the number of bytes of the piece read so far, at most its ``size``.
    Documents without a text (null) are left out, and counted in the ``nulls`` of a block.

    Args:
        piece: the piece.
        reading: the options that it was made with.
        skip: is called with each damaged record, before the block that it would be in; the record
            is left out. ``None`` raises an error. It is called in the thread of the caller.
        cut: finds places to cut long documents at, which then come in parts; ``None`` holds each
            whole in memory. Not used if documents are selected.

    Raises:
        FormatError: the file cannot be read; a record is damaged, and ``skip`` is ``None``; or a
            compressed stream or Parquet file is damaged, which cannot be skipped.
        MissingExtraError: a package for the format is not installed.
    """
    path = piece.path
    span = (piece.start, piece.end)
    may_cut = None if reading.selects else cut
    blocks = file_blocks(path, reading, may_cut, span=span, skips=skip is not None)
    if reading.selects:
        blocks = Selection(reading).of_blocks(blocks)
    with closing(blocks):
        for block in blocks if skip is None else _unskippable(path, blocks):
            if skip is not None:
                for damage in block.damaged:
                    skip(damage)
            text, bounds = block.data, block.bounds
            if block.offset is not None:
                errors = reading.encoding_errors
                text, bounds = check_slices(path, text, bounds, errors, block.offset)
            done = min(block.done, piece.size)
            yield block._replace(data=text, bounds=bounds, done=done, offset=None)


def _unskippable(path: FilePath, blocks: Iterator[Block]) -> Generator[Block, None, None]:
    """Yield blocks; an error says that it is none of a record."""
    try:
        yield from blocks
    except FormatError as wrong:
        raise FormatError(path, f"{wrong.reason}. This cannot be skipped") from wrong


def fingerprint(path: FilePath) -> str:
    """Return a string that changes if a file does: its size, and a hash of parts of it.

    The hash is SHA-256 of the first, middle and last 64 KiB; for a remote file, the storage's own
    hash or version if it has one.

    Raises:
        FormatError: the file cannot be read.
    """
    if isinstance(path, RemoteFile):
        with file_errors(path):
            if (tag := path.tag()) is not None:
                return f"{path.stat().st_size}-{tag}"
    found = hashlib.sha256()
    with open_binary(path) as file:
        size = file.seek(0, 2)
        for start in (0, (size - _SHARE) // 2, size - _SHARE):
            file.seek(max(start, 0))
            found.update(file.read(_SHARE))
    return f"{size}-{found.hexdigest()}"
