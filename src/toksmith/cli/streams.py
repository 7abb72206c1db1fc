"""Stand-ins for standard streams that the shell closed (``>&-``, ``<&-``, ``2>&-``)."""

from __future__ import annotations

import errno
import os
import sys
from io import BufferedReader, BufferedWriter, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


def replace_closed() -> None:
    """Replace the standard streams that are ``None`` because their descriptor is closed.

    Reading and writing the stand-ins fail as they do on a closed descriptor. Their descriptors are
    the free ones with the lowest numbers, usually those of the closed streams, so that no file
    that the command opens gets the number of a standard stream. What is written to standard error
    is discarded.
    """
    if sys.stdin is None:
        sys.stdin = TextIOWrapper(BufferedReader(_Closed()), encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = TextIOWrapper(BufferedWriter(_Closed()), encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the whole process


class _Closed(RawIOBase):
    """A file on a descriptor that can be neither read nor written, nor opened by its number."""

    def __init__(self) -> None:
        # A folder, so that opening /dev/stdout fails, too; Windows opens no folders.
        self._descriptor = os.open(os.devnull if os.name == "nt" else "/", os.O_RDONLY)

    def fileno(self) -> int:
        return self._descriptor

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> NoReturn:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def write(self, data: ReadableBuffer) -> int:
        return os.write(self._descriptor, data)  # works once the null device replaces the folder
