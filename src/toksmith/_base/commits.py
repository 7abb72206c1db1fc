"""Replacing several files as one, even if the process is killed meanwhile.

No system renames two files at once, so a save goes through these steps:

1. Each new content is written to the folder of its file, under a temporary name.
2. A *journal* next to the first file names them, relative to its folder. From this rename on, the
   new contents count.
3. Each temporary file is renamed to its place.
4. The journal is removed.

Readers follow a journal that a killed process left: a file that step 3 did not reach is read under
its temporary name. The next save to the same place removes what was left. The journal holds the
SHA-256 of the old and the new contents, so that it is void once another program writes a file.

Steps 2 to 4 hold a lock on the folder of the first file: saves of several processes come one after
the other.

Of a symbolic link, the target is replaced, and the temporary file is in the folder of the target.
The journal is in the folder of the link.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from toksmith._base.lazy import hashlib, json
from toksmith._base.locks import lock
from toksmith.errors import OptionError

_VERSION = 1
_STALE = 3600.0
"""Seconds after which a temporary file is taken for one of a process that was killed."""

_BLOCK, _MOST_PIPED = 1 << 20, 1 << 32
"""Bytes that are read at a time from a pipe, and in all."""

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}\.tmp", re.DOTALL)
"""What :func:`temporary_name` returns."""

_Found = TypeVar("_Found")

_ATTEMPTS = 20
"""Times that files are read again because a save replaced them meanwhile."""


def is_stream(path: Path) -> bool:
    """Return whether a path is a pipe, a device or an open file, which no file can replace.

    An open file is a path in ``/proc``, such as the target of ``/dev/stdout``. All of ``/dev`` is
    taken for devices.
    """
    try:
        folder = os.path.realpath(path.parent)
        if folder == "/dev" or folder.startswith("/proc/"):
            return True
        mode = path.stat().st_mode
    except (OSError, ValueError):  # ValueError: no path can hold a null character
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def target_of(path: Path) -> Path:
    """Return the file that a symbolic link leads to, which may be missing; else the path itself."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def temporary_name(path: Path) -> Path:
    """Return a new name in the folder of a file, to write to before the file is replaced."""
    target = target_of(path)
    return target.with_name(f".{target.name}.{os.urandom(4).hex()}.tmp")


def create(temporary: Path, path: Path) -> BinaryIO:
    """Create a temporary file, with the permissions of the file that it will replace.

    Raises:
        OSError: it cannot be created, or the path is a symbolic link that leads to itself.
    """
    if target_of(path).is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    try:
        file = temporary.open("xb")
    except ValueError as wrong:  # no path can hold a null character
        raise OSError(errno.EINVAL, str(wrong)) from wrong
    try:
        with suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(path.stat().st_mode) & 0o777)
    except BaseException:
        file.close()
        raise
    return file


