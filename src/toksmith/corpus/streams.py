"""Streams of a file's bytes in blocks, decompressed if it is compressed.

The kind of a file follows from its suffixes and its first bytes. If no suffix names a kind, the
bytes decide; a suffix that contradicts them is an error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from toksmith._base.lazy import extra
from toksmith.corpus.blocks import STREAMED
from toksmith.corpus.remote import FilePath
from toksmith.errors import FormatError

_COMPRESSIONS = {".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd"}
_CONTENTS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
}
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PAR1": "parquet",
    # a frame to be skipped, which pzstd writes before each frame of data
    **{bytes([first, 0x2A, 0x4D, 0x18]): "zstd" for first in range(0x50, 0x60)},
}
_UNREADABLE = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
}


@dataclass(frozen=True)
class Kind:
    """The kind of a file: its content and its compression.

    Attributes:
        content: ``"text"``, ``"jsonl"``, ``"parquet"``, ``"csv"`` or ``"tsv"``.
        compression: ``"gzip"``, ``"zstd"`` or ``None``.
    """

    content: str
    compression: str | None = None


def kind_of(path: FilePath, head: bytes | None, read_as: str | None = None) -> Kind:
    """Return the content and compression of a file.

    Args:
        path: the file; its suffixes show its kind.
        head: its first bytes; ``None`` if unknown, as for a pipe.
        read_as: the content; overrides the suffix.

    Raises:
        FormatError: its name contradicts its first bytes, or the format is not supported.

    Example:
        >>> from pathlib import Path
        >>> kind_of(Path("web.jsonl.gz"), bytes([31, 139, 8, 0]))
        Kind(content='jsonl', compression='gzip')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    named = _COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    inner = (suffixes[:-1] if named else suffixes)[-1:]
    content = read_as or _CONTENTS.get("".join(inner), "text")
    if head is None:
        return Kind(content, named)
    found = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    for magic, name in _UNREADABLE.items():
        if head.startswith(magic) and read_as is None:
            raise FormatError(path, f"holds {name} data: unpack it, or use gzip or zstd")
    if found == "parquet" and not named and read_as in (None, "parquet"):
        if content not in ("text", "parquet"):
            raise FormatError(path, "is Parquet, whatever its name says; name it .parquet")
        return Kind("parquet")
    if content == "parquet":
        raise FormatError(path, "is no Parquet file: it does not start with PAR1")
    if found != named and named:
        raise FormatError(path, f"is no {named} file, whatever its name says")
    return Kind(content, found)


_READ = 1 << 18


class Unpacker(Protocol):
    """Decompresses one stream of a file, with the interface of Python's own decompressors."""

    @property
    def eof(self) -> bool:
        """Whether the stream is at its end."""

    @property
    def unused_data(self) -> bytes:
        """The bytes after the end of the stream."""

    @property
    def needs_input(self) -> bool:
        """Whether more input is needed for more output."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most ``max_length`` more bytes."""


class _Gzip:
    """zlib's decompressor with the interface of ``Unpacker``."""

    def __init__(self) -> None:
        import zlib

        self._inner = zlib.decompressobj(wbits=31)
        self._rest = b""

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._rest

    def decompress(self, data: bytes, max_length: int) -> bytes:
        found = self._inner.decompress(self._rest + data, max_length)
        self._rest = self._inner.unconsumed_tail
        return found


def _zstd() -> Any:
    """Return the module for zstd.

    Raises:
        MissingExtraError: no such module is installed.
    """
    if sys.version_info >= (3, 14):
        return import_module("compression.zstd")
    return extra("backports.zstd", "corpus")


def _unpackers(compression: str) -> tuple[Callable[[], Unpacker], type[Exception]]:
    """Return the factory of unpackers of a compression, and the class of its errors."""
    if compression == "gzip":
        import zlib

        return _Gzip, zlib.error
    zstd = _zstd()
    # Large archives use windows of up to 2 GiB; the memory is allocated only for such an archive.
    window = {zstd.DecompressionParameter.window_log_max: 31}
    return lambda: zstd.ZstdDecompressor(options=window), zstd.ZstdError


def read_stream(
    path: FilePath, compression: str | None, most: int = STREAMED
) -> Iterator[tuple[bytes, int]]:
    """Yield a file's decompressed bytes in blocks, with the number of bytes of the file read.

    Args:
        path: the file.
        compression: ``"gzip"`` or ``"zstd"``, with any number of concatenated streams.
        most: the maximum size of a block in bytes.

    Raises:
        FormatError: the file cannot be read, is damaged, or ends too early.
        MissingExtraError: a package for the compression is not installed.
    """
    with open_binary(path) as file:
        if compression is None:
            done = 0
            while block := file.read(most):
                done += len(block)
                yield block, done
        else:
            yield from _unpacked(path, file, compression, most)


