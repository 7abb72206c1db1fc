"""Files on remote storage, by URL: the methods of a Path that readers use, on top of fsspec."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from glob import has_magic
from os import PathLike, fspath
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple, TypeAlias, cast
from urllib.parse import urlsplit

from toksmith._base.files import open_output
from toksmith._base.lazy import extra, import_cause, import_error
from toksmith.errors import FormatError, OptionError

_URL = re.compile(r"(?:[a-zA-Z][\w+.-]*::)*[a-zA-Z][\w+.-]*://")
_BUFFER = 1 << 22
"""The number of bytes of a request at least, but for the first bytes of a file."""

_TAGS = ("ETag", "etag", "md5Hash", "content_md5", "blob_id")
"""The fields of fsspec's file information that change with the content of a file."""


def is_url(path: object) -> bool:
    r"""Return whether a path is a URL, such as ``s3://bucket/a.jsonl``.

    Example:
        >>> is_url("s3://bucket/a.jsonl"), is_url("folder/a.jsonl"), is_url(r"C:\a.jsonl")
        (True, False, False)
    """
    return isinstance(path, str | RemoteFile) and _URL.match(str(path)) is not None


def local_path(url: str) -> str | None:
    """Return the path of a ``file://`` URL; ``None`` for other URLs.

    Example:
        >>> local_path("file:///data/a.txt"), local_path("s3://bucket/a.txt")
        ('/data/a.txt', None)
    """
    scheme, _, path = url.partition("://")
    return path if scheme.lower() in ("file", "local") else None


class RemoteError(OSError):
    """A remote file cannot be read: it is missing or forbidden, or the connection failed."""


class RemoteStat(NamedTuple):
    """The size of a file in bytes."""

    st_size: int


@dataclass(frozen=True, order=True)
class RemoteFile:
    """A file of any file system of fsspec.

    Credentials and endpoints are those of fsspec's package for the file system: its environment
    variables and configuration files.

    Attributes:
        url: its URL.
    """

    url: str

    def __str__(self) -> str:
        return self.url

    def __fspath__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._path.name

    @property
    def suffixes(self) -> list[str]:
        """The suffixes of the name, such as ``[".jsonl", ".gz"]``."""
        return self._path.suffixes

    @property
    def _path(self) -> PurePosixPath:
        has_query = self.url.startswith(("http://", "https://"))
        return PurePosixPath(urlsplit(self.url).path if has_query else self.url)

    def is_dir(self) -> bool:
        """Return ``False``: folders are expanded to their files."""
        return False

    def is_file(self) -> bool:
        """Return ``True``."""
        return True

    def stat(self) -> RemoteStat:
        """Return the size of the file.

        Raises:
            OSError: the file does not exist or cannot be read, or its size is unknown.
        """
        size = self._info().get("size")
        if size is None:
            raise RemoteError("its size is unknown; download it first")
        return RemoteStat(int(size))

    def tag(self) -> str | None:
        """Return the storage's own hash or version of the content; ``None`` if it has none.

        Raises:
            OSError: the file does not exist or cannot be read.
        """
        info = self._info()
        return next((str(info[name]) for name in _TAGS if info.get(name)), None)

    def open(self, mode: str = "rb", buffering: int = -1) -> BinaryIO:
        """Open the file for reading.

        Args:
            mode: ``"rb"``.
            buffering: 0 requests just the bytes of each ``read()``.

        Raises:
            OSError: the file does not exist or cannot be read, now or later.
        """
        if mode != "rb":
            raise OptionError(f"mode is {mode!r}: remote files are opened for reading, with 'rb'")
        raw = _Reader(self.url, self.stat().st_size)
        return cast("BinaryIO", raw if buffering == 0 else io.BufferedReader(raw, _BUFFER))

    def _info(self) -> dict[str, Any]:
        system, path = system_of(self.url)
        with as_remote_errors():
            info: dict[str, Any] = system.info(path)
        return info


FilePath: TypeAlias = Path | RemoteFile
"""A file of a corpus."""


def as_file(path: str | PathLike[str]) -> FilePath:
    """Return the file of a path or URL.

    Example:
        >>> as_file("a.txt"), as_file("s3://bucket/a.txt")
        (PosixPath('a.txt'), RemoteFile(url='s3://bucket/a.txt'))
    """
    if not is_url(path):
        return Path(path)
    url = fspath(path)
    local = local_path(url)
    return RemoteFile(url) if local is None else Path(local)


@contextmanager
def open_file_output(path: FilePath) -> Iterator[BinaryIO]:
    """Open a file for writing, which exists once all of it is written; a URL is uploaded then.

    Raises:
        OptionError: the file cannot be written there.
        BrokenPipeError: nothing reads the pipe to its end.
    """
    if isinstance(path, Path):
        with open_output(path) as file:
            yield file
        return
    with TemporaryDirectory(prefix="toksmith-") as folder:
        local = Path(folder, "output")
        with open_output(local) as file:
            yield file
        system, place = system_of(path.url)
        try:
            with as_remote_errors():
                system.makedirs(place.rpartition("/")[0], exist_ok=True)
                system.put_file(str(local), place)
        except OSError as wrong:
            raise OptionError(f"{path} cannot be written: {wrong}") from wrong