def replace_all(contents: Mapping[Path, bytes]) -> None:
    """Replace files of one directory: readers find all of the old contents or all of the new.

    Args:
        contents: the new content of each file; the first is the one that loading starts from, and
            the others are beside it or in a folder beside it.

    Raises:
        OptionError: a file cannot be written there; the old contents are still in place, unless
            this happened in the very last step, when the new ones are.
    """
    first = next(iter(contents))
    if folder := next(filter(Path.is_dir, contents), None):
        raise OptionError(f"{folder} cannot be written: it is a directory")
    for path in contents:
        check_replaceable(path)
    journal = _journal(first)
    staged = {path: temporary_name(path) for path in contents}
    place = first
    try:
        for place, data in contents.items():
            with create(staged[place], place) as file:
                file.write(data)
        # Readers tell saves apart by this time; the system's own are equal for milliseconds.
        now = time.time_ns()
        os.utime(staged[first], ns=(now, now))
        place = journal
        with _locked(first.parent):
            if len(contents) == 1 and not journal.exists():
                place = first
                os.replace(staged[first], target_of(first))  # noqa: PTH105 - as below
                return
            left = _named(journal)
            _write_journal(journal, _new_entries(contents, staged))
            _move(staged, journal)
            for path in left:
                path.unlink(missing_ok=True)
    except OptionError:  # which is a ValueError too
        raise
    except (OSError, ValueError) as wrong:  # ValueError: no path can hold a null character
        reason = getattr(wrong, "strerror", None) or wrong
        raise OptionError(f"{place} cannot be written: {reason}") from wrong
    finally:
        _clean_up(staged, journal)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other processes that save to it; no lock where there are none.

    Raises:
        OptionError: another process keeps it locked.
    """
    with ExitStack() as stack:
        with suppress(OSError):  # Windows opens no folders, and one may be unreadable
            opened = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, opened)
            lock(opened, folder)
        yield


def _new_entries(
    contents: Mapping[Path, bytes], staged: Mapping[Path, Path]
) -> list[dict[str, str | None]]:
    """Return the content of the journal of a save."""
    first = next(iter(contents))
    return [
        {
            "name": path.relative_to(first.parent).as_posix(),
            "staged": staged[path].name,
            "old": _hash(path),
            "new": hashlib.sha256(data).hexdigest(),
        }
        for path, data in contents.items()
    ]


def check_replaceable(path: Path) -> None:
    """Raise OptionError if a path is that of a pipe or a device; see :func:`is_stream`."""
    if is_stream(path):
        raise OptionError(
            f"{path} cannot be written: it is a pipe or a device, and a tokenizer's files are "
            "replaced all at once: give the name of a file"
        )


def _write_journal(journal: Path, entries: list[dict[str, str | None]]) -> None:
    temporary = temporary_name(journal)
    try:
        temporary.write_text(json.dumps({"toksmith_commit": _VERSION, "files": entries}), "utf-8")
        os.replace(temporary, journal)  # noqa: PTH105
    finally:
        with suppress(OSError):
            temporary.unlink()


def _move(staged: Mapping[Path, Path], journal: Path) -> None:
    for path, temporary in staged.items():
        with suppress(FileNotFoundError):  # moved already
            os.replace(temporary, target_of(path))  # noqa: PTH105
    journal.unlink(missing_ok=True)


def _clean_up(staged: Mapping[Path, Path], journal: Path) -> None:
    """Finish what the journal promises, and remove temporary files that it does not name."""
    own = set(staged.values())
    if own & set(_named(journal)):
        with suppress(OSError):
            _move(staged, journal)
    kept = set(_named(journal))
    starts: dict[Path, set[str]] = {}
    for path in (*map(target_of, staged), journal):
        starts.setdefault(path.parent, set()).add(f".{path.name}.")
    for folder, names in starts.items():
        with suppress(OSError, ValueError), os.scandir(folder) as entries:
            for found in entries:
                if not found.name.endswith(".tmp") or found.name[:-12] not in names:
                    continue
                path = folder / found.name
                if path in kept:
                    continue
                with suppress(FileNotFoundError):  # another save has renamed it meanwhile
                    if path in own or time.time() - found.stat().st_mtime > _STALE:
                        path.unlink()


def current(path: Path, first: Path | None = None) -> Path:
    """Return the path that holds the content of a file; another one if a save was interrupted.

    Args:
        path: the file.
        first: the first of the files that are replaced together with it; ``None`` for itself.
    """
    journal = _journal(first or path)
    for entry in _entries(journal):
        if journal.parent / entry["name"] == path:
            there = _staged(journal, entry)
            if there.exists() and _is_valid(journal):
                return there
    return path


def waiting(first: Path) -> list[Path]:
    """Return the files that an interrupted save did not reach; some do not exist yet.

    Args:
        first: as for :func:`current`.
    """
    journal = _journal(first)
    paths = [journal.parent / entry["name"] for entry in _entries(journal)]
    return [path for path in paths if current(path, first) != path]


def read(path: Path, first: Path | None = None) -> bytes:
    """Return the content of a file; see :func:`current`.

    Raises:
        OSError: it cannot be read.
    """
    with open_current(path, first) as file:
        return _content(file)


def _content(file: BinaryIO) -> bytes:
    """Return the content of an open file; the size of a pipe is limited, as it may have no end.

    Raises:
        OSError: it cannot be read, or is a pipe with more than ``_MOST_PIPED`` bytes.
    """
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file.read()
    found = bytearray()
    while block := file.read(_BLOCK):
        found += block
        if len(found) > _MOST_PIPED:
            raise OSError(
                errno.EFBIG,
                f"it is a pipe with more than {_MOST_PIPED:,} bytes: write them to a file",
                file.name,
            )
    return bytes(found)


def open_current(path: Path, first: Path | None = None) -> BinaryIO:
    """Open the file that holds the content of a file; see :func:`current`.

    Raises:
        OSError: it cannot be read.
    """
    for _ in range(_ATTEMPTS):
        there = current(path, first)
        try:
            return _open(there)
        except FileNotFoundError:  # a save has renamed it meanwhile
            if there == path:
                raise
    return _open(path)


def _open(path: Path) -> BinaryIO:
    """Open a file that is no device: ``/dev/zero`` has no end, and others wait for input.

    Raises:
        OSError: it is a device, or cannot be opened.
    """
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "it is a device: give the path of a file", str(path))
    return path.open("rb")


def read_together(paths: Sequence[Path]) -> list[bytes | None]:
    """Return the contents of files that are replaced together; ``None`` for one that is missing.

    Raises:
        OSError: one cannot be read.
    """
    contents: list[bytes | None] = []
    for _ in range(_ATTEMPTS):
        before = _stamp(paths)
        contents = [_read_if_there(path, paths[0]) for path in paths]
        if _stamp(paths) == before:
            break
    return contents


def read_whole_save(first: Path, read: Callable[[], _Found]) -> _Found:
    """Return what a function reads; it is called again if a save replaced files meanwhile.

    After some attempts, saves have to wait for it.

    Args:
        first: the first of the files.
        read: reads files that are saved together, by :func:`read` or :func:`open_current`.

    Raises:
        OptionError: other processes do not stop saving.
    """
    for _ in range(_ATTEMPTS):
        before = _stamp([first])
        try:
            found = read()
        except Exception:
            if _stamp([first]) == before:
                raise
        else:
            if _stamp([first]) == before:
                return found
    with _locked(first.parent):
        return read()


def _read_if_there(path: Path, first: Path) -> bytes | None:
    try:
        return read(path, first)
    except FileNotFoundError:
        return None


def _stamp(paths: Sequence[Path]) -> list[object]:
    """Return a value that changes when one of these files is replaced."""
    return [_read(_journal(paths[0])), *map(_file_stamp, paths)]


def _file_stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        held = path.stat()
    except FileNotFoundError:
        return None
    return held.st_ino, held.st_size, held.st_mtime_ns


def _journal(first: Path) -> Path:
    return first.parent / f".{first.name}.commit"


def _read(path: Path) -> bytes | None:
    """Return the content of a file; ``None`` if it cannot be read, or is a pipe or a device."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        return path.read_bytes()
    except (OSError, ValueError):  # ValueError: no path can hold a null character
        return None