def read_whole_lines(path: Path, most: int = STREAMED) -> Iterator[tuple[bytearray, int]]:
    """Yield an uncompressed local file in blocks of whole lines; a longer line is in parts.

    The rest after the last line feed of a block is read again with the next one, which costs less
    than copying the block.

    Args:
        path: a regular file.
        most: the maximum size of a block in bytes.

    Yields:
        Blocks, each with the number of bytes from the start of the file to its end.

    Raises:
        FormatError: the file cannot be read.
    """
    done = 0
    with open_binary(path, buffering=0) as file:
        while True:
            block = bytearray(most)
            size = file.readinto(block)  # type: ignore[attr-defined]  # a raw file
            if not size:
                return
            end = block.rfind(b"\n", 0, size) + 1 or size
            del block[end:]
            done += end
            if end < size:
                file.seek(done)
            yield block, done


def read_lines(
    path: FilePath, start: int, end: int, most: int = STREAMED
) -> Iterator[tuple[bytes, int]]:
    """Yield the lines of a file that start in a range of its bytes, in blocks.

    Args:
        path: an uncompressed file.
        start: the start of the range; 0 is the start of the first line.
        end: the end of the range. The last line may end after it.
        most: the maximum size of a block in bytes.

    Yields:
        Parts of the lines, each with the number of bytes from ``start`` to the end of the part.

    Raises:
        FormatError: the file cannot be read.
    """
    with open_binary(path) as file:
        # A line starts after a line feed, so the one before a range is searched for from the
        # byte before it; the range ends with the first line feed from its last byte on.
        place = max(start - 1, 0)
        file.seek(place)
        is_inside = start == 0
        while block := file.read(most):
            first = 0
            if not is_inside and not (first := block.find(b"\n") + 1):
                place += len(block)
                continue
            if not is_inside and place + first >= end:
                return
            is_inside = True
            last = block.find(b"\n", max(end - 1 - place, first)) + 1
            stop = last or len(block)
            if stop > first:
                yield block[first:stop], place + stop - start
            if last:
                return
            place += len(block)


def count_lines(path: FilePath, end: int) -> int:
    """Return the number of line feeds in the first ``end`` bytes of a file."""
    found = 0
    with open_binary(path) as file:
        while end > 0 and (block := file.read(min(STREAMED, end))):
            found += block.count(b"\n")
            end -= len(block)
    return found


def read_head(path: FilePath) -> bytes | None:
    """Return a file's first bytes; ``None`` for a pipe or a device, which cannot be read twice.

    Raises:
        FormatError: the file cannot be read.
    """
    if not path.is_file():
        return None
    with open_binary(path, buffering=0) as file:
        return file.read(16)


def file_size(path: FilePath) -> int:
    """Return the size of a file in bytes; 0 for a pipe or a device.

    Raises:
        FormatError: the file cannot be read.
    """
    with file_errors(path):
        return path.stat().st_size


def _unpacked(
    path: FilePath, file: BinaryIO, compression: str, most: int
) -> Iterator[tuple[bytes, int]]:
    make, damage = _unpackers(compression)
    done = 0

    def more() -> bytes:
        nonlocal done
        packed = file.read(_READ)
        done += len(packed)
        return packed

    unpacker = make()
    packed = more()
    found: list[bytes] = []
    size = 0
    try:
        while True:
            if unpacker.needs_input and not packed:
                packed = more()
                if not packed:
                    raise FormatError(path, f"the {compression} data ends too early")
            piece = unpacker.decompress(packed, most - size)
            packed = b""
            found.append(piece)
            size += len(piece)
            if size >= most:
                yield b"".join(found), done
                found, size = [], 0
            if unpacker.eof:
                packed = unpacker.unused_data or more()
                while compression == "gzip" and packed and not packed.strip(b"\0"):
                    packed = more()  # it may be filled up with zeros
                if not packed:
                    break
                unpacker = make()
    except damage as wrong:
        raise FormatError(path, f"the {compression} data is damaged: {wrong}") from wrong
    if size:
        yield b"".join(found), done


@contextmanager
def open_binary(path: FilePath, buffering: int = -1) -> Iterator[BinaryIO]:
    """Open a file; ``buffering`` is that of :func:`open`.

    Raises:
        FormatError: it cannot be read, now or later.
    """
    with file_errors(path), path.open("rb", buffering) as file:
        yield file


@contextmanager
def file_errors(path: FilePath) -> Iterator[None]:
    """Raise FormatError if the system cannot read a file.

    Raises:
        FormatError: an OSError was raised.
    """
    try:
        yield
    except OSError as wrong:
        raise FormatError(path, f"cannot be read: {wrong.strerror or wrong}") from wrong