def exists(path: FilePath) -> bool:
    """Return whether a file exists.

    Raises:
        FormatError: the storage cannot be read.
    """
    try:
        if isinstance(path, Path):
            return path.exists()
        system, place = system_of(path.url)
        with as_remote_errors():
            return bool(system.exists(place))
    except OSError as wrong:
        raise _unreadable(path, wrong) from wrong


def is_folder(path: FilePath) -> bool:
    """Return whether a path or a URL is a folder.

    Raises:
        FormatError: the storage cannot be read.
    """
    try:
        if isinstance(path, Path):
            return path.is_dir()
        system, place = system_of(path.url)
        with as_remote_errors():
            return bool(system.isdir(place))
    except OSError as wrong:
        raise _unreadable(path, wrong) from wrong


def names_in(folder: FilePath) -> list[str]:
    """Return the names in a folder, sorted.

    Raises:
        FormatError: it cannot be read.
    """
    try:
        if isinstance(folder, Path):
            return sorted(path.name for path in folder.iterdir())
        system, place = system_of(folder.url)
        with as_remote_errors():
            names = system.ls(place, detail=False)
    except OSError as wrong:
        raise _unreadable(folder, wrong) from wrong
    return sorted(name.rstrip("/").rpartition("/")[2] for name in names)


def _unreadable(path: FilePath, wrong: OSError) -> FormatError:
    return FormatError(path, f"cannot be read: {wrong.strerror or wrong}")


class _Reader(io.RawIOBase):
    """Reads a file by ranges, each of them one request."""

    def __init__(self, url: str, size: int) -> None:
        self._system, self._path = system_of(url)
        self._size = size
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._place = max(0, offset + (0, self._place, self._size)[whence])
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer: Any) -> int:
        end = min(self._place + len(buffer), self._size)
        if end <= self._place:
            return 0
        with as_remote_errors():
            found = self._system.cat_file(self._path, start=self._place, end=end)
        if len(found) != end - self._place:
            raise RemoteError(
                f"{len(found):,} of {end - self._place:,} bytes came from offset {self._place:,}: "
                "the connection broke, or the file was changed"
            )
        buffer[: len(found)] = found
        self._place = end
        return len(found)


def expand_url(url: str) -> list[FilePath]:
    """Return the files of a URL, which may be a folder or a pattern, sorted by name.

    Raises:
        FormatError: there are no files, or they cannot be listed.
        OptionError: there is no such file system.
        MissingExtraError: the package for the file system is not installed.
    """
    system, path = system_of(url)
    try:
        with as_remote_errors():
            if system.isfile(path):
                return [RemoteFile(url)]
            names = system.glob(path) if has_magic(path) else []
            if not names and system.isdir(path):
                names = system.find(path)
            elif names:
                names = [name for name in names if system.isfile(name)]
            if not names and not has_magic(path):
                system.info(path)  # raises the reason
    except FileNotFoundError:
        raise FormatError(url, "there is no such file, folder or bucket") from None
    except OSError as wrong:
        raise FormatError(url, f"cannot be read: {wrong}") from wrong
    if not names:
        what = "the pattern matches no file" if has_magic(path) else "the folder holds no files"
        raise FormatError(url, what)
    if "::" in url:
        raise OptionError(
            f"files holds {url!r:.200}: URLs with '::' must name one file, no folder or pattern"
        )
    return [RemoteFile(system.unstrip_protocol(name)) for name in sorted(names)]


def system_of(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path of the file there.

    Raises:
        OptionError: there is no such file system.
        MissingExtraError: the package for the file system is not installed.
        FormatError: the storage refuses the connection.
    """
    fsspec = extra("fsspec", "remote")
    try:
        system, path = fsspec.url_to_fs(url)
    except ImportError as wrong:
        cause = import_cause(wrong)
        scheme, package = _package(url)
        if package == "fsspec" and isinstance(cause, ModuleNotFoundError) and cause.name:
            package = cause.name.partition(".")[0]  # fsspec holds file systems that need others
        needs = f"{url}: {scheme}:// needs the package {package}: pip install {package}"
        raise import_error(package, cause, needs) from wrong
    except ValueError as wrong:
        raise OptionError(f"files holds {url!r:.200}: {wrong}") from wrong
    except Exception as wrong:
        raise FormatError(url, f"cannot be opened: {_reason(wrong)}") from wrong
    return system, path


def _package(url: str) -> tuple[str, str]:
    """Return the scheme of a URL, and the package of its file system."""
    known = extra("fsspec.registry", "remote").known_implementations
    scheme = url.partition("://")[0].rpartition("::")[2]
    names = [scheme, *url.partition("://")[0].split("::")]
    found = next(known[name] for name in names if name in known)
    return scheme, found["class"].partition(".")[0]


@contextmanager
def as_remote_errors() -> Iterator[None]:
    """Raise RemoteError for the errors of file systems, which are of many classes."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as wrong:
        raise RemoteError(_reason(wrong)) from wrong


def _reason(wrong: Exception) -> str:
    if isinstance(wrong, PermissionError):
        return f"permission denied ({wrong}); check the credentials"
    return f"{type(wrong).__name__}: {wrong}".split("\n", 1)[0]
