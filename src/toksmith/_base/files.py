"""Reading files with precise errors, and writing them atomically."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from toksmith._base import commits
from toksmith._base.lazy import json
from toksmith.errors import FormatError, OptionError

HEAD = 4096
"""Bytes that are enough to recognise a format."""

MAX_ID = 2**24 - 1
"""Ids above this are no vocabulary's: a file that has one would only fill the memory."""

_SPARE_IDS, _IDS_A_TOKEN = 2**17, 16

if TYPE_CHECKING:
    _Path = Path
else:
    _Path = type(Path())  # before Python 3.12, Path itself cannot be the base


class HeldFile(_Path):
    """The path of a file whose content is in memory; there are no files beside it.

    Attributes:
        data: the content; ``None`` for a file beside it.
    """

    data: bytes | None = None

    @classmethod
    def of(cls, data: bytes, name: str = "<data>") -> HeldFile:
        """Return a path with this content; errors have the name."""
        path = cls(name)
        path.data = data
        return path

    def is_dir(self, **_: Any) -> bool:
        """Return False."""
        return False

    def is_file(self, **_: Any) -> bool:
        """Return whether there is content."""
        return self.data is not None

    def with_name(self, name: str) -> HeldFile:
        """Return the path of a file beside it, which does not exist."""
        return HeldFile(name)


def held_if_pipe(path: Path) -> Path:
    """Return the content of a pipe, which can be read only once; another path as it is.

    Raises:
        FormatError: as :func:`read_any`.
    """
    try:
        is_pipe = stat.S_ISFIFO(path.stat().st_mode)
    except (OSError, ValueError):  # said when it is read
        return path
    return HeldFile.of(read_any(path), str(path)) if is_pipe else path


def read_head(path: Path) -> bytes:
    """Return the first bytes of a file; none where it cannot be read."""
    if isinstance(path, HeldFile):
        return (path.data or b"")[:HEAD]
    try:
        with commits.open_current(path) as file:
            return file.read(HEAD)
    except (OSError, ValueError):  # ValueError: no path can hold a null character
        return b""


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        FormatError: it does not exist, is a directory or a device, cannot be read, or is empty.
    """
    return _not_empty(path, read_any(path))


def read_any(path: Path, first: Path | None = None) -> bytes:
    """Return the content of a file that may be empty.

    Args:
        path: the file.
        first: the first of the files that are saved together with it; ``None`` for itself.

    Raises:
        FormatError: it does not exist, is a directory or a device, or cannot be read.
    """
    if isinstance(path, HeldFile):
        return path.data or b""
    with _opening(path):
        return commits.read(path, first)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file of which only a part is read.

    Raises:
        FormatError: as :func:`read_bytes`.
    """
    if isinstance(path, HeldFile):
        yield BytesIO(read_bytes(path))
        return
    with ExitStack() as stack:
        with _opening(path):
            file = stack.enter_context(commits.open_current(path))
            size = os.fstat(file.fileno()).st_size
        if not size:
            raise FormatError(path, "the file is empty")
        yield file


def read_together(paths: Sequence[Path]) -> list[bytes | None]:
    """Return the contents of files that are saved together; ``None`` for one that is missing.

    Raises:
        FormatError: one of them is a directory, cannot be read, or is empty.
    """
    found: Sequence[bytes | None]
    if isinstance(paths[0], HeldFile):
        found = [getattr(path, "data", None) for path in paths]
    else:
        with _opening(paths[0]):
            found = commits.read_together(paths)
    return [
        data if data is None else _not_empty(path, data)
        for path, data in zip(paths, found, strict=True)
    ]


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    try:
        yield
    except FormatError:  # which is a ValueError too
        raise
    except FileNotFoundError:
        raise FormatError(path, "there is no such file") from None
    except IsADirectoryError as wrong:
        raise FormatError(wrong.filename or path, "this is a directory, not a file") from None
    except (OSError, ValueError) as wrong:
        reason = getattr(wrong, "strerror", None) or str(wrong)
        place = getattr(wrong, "filename", None) or path
        raise FormatError(place, f"cannot be read: {reason}") from wrong


def _not_empty(path: Path, data: bytes) -> bytes:
    if not data:
        raise FormatError(path, "the file is empty")
    return data


def read_text(path: Path) -> str:
    """Return the content of a file as text.

    Raises:
        FormatError: as :func:`read_bytes`, or it is invalid UTF-8.
    """
    return text_of(path, read_bytes(path))


def text_of(path: Path, data: bytes) -> str:
    """Return a file's content as text; see :func:`read_text`."""
    if b"\0" in data[:HEAD]:
        raise FormatError(path, "this is a binary file; text is wanted")
    try:
        return data.decode()
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        raise FormatError(
            path, f"line {line} is not UTF-8 text (byte 0x{data[wrong.start]:02X})"
        ) from wrong


def read_json(
    path: Path, first: Path | None = None, *, lone_surrogates: bool = False
) -> dict[str, Any]:
    """Return the JSON object that the file holds.

    Args:
        path: the file.
        first: as for :func:`read_any`.
        lone_surrogates: as for :func:`json_of`.

    Raises:
        FormatError: as :func:`read_text`, or it is not strict JSON, holds no object, or an
            object names a key twice.
    """
    return json_of(path, _not_empty(path, read_any(path, first)), lone_surrogates)


def json_if_there(path: Path, first: Path | None = None) -> dict[str, Any]:
    """Return what :func:`read_json` does; an empty object if there is no such file."""
    there = path if isinstance(path, HeldFile) else commits.current(path, first)
    return read_json(path, first) if there.is_file() else {}


