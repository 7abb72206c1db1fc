"""Expands paths, directories and patterns to lists of files, and resolves their weights."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias

from toksmith.corpus.remote import FilePath, expand_url, is_url, local_path
from toksmith.errors import FormatError, OptionError

AnyPath: TypeAlias = "str | PathLike[str]"

LONGEST = 4096
"""The maximum length of a path or pattern: PATH_MAX of Linux, the largest of all systems."""

_REPEATED = re.compile(rf"\*\*(?:{re.escape(os.sep)}\*\*)+(?![^{re.escape(os.sep)}])")


def expand_all(paths: AnyPath | Sequence[AnyPath]) -> list[FilePath]:
    """Return the files of a path, or of a list of paths, in the given order.

    Raises:
        FormatError: a path has no files.
        OptionError: an element is no path, or the list is empty.
    """
    check_paths(paths)
    several = [paths] if isinstance(paths, str | PathLike) else list(paths)
    found = [file for path in several for file in expand(path)]
    if not found:
        raise OptionError("files is an empty list: name at least one file")
    return found


def check_paths(paths: object) -> None:
    """Check that an argument is a path or a list; its elements are checked later.

    Raises:
        OptionError: it is neither.
    """
    if isinstance(paths, Mapping):
        raise OptionError(
            "files is a mapping: use a list of paths, or texts= for a mapping from name to text"
        )
    if isinstance(paths, bytes) or not isinstance(paths, str | PathLike | Iterable):
        raise OptionError(
            f"files is {paths!r:.80}: use a path, a directory, a pattern, or a list of them"
        )


def one_path(path: object, name: str = "path") -> AnyPath:
    """Return an argument after a check that it is one path.

    Raises:
        OptionError: it is no path.
    """
    if isinstance(path, str | PathLike) and not isinstance(fspath(path), bytes):
        if fspath(path):
            return path
        raise OptionError(f"{name} is an empty string: give a path")
    raise OptionError(
        f"{name} is {path!r:.80}: use a str or a pathlib.Path, not {type(path).__name__}"
    )


def expand(path: AnyPath) -> list[FilePath]:
    """Return the files of a path, a directory, a pattern or a URL of these, sorted by name.

    Raises:
        FormatError: there are no files.
        OptionError: ``path`` is no path, or empty.
    """
    if not isinstance(path, str | PathLike):
        raise OptionError(f"files holds {path!r:.80}; each must be a path")
    if is_url(path):
        url = fspath(path)
        if (local := local_path(url)) is None:
            return expand_url(url)
        path = local
    if path == "":
        raise OptionError("files holds an empty path; the current folder is '.'")
    if len(fspath(path)) > LONGEST:
        raise OptionError(
            f"files holds a path of {len(fspath(path)):,} characters ({path!r:.60}…), and none has "
            f"more than {LONGEST:,}: is it text?"
        )
    try:
        return _files(path)
    except OSError as wrong:
        raise OptionError(f"files holds {path!r:.80}: {wrong.strerror}") from None


def _files(path: AnyPath) -> list[FilePath]:
    found = Path(path)
    if found.is_dir():
        below = sorted(_below(found))
        if not below:
            raise FormatError(path, "the directory holds no files")
        return [*below]
    if found.exists():
        return [found]
    if glob.has_magic(fspath(path)):
        files = match_files(path)
        if not files:
            raise FormatError(path, "the pattern matches no file")
        return files
    raise FormatError(path, "there is no such file or directory")


def match_files(pattern: AnyPath) -> list[FilePath]:
    """Return the files that a pattern matches, sorted by name; none if it is no pattern.

    Raises:
        OptionError: it names too many folders.

    Example:
        >>> match_files("no such folder/*"), match_files("no pattern")
        ([], [])
    """
    text = fspath(pattern)
    if not glob.has_magic(text) or len(text) > LONGEST or "\0" in text:
        return []
    # glob takes exponential time for one "**" after another.
    text = _REPEATED.sub("**", text)
    try:
        matched = glob.glob(text, recursive=True)  # noqa: PTH207  # absolute ones too
    except RecursionError:
        raise OptionError(f"files holds {pattern!r:.80}: too many folders in one pattern") from None
    return [*sorted(file for file in map(Path, matched) if file.is_file())]


def _below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder; an unreadable folder raises an error."""

    def refuse(wrong: OSError) -> None:
        raise OptionError(f"files holds {wrong.filename!r}: {wrong.strerror}") from None

    for place, _, names in os.walk(folder, onerror=refuse):
        yield from (file for name in names if (file := Path(place, name)).is_file())


ONE = 1_000_000
"""The weight of 1: weights are rounded to millionths, so that sums of counts are exact."""


def weight_of(value: object, name: str) -> int:
    """Return a weight in millionths.

    Raises:
        OptionError: it is no number from a millionth to a million.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OptionError(f"the weight of {name!r:.80} is {value!r:.40}: use a number")
    if not 1 / ONE <= value <= ONE:
        raise OptionError(
            f"the weight of {name!r:.80} is {value}: use 0.000001 to 1,000,000; to leave a file "
            "out, do not name it"
        )
    return round(value * ONE)


def weighted_runs(
    paths: Sequence[FilePath], weights: Mapping[str, float]
) -> list[tuple[int, list[FilePath]]]:
    """Group consecutive files of equal weight; return each weight in millionths and its files.

    Args:
        paths: the files.
        weights: by path, directory or pattern; if two entries name a file, the later one applies.

    Raises:
        OptionError: a weight is invalid, or names no file of the corpus.
        FormatError: a file does not exist.
    """
    of_path: dict[str, int] = {}
    here = {os.path.abspath(path) for path in paths}  # noqa: PTH100  # links stay as they are
    for name, value in weights.items():
        weight = weight_of(value, name)
        named = {os.path.abspath(path) for path in expand(name)} & here  # noqa: PTH100
        if not named:
            raise OptionError(f"the weight of {name!r:.200} is that of no file of the corpus")
        of_path.update(dict.fromkeys(named, weight))

    def weight_of_path(path: FilePath) -> int:
        return of_path.get(os.path.abspath(path), ONE)  # noqa: PTH100

    return [(weight, list(run)) for weight, run in groupby(paths, weight_of_path)]
