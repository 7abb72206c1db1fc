"""Texts as users pass them (strings, bytes of any kind) and as engines take them (UTF-8)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from mmap import mmap
from typing import TypeAlias

from toksmith._base.lazy import np, npt
from toksmith.errors import OptionError

Text: TypeAlias = str | bytes | bytearray | memoryview | mmap
"""Text that can be encoded: a string, or UTF-8 bytes (which may be invalid)."""

Texts: TypeAlias = Text | Iterable[Text] | Mapping[str, Text | Iterable[Text]]
"""The values of ``texts=``: a text, several, or a mapping from a name to one or several."""

_TEXTS = (str, bytes, bytearray, memoryview, mmap)
_BROKEN = re.compile("[\udc80-\udcff]")

_BLOCK = 1 << 18
"""Bytes that are decoded at once: Python's decoders do not end on Ctrl-C."""

_CHARACTERS = 1 << 22
"""Characters that are encoded at once."""


def utf8(text: Text) -> bytes:
    r"""Return a text as bytes; surrogates in a string become the bytes that they hold, or U+FFFD.

    Raises:
        OptionError: it is neither.

    Example:
        >>> utf8("\ud83d\ude00"), utf8("\ud83d!")
        (b'\xf0\x9f\x98\x80', b'\xef\xbf\xbd!')
    """
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        try:
            view = memoryview(text)
        except TypeError:
            raise _no_text(text) from None
        if view.itemsize != 1:
            raise _no_text(text)
        return view.tobytes()
    try:
        if len(text) <= _CHARACTERS:
            return text.encode()
        starts = range(0, len(text), _CHARACTERS)
        return b"".join([text[start : start + _CHARACTERS].encode() for start in starts])
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def decode_utf8(data: bytes, errors: str) -> str:
    r"""Return ``data.decode("utf-8", errors)``, made in blocks so that Ctrl-C ends it.

    Example:
        >>> decode_utf8(b"a\xff", "replace")
        'a�'
    """
    if errors == "strict" or len(data) <= _BLOCK:  # where strict fails, the offset is in the data
        return data.decode("utf-8", errors)
    parts = []
    start = 0
    with memoryview(data) as view:
        while start < len(data):
            end = _character_start(data, start + _BLOCK)
            parts.append(str(view[start:end], "utf-8", errors))
            start = end
    return "".join(parts)


def _character_start(data: bytes, place: int) -> int:
    """Return the first place from ``place`` on that is not inside a character, valid or not."""
    end = place
    while end < min(place + 3, len(data)) and data[end] & 0xC0 == 0x80:  # a character has no more
        end += 1
    return end


def refuse_list(text: object, advice: str) -> None:
    """Refuse a list where one text is expected, and say what to do with several.

    Raises:
        OptionError: it is a list or a tuple.
    """
    if isinstance(text, list | tuple):
        raise OptionError(f"a text is a str or UTF-8 bytes, not {type(text).__name__}: {advice}")


def is_text(value: object) -> bool:
    """Return whether a value is one text."""
    return isinstance(value, _TEXTS)


def check_texts(texts: Sequence[Text], name: str) -> None:
    """Check that each of many texts is one that :func:`utf8` takes.

    Raises:
        OptionError: one is not; the message says where it is, such as ``texts[2]``.
    """
    for place, text in enumerate(texts):
        if not isinstance(text, _TEXTS):
            try:
                utf8(text)
            except OptionError:
                raise wrong_item(text, place, name) from None


def wrong_item(text: object, place: int, name: str) -> OptionError:
    """Return the error for an item of a list that is no text."""
    return OptionError(
        f"{name}[{place}] is {text!r:.40}: each must be a str or UTF-8 bytes, not "
        f"{type(text).__name__}"
    )


def path_refused(name: str) -> OptionError:
    """Return the error for a path that is given as a text."""
    return OptionError(
        f"{name} is a path, and texts are always text: give paths as files=, or read the file"
    )


def string(text: Text) -> str:
    r"""Return a text as a string, each byte of invalid UTF-8 as one U+FFFD.

    Raises:
        OptionError: it is neither a string nor bytes.

    Example:
        >>> string(b"caf\xc3\xa9 \xff")
        'café �'
    """
    if isinstance(text, str):
        return text
    found = utf8(text).decode("utf-8", "surrogateescape")
    return found if found.isascii() else _BROKEN.sub("\ufffd", found)


