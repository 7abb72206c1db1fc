"""The forms of a call: the input given to a library, and the function that is timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SEPARATOR = "<|endoftext|>"
"""Separates the documents of a text."""

SHORT_CHARACTERS = 60


@dataclass(frozen=True)
class Form:
    """One way to ask.

    Attributes:
        title: for the tables.
        call: the adapter's method that returns what is timed.
        given: makes the input from the type that the library takes (bytes or str) and the
            bytes of the text, or of its ids (uint32).
        first: bytes for a first call, so that what a library puts off until then is not timed.
        calls: how many are timed together; the time of one is reported.
        parallel: whether it is measured on all cores too.
    """

    title: str
    call: str
    given: Callable[[type, bytes], Any]
    first: bytes = b"word"
    calls: int = 1
    parallel: bool = True

    @property
    def from_ids(self) -> bool:
        """Whether ids are given, and not text."""
        return self.given in (_id_list, _id_array)

    @property
    def unit(self) -> str:
        """Of the speeds in the tables."""
        return "ns" if self.calls > 1 else "M ids/s" if self.from_ids else "MB/s"

    def speed(self, size: int, seconds: float) -> str:
        """Return how fast so many bytes, or ids, were: in the unit of the form."""
        return f"{seconds * 1e9:,.0f}" if self.calls > 1 else f"{size / 1e6 / seconds:.1f}"


def _whole(takes: type, data: bytes) -> Any:
    return data if takes is bytes else data.decode()


def _string(takes: type, data: bytes) -> str:
    return data.decode(errors="ignore")  # a part of a file may end inside a character


def _documents(takes: type, data: bytes) -> Any:
    text = _whole(takes, data)
    return text.split(SEPARATOR.encode() if takes is bytes else SEPARATOR)


def _string_documents(takes: type, data: bytes) -> list[str]:
    return _string(takes, data).split(SEPARATOR)


def _short(takes: type, data: bytes) -> str:
    return data.decode()[:SHORT_CHARACTERS]


def _id_array(takes: type, data: bytes) -> Any:
    import numpy as np

    return np.frombuffer(data, np.uint32)


def _id_list(takes: type, data: bytes) -> list[int]:
    ids: list[int] = _id_array(takes, data).tolist()
    return ids


FORMS = {
    "array": Form("the whole text as one document, to an array of ids", "array", _whole),
    "string": Form("the whole text as one Python string, to an array of ids", "array", _string),
    "list": Form(
        "the whole text as one document, to a Python list", "list", _whole, parallel=False
    ),
    "batch": Form(
        "the documents of the text, to the type that the library returns", "batch", _documents
    ),
    "lists": Form("the documents of the text, to Python lists", "lists", _documents),
    "spans": Form(
        "the documents of the text one by one, to the characters that each token stands for",
        "spans",
        _string_documents,
        parallel=False,
    ),
    "short": Form(
        f"{SHORT_CHARACTERS} characters, to a Python list, over and over",
        "list",
        _short,
        calls=20_000,
        parallel=False,
    ),
    "count": Form("the whole text, to the number of its tokens", "count", _whole),
    "decode": Form("a Python list of ids, to a string", "decode", _id_list, bytes(4)),
    "decode_array": Form("an array of ids, to a string", "decode_array", _id_array, bytes(4)),
}
