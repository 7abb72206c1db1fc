"""Refuses pipes and devices in the place of token files: opening a pipe waits for a writer."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from toksmith.errors import FormatError


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading.

    Raises:
        FormatError: it is a pipe or a device.
        OSError: it cannot be opened.
    """
    _check_mode(path, path.stat().st_mode)
    return path.open("rb")


def check_regular(place: Path) -> None:
    """Check that there are no pipes and devices where token files are looked for.

    Args:
        place: a file; or a folder, which is checked together with the folders in it.

    Raises:
        FormatError: there is one.
    """
    _check(place)
    if place.is_dir():
        for path in _entries(place):
            _check(path)
            if path.is_dir():
                for below in _entries(path):
                    _check(below)


def _entries(folder: Path) -> list[Path]:
    """Return what is in a folder, but for its plain files, which take no time."""
    try:
        with os.scandir(folder) as entries:
            return [Path(each.path) for each in entries if not each.is_file(follow_symlinks=False)]
    except OSError:  # opening says what is wrong
        return []


def _check(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return
    _check_mode(path, mode)


def _check_mode(path: Path, mode: int) -> None:
    if stat.S_ISFIFO(mode):
        raise FormatError(
            path, "cannot be read: it is a pipe, and token files are read at any place: use a file"
        )
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise FormatError(path, "cannot be read: it is a device: give the path of a file")