def _hash(path: Path) -> str | None:
    data = _read(path)
    return None if data is None else hashlib.sha256(data).hexdigest()


def _entries(journal: Path) -> list[dict[str, Any]]:
    """Return the content of a journal; empty if it is missing or damaged."""
    data = _read(journal)
    if data is None:
        return []
    try:
        held = json.loads(data)
        entries = [dict(entry) for entry in held["files"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []
    keys = {"name", "staged", "old", "new"}
    named = all(
        keys == entry.keys()
        and all(isinstance(entry[key], str) for key in ("name", "staged"))
        and _is_near(entry["name"])
        and _is_file_name(entry["staged"])
        and _TEMPORARY.fullmatch(entry["staged"])  # the next save removes it
        for entry in entries
    )
    return entries if named and held.get("toksmith_commit") == _VERSION else []


def _is_near(name: str) -> bool:
    """Return whether a name is that of a file in a folder, or in a folder that is in it."""
    parts = name.split("/")
    return len(parts) <= 2 and all(map(_is_file_name, parts))


def _is_file_name(name: str) -> bool:
    return Path(name).name == name not in ("", "..")


def _named(journal: Path) -> list[Path]:
    """Return the temporary files that a journal names."""
    return [_staged(journal, entry) for entry in _entries(journal)]


def _staged(journal: Path, entry: Mapping[str, Any]) -> Path:
    return target_of(journal.parent / entry["name"]).with_name(entry["staged"])


def _is_valid(journal: Path) -> bool:
    """Return whether each file is the old one with the new one next to it, or is the new one."""
    for entry in _entries(journal):
        held = _hash(journal.parent / entry["name"])
        waits = _staged(journal, entry).exists()
        if held != entry["new"] and not (waits and held == entry["old"]):
            return False
    return True