def codes(string: str) -> npt.NDArray[np.unsignedinteger]:
    r"""Return the number of each character: uint8 if all are ASCII, uint32 otherwise.

    Example:
        >>> codes("aé\udcff"), codes("a").dtype
        (array([   97,   233, 56575], dtype=uint32), dtype('uint8'))
    """
    if string.isascii():
        return np.frombuffer(string.encode(), np.uint8)
    return np.frombuffer(string.encode("utf-32-le", "surrogatepass"), np.uint32)


def _no_text(value: object) -> OptionError:
    refuse_list(value, "pass one text at a time")
    return OptionError(f"a text is a str or UTF-8 bytes, not {type(value).__name__}")


def byte_sizes(string: str) -> npt.NDArray[np.int64]:
    r"""Return the number of bytes of each character; a surrogate is one (``surrogateescape``).

    Example:
        >>> byte_sizes("aé€\udcff")
        array([1, 2, 3, 1])
    """
    codes = np.frombuffer(string.encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = 1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)
    sizes[codes >> 11 == 0x1B] = 1
    return sizes


def characters(text: Text, byte_spans: npt.NDArray[np.int64]) -> tuple[str, npt.NDArray[np.int64]]:
    """Return a text as a string, and which of its characters given bytes touch.

    Args:
        text: a string or bytes.
        byte_spans: int64, shape ``(n, 2)``: spans of the bytes that :func:`utf8` makes of it.

    Returns:
        The string (each byte of invalid UTF-8 as one U+FFFD) and int64 of shape ``(n, 2)``: the
        spans in characters; a character that is cut belongs to both sides.

    Example:
        >>> characters("né", np.array([[0, 2], [2, 3]]))
        ('né', array([[0, 2],
               [1, 2]]))
    """
    string = text if isinstance(text, str) else bytes(text).decode("utf-8", "surrogateescape")
    if string.isascii():
        return string, byte_spans
    try:
        data = np.frombuffer(string.encode(), np.uint8)
    except UnicodeEncodeError:
        return _characters_of_broken(text, string, byte_spans)
    started = np.append(np.cumsum((data & 0xC0) != 0x80), len(string) + 1)  # up to each byte
    start, end = byte_spans.T
    first = started[start] - 1
    spans = np.empty_like(byte_spans)
    spans[:, 0] = first
    spans[:, 1] = np.where(start == end, first, started[end - 1])
    return string, spans


def _characters_of_broken(
    text: Text, string: str, byte_spans: npt.NDArray[np.int64]
) -> tuple[str, npt.NDArray[np.int64]]:
    """Return the same of a string with surrogates; of bytes, surrogates mark invalid UTF-8."""
    codes = np.frombuffer(string.encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = 1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)
    widths = np.ones(len(codes), np.int64)
    if isinstance(text, str):
        # Two surrogates that make a pair are one character of four bytes.
        high = (codes[:-1] >> 10 == 0x36) & (codes[1:] >> 10 == 0x37)
        sizes[:-1][high], sizes[1:][high], widths[:-1][high] = 4, 0, 2
    else:
        invalid = codes >> 11 == 0x1B
        sizes[invalid] = 1
        if invalid.any():
            string = "".join(chr(c) if c >> 11 != 0x1B else "\ufffd" for c in codes.tolist())
    total = len(codes)
    owner = np.append(np.repeat(np.arange(total), sizes), total)
    first, last = owner[byte_spans[:, 0]], owner[np.maximum(byte_spans[:, 1] - 1, 0)]
    after = last + np.append(widths, 0)[last]
    empty = byte_spans[:, 0] == byte_spans[:, 1]
    return string, np.stack([first, np.where(empty, first, after)], axis=1)


def without_surrogates(string: str) -> str:
    """Return a text with U+FFFD for each byte of invalid UTF-8 (``surrogateescape``)."""
    try:
        string.encode()
    except UnicodeEncodeError:
        return "".join(c if ord(c) >> 11 != 0x1B else "\ufffd" for c in string)
    return string
