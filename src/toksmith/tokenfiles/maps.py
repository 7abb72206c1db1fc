"""Memory maps of token files, checked before they are read.

To read a map beyond the end of its file ends the process (SIGBUS), so a file that became shorter
must be noticed before. A check costs less than a microsecond. It does not help if a file becomes
shorter between the check and the end of the read, or while a caller reads an array that shares the
map.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

from toksmith._base.lazy import np
from toksmith.errors import FormatError
from toksmith.tokenfiles.source import Tokens


def map_ids(path: Path, dtype: np.dtype[Any], offset: int = 0) -> Tokens:
    """Return a memory map of the ids of a file.

    Raises:
        FormatError: the file cannot be read, or its size is no multiple of an id's.
    """
    try:
        size = path.stat().st_size - offset
        if size < 0 or size % dtype.itemsize:
            raise FormatError(
                path, f"has {size + offset:,} bytes: ids of {dtype.name} after {offset:,} expected"
            )
        if size == 0:
            return np.zeros(0, dtype)
    except OSError as wrong:
        raise FormatError(path, f"cannot be read: {wrong.strerror or wrong}") from wrong
    return map_again(path, dtype, offset, size // dtype.itemsize)


def map_again(path: Path, dtype: np.dtype[Any], offset: int, count: int) -> Tokens:
    """Return a memory map of a number of ids of a file; see :func:`map_ids`.

    Raises:
        FormatError: the file cannot be read, or is too short.
    """
    try:
        return np.memmap(path, dtype, "r", offset, (count,))
    except OSError as wrong:
        raise FormatError(path, f"cannot be read: {wrong.strerror or wrong}") from wrong
    except ValueError:  # mmap's refusal
        raise _too_short(path, path.stat().st_size, offset + count * dtype.itemsize) from None


def check_map(ids: Tokens) -> None:
    """Check that a file is as long as its map, before the map is read.

    Args:
        ids: the map, a stretch of one, or an array in memory, which needs no check.

    Raises:
        FormatError: the file became shorter.
    """
    held = getattr(ids, "_mmap", None)  # a view shares it, and has the attributes of the whole map
    if held is not None:
        check_held(ids.filename, held, ids.offset)  # type: ignore[attr-defined]


def check_held(path: Path | str, held: mmap.mmap, offset: int = 0) -> None:
    """Check that a file is as long as its map.

    Args:
        path: the file.
        held: its map.
        offset: where in the file the content starts; the map starts at the page of this byte.

    Raises:
        FormatError: the file became shorter.
    """
    size = held.size()  # of the file, by its open descriptor
    wanted = len(held) + offset - offset % mmap.ALLOCATIONGRANULARITY
    if size < wanted:
        raise _too_short(Path(path), size, wanted)


def _too_short(path: Path, size: int, wanted: int) -> FormatError:
    return FormatError(
        path,
        f"became shorter since it was opened, from {wanted:,} to {size:,} bytes: restore it, and "
        "open it again",
    )
