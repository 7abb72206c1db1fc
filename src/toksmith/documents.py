"""Files as documents, without making them Python strings."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from toksmith.errors import FormatError, OptionError


@contextmanager
def open_mapped(path: str | PathLike[str]) -> Iterator[mmap.mmap | bytes]:
    """Map a file into memory for reading.

    Raises:
        FormatError: it does not exist, is a directory, or may not be read.
    """
    try:
        with Path(path).open("rb") as file:
            try:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError:  # an empty file, or a pipe
                yield file.read()
                return
            with mapped:
                yield mapped
    except OSError as wrong:
        raise FormatError(path, f"cannot be read: {wrong.strerror or wrong}") from wrong


def document_bounds(data: mmap.mmap | bytes, separator: str | None) -> npt.NDArray[np.int64]:
    """Return where each document starts and ends: int64, shape ``(documents, 2)``, in bytes.

    The separator belongs to no document. What follows the last separator is a document unless it
    is empty; a file without a separator is one document.

    Raises:
        OptionError: the separator is empty.

    Example:
        >>> document_bounds(b"one|two|", "|").tolist()
        [[0, 3], [4, 7]]
    """
    if separator is None:
        return np.array([[0, len(data)]], np.int64)
    literal = separator.encode()
    if not literal:
        raise OptionError("the separator between documents is empty; leave it out instead")
    bounds = []
    start = 0
    while (end := data.find(literal, start)) >= 0:
        bounds.append((start, end))
        start = end + len(literal)
    if start < len(data):
        bounds.append((start, len(data)))
    return np.array(bounds, np.int64).reshape(-1, 2)
