"""The metadata of a GGUF file: keys and typed values, which come before the tensors.

The file is read from its start to the end of the metadata. Every length and count is checked
against the rest of the file before it is used.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from toksmith._base import files
from toksmith._base.lazy import np, npt
from toksmith._base.records import dataclass, field
from toksmith.errors import FormatError, UnsupportedError

MAGIC = b"GGUF"

_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_NUMBERS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?",
    10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_COUNT = struct.Struct("<Q")
_WINDOW = 2**22
"""Bytes of the file that are read at once."""
_SMALLEST_ENTRY = 13
"""Bytes of a key-value pair with an empty key and a value of one byte."""


@dataclass(frozen=True)
class Metadata:
    """The keys and values of a file.

    A string is ``bytes``, because it may be invalid UTF-8; an array of strings is a list of them,
    and an array of numbers is a NumPy array.

    Attributes:
        path: the file, for errors.
        values: the values by key.
    """

    path: Path
    values: dict[str, Any] = field(repr=False)

    def text(self, key: str) -> str | None:
        """Return a string; ``None`` if the key is missing."""
        held = self.values.get(key)
        if held is None:
            return None
        if not isinstance(held, bytes):
            self._refuse(key, "a string")
        try:
            return held.decode()
        except UnicodeDecodeError:
            raise FormatError(self.path, f"{key} is {held!r:.60}, which is invalid UTF-8") from None

    def flag(self, key: str, default: bool) -> bool:
        """Return a boolean; ``default`` if the key is missing."""
        held = self.values.get(key, default)
        if not isinstance(held, bool):
            self._refuse(key, "a boolean")
        return held

    def number(self, key: str) -> int | None:
        """Return a whole number; ``None`` if the key is missing."""
        held = self.values.get(key)
        if held is not None and type(held) is not int:
            self._refuse(key, "a whole number")
        return held

    def strings(self, key: str) -> list[bytes]:
        """Return an array of strings, which must exist."""
        held = self._array(key)
        if not isinstance(held, list):
            self._refuse(key, "an array of strings")
        return held

    def numbers(self, key: str, kinds: str, size: int | None = None) -> npt.NDArray[Any] | None:
        """Return an array of numbers; ``None`` if the key is missing.

        Args:
            key: the key.
            kinds: the allowed kinds of NumPy's types: ``i``, ``u`` and ``f``.
            size: the number of tokens: elements beyond it are left out.
        """
        if key not in self.values:
            return None
        held = self._array(key)
        if not isinstance(held, np.ndarray) or held.dtype.kind not in kinds:
            self._refuse(key, f"an array of {'numbers' if 'f' in kinds else 'whole numbers'}")
        if size is None:
            return held
        if len(held) < size:
            raise FormatError(
                self.path, f"{key} has {len(held):,} elements, but there are {size:,} tokens"
            )
        return held[:size]

    def _array(self, key: str) -> Any:
        if key not in self.values:
            raise FormatError(self.path, f"{key} is missing, which this kind of tokenizer needs")
        return self.values[key]

    def _refuse(self, key: str, wanted: str) -> NoReturn:
        held = self.values[key]
        kind = "array" if isinstance(held, np.ndarray | list) else type(held).__name__
        raise FormatError(self.path, f"{key} is of type {kind}, not {wanted}")


def read_metadata(path: Path, prefixes: tuple[str, ...]) -> Metadata:
    """Return the keys that start with one of the prefixes, and their values.

    Raises:
        FormatError: the file is damaged, truncated or no GGUF file.
        UnsupportedError: the version or the byte order is not supported.
    """
    with files.opened(path) as file:
        return Metadata(path, _Reader(path, file, prefixes).entries())


class _Reader:
    """A position in the file, which moves forward with each value."""

    def __init__(self, path: Path, file: BinaryIO, prefixes: tuple[str, ...]) -> None:
        self._path = path
        self._file = file
        self._size = file.seek(0, os.SEEK_END)
        self._at = 0
        self._window, self._start = b"", 0  # a part of the file, and its place
        self._prefixes = tuple(prefix.encode() for prefix in prefixes)

    def entries(self) -> dict[str, Any]:
        if self._take(4, "the magic number") != MAGIC:
            raise FormatError(self._path, "does not start with GGUF: this is another kind of file")
        version = self._number("<I", "the version")
        if version not in _VERSIONS:
            swapped = int.from_bytes(version.to_bytes(4, "little"), "big")
            what = (
                f"version {swapped} in big-endian byte order"
                if swapped in _VERSIONS
                else f"version {version}"
            )
            raise UnsupportedError(
                f"{self._path}: GGUF of {what} is not supported; convert the model again with a "
                "current llama.cpp (version 3, little-endian)"
            )
        self._number("<Q", "the number of tensors")
        count = self._count(_SMALLEST_ENTRY, "key-value pairs")
        found: dict[str, Any] = {}
        seen: set[bytes] = set()
        for _ in range(count):
            key = self._string("a key")
            if key in seen:
                raise FormatError(self._path, f"key {key!r:.80} occurs twice")
            seen.add(key)
            is_wanted = key.startswith(self._prefixes)
            value = self._value(self._number("<I", "a type"), key, is_wanted)
            if is_wanted:
                found[key.decode(errors="replace")] = value
        return found

    def _value(self, kind: int, key: bytes, is_wanted: bool) -> Any:
        what = f"the value of {key.decode(errors='replace'):.80}"
        if kind == _STRING:
            return self._string(what)
        if kind == _ARRAY:
            return self._array(what, is_wanted)
        if kind not in _NUMBERS:
            raise FormatError(self._path, f"{what} has type {kind}: types are 0 to 12")
        return self._number(_NUMBERS[kind], what)

    def _array(self, what: str, is_wanted: bool) -> Any:
        kind = self._number("<I", what)
        if kind == _STRING:
            return self._strings(self._count(_COUNT.size, f"strings in {what}"), what, is_wanted)
        if kind not in _NUMBERS:
            raise FormatError(
                self._path, f"{what} is an array of type {kind}: use numbers or strings"
            )
        size = struct.calcsize(_NUMBERS[kind])
        count = self._count(size, f"elements in {what}")
        if not is_wanted:
            self._at += count * size
            return None
        return np.frombuffer(self._take(count * size, what), np.dtype(_NUMBERS[kind]))

    def _strings(self, count: int, what: str, is_wanted: bool) -> list[bytes]:
        if is_wanted and count > files.MAX_ID:
            raise FormatError(self._path, f"there are {count:,} strings in {what}, which no "
                              f"vocabulary has: at most {files.MAX_ID:,} can be read")  # fmt: skip
        at, length = self._at, _COUNT.unpack_from
        window, start = self._window, self._start
        found: list[bytes] = []
        for _ in range(count):
            place = at - start
            if place + _COUNT.size > len(window):
                window, start, place = self._read(at, _COUNT.size, what), at, 0
            size = length(window, place)[0]
            at += _COUNT.size + size
            if is_wanted:
                text = window[place + _COUNT.size : at - start]
                if len(text) < size:
                    window, start = self._read(at - size, size, what), at - size
                    text = window[:size]
                found.append(text)
        if at > self._size:
            self._refuse_end(what)
        self._at = at
        return found

    def _string(self, what: str) -> bytes:
        return self._take(self._number("<Q", what), what)

    def _count(self, size: int, what: str) -> int:
        """Read the number of elements of an array; each takes at least ``size`` bytes."""
        count: int = self._number("<Q", f"the number of {what}")
        if count * size > self._size - self._at:
            raise FormatError(
                self._path,
                f"claims {count:,} {what}, but only {self._size - self._at:,} bytes are left: "
                "the file is damaged or truncated",
            )
        return count

    def _number(self, form: str, what: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form), what))[0]

    def _take(self, size: int, what: str) -> bytes:
        start = self._at
        if size > self._size - start:
            self._refuse_end(what)
        self._at = start + size
        place = start - self._start
        if place + size > len(self._window):
            self._read(start, size, what)
            place = 0
        return self._window[place : place + size]

    def _read(self, start: int, size: int, what: str) -> bytes:
        """Return at least ``size`` bytes from a place on, and keep them as the window."""
        if size > self._size - start:
            self._refuse_end(what)
        try:
            self._file.seek(start)
            self._window = self._file.read(max(size, _WINDOW))
        except OSError as wrong:
            raise FormatError(self._path, f"cannot be read: {wrong.strerror or wrong}") from wrong
        self._start = start
        if len(self._window) < size:
            raise FormatError(
                self._path, f"became shorter than {self._size:,} bytes while it was read"
            )
        return self._window

    def _refuse_end(self, what: str) -> NoReturn:
        raise FormatError(
            self._path,
            f"{what} reaches beyond the end of the file ({self._size:,} bytes): the file is "
            "damaged or truncated",
        )
