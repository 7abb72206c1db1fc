"""Token files that consist of a folder: its index in JSON, and the data files beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toksmith._base.lazy import json
from toksmith.errors import FormatError
from toksmith.tokenfiles.regular import open_regular

INDEX = "index.json"


def folders_with(path: Path, pattern: str) -> list[Path]:
    """Return the folders that hold a file: the path itself, else the folders in it (one a split).

    Args:
        path: a folder; anything else gives an empty list.
        pattern: the name of the file, or a pattern such as ``"*.tar"``.
    """
    if not path.is_dir():
        return []
    if any(path.glob(pattern)):
        return [path]
    return [each for each in sorted(path.iterdir()) if each.is_dir() and any(each.glob(pattern))]


def indexes(path: Path, entries: str) -> list[Path]:
    """Return the files ``index.json`` at a path that hold a list of a given name, or did.

    A damaged file is found if it begins with the list: reading it says what is wrong.

    Args:
        path: a folder, a folder of such folders, or an ``index.json`` itself.
        entries: the name of the list, such as ``"shards"``.
    """
    if path.name == INDEX and path.is_file():
        found = [path]
    else:
        found = [folder / INDEX for folder in folders_with(path, INDEX)]
    return [file for file in found if _has(file, entries)]


def _has(file: Path, entries: str) -> bool:
    try:
        return isinstance(read_index(file).get(entries), list)
    except FormatError:
        try:
            with open_regular(file) as data:
                return data.read(len(entries) + 3) == f'{{"{entries}"'.encode()
        except OSError:
            return False


def read_index(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        FormatError: the file cannot be read, or holds something else.
    """
    try:
        with open_regular(path) as file:
            found = json.loads(file.read())
    except OSError as wrong:
        raise FormatError(path, f"cannot be read: {wrong.strerror or wrong}") from wrong
    except (ValueError, RecursionError) as wrong:
        raise FormatError(path, f"is no JSON: {wrong}") from wrong
    if not isinstance(found, dict):
        raise FormatError(path, "is no JSON object")
    return found


def entries_of(index: Path, name: str) -> list[dict[str, Any]]:
    """Return the objects in a list of an index.

    Raises:
        FormatError: there is no such list, or it holds something else.
    """
    found = read_index(index).get(name)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise FormatError(index, f"has no list of {name}")
    return found


def add_file(files: dict[Path, object], index: Path, name: object, count: object) -> Path:
    """Add a data file that an index names to those found before; return it.

    Args:
        files: the files found before, each with its number of documents in the index.
        index: the index.
        name: the name of the file.
        count: its number of documents.

    Raises:
        FormatError: the file is not in the folder of the index, or is named twice.
    """
    if not isinstance(name, str) or not name or "\0" in name or name != Path(name).name:
        raise FormatError(index, f"names a file {name!r:.80}: a file in its folder expected")
    file = index.with_name(name)
    try:
        is_file = file.is_file()
    except OSError:  # a name that no file can have
        is_file = False
    if not is_file:
        raise FormatError(index, f"names {name:.80}, which is not in its folder")
    if file in files:
        raise FormatError(index, f"names {name} twice")
    files[file] = count
    return file


def require(found: Sequence[object], path: Path, what: str) -> None:
    """Raise an error if no files of a format were found at a path.

    Raises:
        FormatError: nothing was found.
    """
    if not found:
        raise FormatError(path, f"holds no token files of the format: {what} expected")
