"""Walking a tokenizer.json, so that every error names the entry and its value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from toksmith._base import files
from toksmith.errors import FormatError, UnsupportedError

_T = TypeVar("_T")


@dataclass(frozen=True)
class Entry:
    """One value of the file and where it stands.

    Attributes:
        path: the file.
        name: the way to it, such as ``pre_tokenizer.pattern``; empty for the whole file.
        value: what JSON holds there; ``None`` also where there is no such entry.
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
        """Return the value, checked to be of this kind."""
        if type(self.value) is not kind:
            raise FormatError(
                self.path, f"{self.name or 'the file'} is {self._shown()}; wanted: a {_NAMES[kind]}"
            )
        return self.value

    def text(self, key: str) -> str:
        """Return an entry that is a string."""
        return self.get(key).of(str)

    def token_id(self) -> int:
        """Return the value, checked to be a token id."""
        value = self.of(int)
        if not 0 <= value <= files.MAX_ID:
            raise FormatError(
                self.path, f"{self.name} is {self._shown()}; ids are 0..{files.MAX_ID}"
            )
        return value

    def expect(self, key: str, *wanted: object) -> None:
        """Check that an entry is one of these values (``None``: or is not there).

        Raises:
            UnsupportedError: it is something else.
        """
        entry = self.get(key)
        # In Python False is 0; in a file it is not.
        if not any(entry.value == value and type(entry.value) is type(value) for value in wanted):
            raise entry.refusal()

    def only(self, *keys: str) -> None:
        """Check that this object has no other entries.

        Raises:
            UnsupportedError: it has.
        """
        for key in self.of(dict):
            if key not in keys:
                raise self.get(key).refusal()

    def refusal(self, value: object = None) -> UnsupportedError:
        """Return the error for something that is right and cannot be read yet."""
        shown = self._shown() if value is None else files.dump(value)
        return UnsupportedError(f"{self.path}: {self.name} {shown} cannot be read yet")

    def _shown(self) -> str:
        shown = files.dump(self.value)
        return shown if len(shown) <= 60 else shown[:59] + "…"


_NAMES: dict[type, str] = {
    dict: "JSON object",
    list: "list",
    str: "string",
    int: "whole number",
    bool: "true or false",
}
