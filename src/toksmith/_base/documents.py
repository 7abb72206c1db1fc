"""Documents in files, read or mapped into memory as bytes, never as Python strings."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from toksmith._base.checks import literal
from toksmith._base.lazy import np, npt
from toksmith.errors import FormatError, OptionError

LARGE = 1 << 30
"""Files of fewer bytes are never mapped into memory, and are read into Python's own."""

_GROUP_MEMORY = Path("/sys/fs/cgroup/memory.max")
"""The limit of the memory of a container, in bytes."""

BLOCK = 1 << 23
"""Bytes that are read at once."""


@contextmanager
def open_mapped(path: str | PathLike[str]) -> Iterator[mmap.mmap | bytearray | bytes]:
    """Open a file for reading in one piece: read as a whole, or mapped if memory is too small.

    A file is read where half of the memory can hold it, because a map ends the process (SIGBUS)
    when another process cuts the file short meanwhile.

    Args:
        path: a file, a pipe or a device.

    Raises:
        FormatError: it does not exist, is a directory, or may not be read.
        OptionError: the path is no path.
    """
    if not isinstance(path, str | PathLike):
        raise OptionError(f"a path is a str or a Path, not {type(path).__name__}")
    if path == "":
        raise OptionError("the path is empty: give the name of a file")
    try:
        with Path(path).open("rb") as file:
            data = _mapped(file) or _read(file)
    except OSError as wrong:
        raise FormatError(path, f"cannot be read: {wrong.strerror or wrong}") from wrong
    except ValueError as wrong:  # a null character in the path
        raise FormatError(path, f"cannot be read: {wrong}") from wrong
    try:
        yield data
    finally:
        if isinstance(data, mmap.mmap):
            with suppress(BufferError):  # an error on its way still holds a view; it goes last
                data.close()


def _mapped(file: BinaryIO) -> mmap.mmap | None:
    """Return the map of a very large file; ``None`` of a smaller one, a pipe or a device."""
    if os.fstat(file.fileno()).st_size <= most_read():
        return None
    try:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None


def most_read() -> int:
    """Return the size in bytes of the largest file that is read, not mapped."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # on Windows, and where the system does not tell
        memory = 0
    with suppress(OSError, ValueError):  # no limit, or no groups
        memory = min(memory, int(_GROUP_MEMORY.read_text()))
    return max(LARGE, memory // 2)


def _read(file: BinaryIO) -> mmap.mmap | bytearray | bytes:
    """Return the bytes of a file."""
    size = os.fstat(file.fileno()).st_size
    if size >= LARGE:
        return _read_large(file, size)
    return read_pieces(file, size) if size else file.read()  # a pipe, a device, or an empty file


def _read_large(file: BinaryIO, size: int) -> mmap.mmap | bytes:
    """Return the next bytes of a file, at most ``size``, in memory of large pages.

    That takes a third less processor time than :func:`read_pieces`.
    """
    data = mmap.mmap(-1, size)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a kernel without them
            data.madvise(mmap.MADV_HUGEPAGE)
    end = 0
    with memoryview(data) as view:
        while end < size and (count := file.readinto(view[end : end + BLOCK])):  # type: ignore[attr-defined]
            end += count
    if end == size:
        return data
    with data:  # the file became shorter
        return data[:end]


def read_pieces(file: BinaryIO, size: int) -> bytearray:
    """Return the next bytes of a file, at most ``size``; a single large read delays Ctrl-C."""
    data = bytearray()  # grows without copies; bytearray(size) would write all of it first
    while piece := file.read(min(BLOCK, size - len(data))):
        data += piece
    return data


def document_bounds(
    data: mmap.mmap | bytearray | bytes, separator: str | None
) -> npt.NDArray[np.int64]:
    """Return the start and end of each document: int64, shape ``(documents, 2)``, in bytes.

    The separator belongs to no document. What follows the last separator is a document unless it
    is empty; a file without a separator is one document.

    Raises:
        OptionError: the separator is empty, or no string of characters.

    Example:
        >>> document_bounds(b"one|two|", "|").tolist()
        [[0, 3], [4, 7]]
    """
    if separator is None:
        return np.array([[0, len(data)]], np.int64)
    between = literal("separator", separator)
    bounds = []
    start = 0
    while (end := data.find(between, start)) >= 0:
        bounds.append((start, end))
        start = end + len(between)
    if start < len(data):
        bounds.append((start, len(data)))
    return np.array(bounds, np.int64).reshape(-1, 2)


def exists(name: str) -> bool:
    """Return whether there is a file or folder of this name; no text is one by being too long.

    Example:
        >>> exists("."), exists(""), exists("no such file"), exists("long " * 1000)
        (True, False, False, False)
    """
    try:
        return name != "" and Path(name).exists()  # an empty path is the current folder
    except (OSError, ValueError):  # a text too long for a name, or with a null character
        return False


def looks_like_path(text: str) -> bool:
    """Return whether a string that is the name of no file was most likely meant to be one.

    Example:
        >>> looks_like_path("corpus/a.txt"), looks_like_path("and/or either")
        (True, False)
    """
    is_one_word = len(text.split()) == 1
    return is_one_word and (os.sep in text or len(Path(text).suffix) > 1)
