"""Entries of a JSON file with their names, so that every error names the entry and its value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from toksmith._base import files
from toksmith._base.records import dataclass
from toksmith.errors import FormatError, UnsupportedError

_T = TypeVar("_T")

_NEWER = (
    "it is not part of the format as tokenizers 0.23 writes it, so its meaning is not known here; "
    "if a newer version wrote the file, look for a newer toksmith, or save the file with 0.23"
)


class NeedsPlainJson(Exception):  # noqa: N818
    """The kernel has read the vocabulary, but the checks of this file need it as JSON."""


@dataclass(frozen=True)
class Entry:
    """One value of the file, with its name.

    Attributes:
        path: the file.
        name: its path in the file, such as ``pre_tokenizer.pattern``; empty for the whole file.
        value: the JSON value; ``None`` also if there is no such entry.
    """

    path: Path
    name: str
    value: Any

    def get(self, key: str) -> Entry:
        """Return an entry of this object."""
        return Entry(self.path, f"{self.name}.{key}" if self.name else key, self.of(dict).get(key))

    def items(self) -> Iterator[Entry]:
        """Return the entries of this list."""
        for place, value in enumerate(self.of(list)):
            yield Entry(self.path, f"{self.name}[{place}]", value)

    def of(self, kind: type[_T]) -> _T:
        """Return the value; raise if it is not of this type."""
        if type(self.value) is not kind:
            raise FormatError(
                self.path, f"{self.name or 'the file'} is {self._shown()}, not a {_NAMES[kind]}"
            )
        return self.value

    def text(self, key: str) -> str:
        """Return an entry that is a string."""
        return self.get(key).of(str)

    def token_id(self) -> int:
        """Return the value; raise if it is no token id."""
        value = self.of(int)
        if not 0 <= value <= files.MAX_ID:
            raise FormatError(
                self.path, f"{self.name} is {self._shown()}; ids are 0..{files.MAX_ID}"
            )
        return value

    def expect(self, key: str, *wanted: object) -> None:
        """Check that an entry has one of these values (``None`` also allows a missing entry).

        Raises:
            UnsupportedError: the entry has another value.
        """
        entry = self.get(key)
        # False == 0 in Python, but not in JSON.
        if not any(entry.value == value and type(entry.value) is type(value) for value in wanted):
            known = " and ".join(files.dump(value) for value in wanted)
            raise entry.refusal(
                f"the only value that is known here is {known}"
                if len(wanted) == 1
                else f"the values that are known here are {known}"
            )

    def only(self, *keys: str) -> None:
        """Check that this object has no other entries.

        Raises:
            UnsupportedError: the object has another entry.
        """
        for key in self.of(dict):
            if key not in keys:
                raise self.get(key).refusal()

    def refusal(self, why: str = _NEWER) -> UnsupportedError:
        """Return the error for a valid value that toksmith does not support, and why not."""
        return UnsupportedError(f"{self.path}: {self.name} {self._shown()} cannot be read: {why}")

    def _shown(self) -> str:
        try:
            shown = files.dump(self.value)
        except TypeError:  # the kernel holds a part of it
            raise NeedsPlainJson from None
        return shown if len(shown) <= 60 else shown[:59] + "…"


_NAMES: dict[type, str] = {
    dict: "JSON object",
    list: "list",
    str: "string",
    int: "whole number",
    bool: "boolean",
}