def json_of(path: Path, data: bytes, lone_surrogates: bool = False) -> dict[str, Any]:
    """Return the JSON object in a file's content; see :func:`read_json`.

    Args:
        path: the file, for errors.
        data: its content.
        lone_surrogates: whether strings may hold them, as names of files that are not UTF-8 do.
    """
    text = text_of(path, data)
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
        if not lone_surrogates and (
            "\\ud" in text or "\\uD" in text
        ):  # an escape can be half a character
            dump(value).encode()
    except json.JSONDecodeError as wrong:
        raise FormatError(
            path, f"line {wrong.lineno}, column {wrong.colno} is not JSON: {wrong.msg}"
        ) from wrong
    except RecursionError as wrong:
        raise FormatError(path, "JSON nested deeper than any tokenizer's") from wrong
    except ValueError as wrong:  # a key twice, NaN, a lone surrogate, a number of 5,000 digits
        raise FormatError(path, f"not the JSON of a tokenizer: {wrong}") from wrong
    if not isinstance(value, dict):
        raise FormatError(path, f"holds a JSON {type(value).__name__}; an object is wanted")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"key {twice!r} occurs twice in one object")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say which file it was when the data read from it fits no specification.

    Raises:
        FormatError: an OptionError was raised inside, or text that no encoding can hold (a lone
            surrogate) was met, or a pattern that a regular-expression engine chokes on.
    """
    try:
        yield
    except (OptionError, UnicodeError, RecursionError, OverflowError) as wrong:
        raise FormatError(path, str(wrong)) from wrong


@contextmanager
def open_output(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing, which takes the place of the old one once all of it is written.

    Of a symbolic link, the target is replaced. The permissions of the old file are kept. A pipe or
    a device is written to as it is.

    Raises:
        OptionError: the file cannot be written there.
        BrokenPipeError: nothing reads the pipe to its end.
    """
    try:
        if commits.is_stream(path):
            with path.open("wb") as file:
                yield file
            return
        temporary = commits.temporary_name(path)
        try:
            with commits.create(temporary, path) as file:
                yield file
            os.replace(temporary, commits.target_of(path))  # noqa: PTH105 - says what it does
        finally:
            with suppress(OSError, ValueError):  # ValueError: as in commits.create
                temporary.unlink()
    except BrokenPipeError:
        raise
    except OSError as wrong:
        raise OptionError(f"{path} cannot be written: {wrong.strerror or wrong}") from wrong


def write_bytes(path: Path, data: bytes) -> None:
    """Write the file at once or not at all; see :func:`open_output`.

    Raises:
        OptionError: the file cannot be written there.
    """
    with open_output(path) as file:
        file.write(data)


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8, as :func:`write_bytes` does."""
    write_bytes(path, text.encode())


def dump(value: object) -> str:
    """Return compact JSON, with characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def encode_json(text: str) -> bytes:
    """Return JSON in UTF-8, with lone surrogates escaped: names of files may hold them.

    Example:
        >>> encode_json(f'["{chr(0xDCFF)}"]').isascii()
        True
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        parts = (f"\\u{ord(each):04x}" if "\ud800" <= each <= "\udfff" else each for each in text)
        return "".join(parts).encode()


def highest_id(count: int) -> int:
    """Return the highest id in a file of ``count`` tokens.

    Each id up to the highest takes memory and time, whether it has a token or not, so gaps may not
    be larger than what a file of this size can answer for.

    Example:
        >>> highest_id(256), highest_id(200_000)
        (135168, 3331072)
    """
    return min(MAX_ID, _SPARE_IDS + _IDS_A_TOKEN * count)


def check_highest(path: Path, highest: int, count: int) -> None:
    """Raise FormatError where the highest id of ``count`` tokens is far beyond their number."""
    if highest > highest_id(count):
        raise FormatError(
            path,
            f"an id is {highest}, but there are only {count:,} tokens: ids up to "
            f"{highest_id(count)} can be read, as each one takes memory",
        )


def vocab_by_id(path: Path, ids: dict[bytes, int]) -> tuple[bytes, ...]:
    """Return the bytes of each id, ``b""`` where there is none.

    Raises:
        FormatError: an id is no integer in ``0..MAX_ID``, or is that of two tokens, or there are
            hardly any tokens up to the highest.
    """
    check_ids(path, ids)
    if list(ids.values()) == list(range(len(ids))):  # as in nearly all files
        return tuple(ids)
    highest = max(ids.values(), default=-1)
    check_highest(path, highest, len(ids))
    vocab = [b""] * (highest + 1)
    for token, token_id in ids.items():
        vocab[token_id] = token
    ids = {token: token_id for token, token_id in ids.items() if token}  # b"" is no token
    if len(vocab) - vocab.count(b"") != len(ids):
        token, token_id = next(item for item in ids.items() if vocab[item[1]] != item[0])
        raise FormatError(
            path, f"id {token_id} belongs to two tokens, {token!r} and {vocab[token_id]!r}"
        )
    return tuple(vocab)


def check_ids(path: Path, ids: dict[Any, Any]) -> None:
    """Raise FormatError where an id is no integer in ``0..MAX_ID``."""
    values = ids.values()
    if (
        set(map(type, values)) <= {int}
        and 0 <= min(values, default=0) <= max(values, default=0) <= MAX_ID
    ):
        return
    for token, token_id in ids.items():
        if type(token_id) is not int or not 0 <= token_id <= MAX_ID:
            raise FormatError(
                path, f"token {token!r} has id {token_id!r}; an id is an integer in 0..{MAX_ID}"
            )
