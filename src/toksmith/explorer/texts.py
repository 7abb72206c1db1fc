"""Texts that are too large for a text area: sent to the explorer once, and named by a key."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass

from toksmith.errors import OptionError
from toksmith.explorer.requests import Fields

MOST_BYTES = 16 * 1024 * 1024
"""The largest size of a text in bytes: every page of it is encoded with the whole text."""

_MOST_TEXTS = 4
_LOOKED_AT = 65_536
_SURROGATES = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True)
class KeptText:
    """A text that the explorer keeps.

    Attributes:
        key: its name in requests.
        name: of its file.
        text: with U+FFFD for each invalid byte.
        bytes: its size in UTF-8.
        invalid: the number of bytes that were invalid UTF-8.
    """

    key: str
    name: str
    text: str
    bytes: int
    invalid: int


class Texts:
    r"""The last few texts that were sent.

    Example:
        >>> kept = Texts().keep("poem.txt", b"low \xff")
        >>> kept.key, kept.text, kept.invalid
        ('text-1', 'low �', 1)
    """

    def __init__(self) -> None:
        self._kept: dict[str, KeptText] = {}
        self._number = 0
        self._lock = threading.Lock()

    def keep(self, name: str, data: bytes) -> KeptText:
        """Keep a text; the oldest one is dropped if there are too many.

        Raises:
            OptionError: the file is not text.
        """
        if b"\0" in data[:_LOOKED_AT]:
            raise OptionError(f"{name[:200]} is not text: it holds zero bytes. Choose a text file.")
        text, invalid = _SURROGATES.subn("\ufffd", data.decode("utf-8", "surrogateescape"))
        with self._lock:
            self._number += 1
            kept = KeptText(f"text-{self._number}", name, text, len(text.encode()), invalid)
            self._kept[kept.key] = kept
            while len(self._kept) > _MOST_TEXTS:
                del self._kept[next(iter(self._kept))]
        return kept

    def __getitem__(self, key: str) -> KeptText:
        kept = self._kept.get(key)
        if kept is None:
            raise OptionError(f"the text {key[:80]!r} is no longer kept: open its file again")
        return kept

    def of(self, fields: Fields) -> str:
        """Return a request's text: the kept one of its key ``file``, or its field ``text``."""
        key = fields.text("file")
        return self[key].text if key else fields.text("text")
