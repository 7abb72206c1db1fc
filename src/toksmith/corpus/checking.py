"""UTF-8 checks of files: invalid bytes raise an error, or are replaced by U+FFFD."""

from __future__ import annotations

import codecs
from collections.abc import Generator, Iterator

from toksmith._base.arrays import Bounds
from toksmith._base.lazy import np
from toksmith._base.text import Text
from toksmith.corpus.blocks import block_of
from toksmith.corpus.remote import FilePath
from toksmith.engine.portable import first_invalid
from toksmith.errors import FormatError

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""Byte order marks, longer ones first: that of UTF-32 starts with that of UTF-16."""

HEAD = 1 << 12
"""The number of bytes at the start of a file that are checked for its encoding."""

_FEWEST_NULLS, _SHARE_OF_NULLS = 8, 0.3
"""A file is not text if its head has at least this number and this share of null bytes."""

_LONGEST = 4
"""The maximum number of bytes of a character in UTF-8."""

NOT_UTF8 = "is not UTF-8 text"
"""The reason of a damaged record, to be read after its number."""


def text_start(path: FilePath, head: bytes) -> int:
    r"""Return the offset of a file's text: after a UTF-8 byte order mark, if it has one.

    Args:
        path: the file, for the message.
        head: its first :data:`HEAD` bytes.

    Raises:
        FormatError: the head is full of null bytes: UTF-16 or UTF-32 without a byte order mark, or
            no text at all.

    Example:
        >>> from pathlib import Path
        >>> text_start(Path("a.txt"), b"\xef\xbb\xbflow"), text_start(Path("a.txt"), b"low")
        (3, 0)
    """
    if head.startswith(tuple(_BYTE_ORDER_MARKS)):
        return 0  # the mark is invalid UTF-8, and is reported later
    nulls = head.count(0)
    if nulls >= _FEWEST_NULLS and nulls >= len(head) * _SHARE_OF_NULLS:
        even, odd = head[::2].count(0), head[1::2].count(0)
        name = next(
            (
                name
                for name, is_likely in (
                    ("UTF-32LE", min(head[2::4].count(0), head[3::4].count(0)) > len(head) // 5),
                    ("UTF-32BE", min(head[::4].count(0), head[1::4].count(0)) > len(head) // 5),
                    ("UTF-16LE", odd > 4 * even),
                    ("UTF-16BE", even > 4 * odd),
                )
                if is_likely
            ),
            "",
        )
        what = (
            f"this is most likely {name} text: convert it to UTF-8, such as with iconv -f {name} "
            "-t UTF-8"
            if name and nulls < len(head)
            else "this is no text: leave the file out"
        )
        raise FormatError(
            path, f"holds {nulls:,} null bytes in its first {len(head):,} bytes; {what}"
        )
    return len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0


def text_stream(
    path: FilePath, stream: Iterator[tuple[bytes, int]]
) -> Generator[tuple[bytes, int], None, None]:
    """Yield the parts of a file's text without its byte order mark; see :func:`text_start`."""
    head, done = b"", 0
    for part, read in stream:
        head, done = head + part, read
        if len(head) >= HEAD:
            break
    yield head[text_start(path, head[:HEAD]) :], done
    yield from stream


def check_slices(
    path: FilePath, text: Text, bounds: Bounds, errors: str, offset: int = 0
) -> tuple[Text, Bounds]:
    """Return slices of a file's bytes as valid UTF-8.

    Args:
        path: the file, for the message.
        text: its bytes.
        bounds: the slices, in order.
        errors: ``"strict"`` or ``"replace"``.
        offset: the offset of the text in the file.

    Raises:
        FormatError: a slice is invalid UTF-8, and ``errors`` is ``"strict"``.
    """
    if not len(bounds):
        return text, bounds
    start, end = int(bounds[0, 0]), int(bounds[-1, 1])
    place = first_invalid(text, start, end)
    if place == end:
        return text, bounds
    with memoryview(text) as view:  # type: ignore[arg-type]  # files are no str
        if errors == "strict":
            head = bytes(view[:_LONGEST]) if start == offset == 0 else b""
            raise not_text_error(path, offset + place, view[place], head)
        block = block_of(
            [_replaced(view[first:last].tobytes()) for first, last in bounds.tolist()], 0
        )
    return block.data, block.bounds


def drop_invalid(text: Text, bounds: Bounds) -> tuple[Bounds, list[tuple[int, int]]]:
    """Return the slices that are valid UTF-8, and the index and first invalid byte of each other.

    Args:
        text: bytes.
        bounds: the slices, in order.
    """
    if not len(bounds) or first_invalid(text, int(bounds[0, 0]), end := int(bounds[-1, 1])) == end:
        return bounds, []
    places = [first_invalid(text, start, end) for start, end in bounds.tolist()]
    is_valid = bounds[:, 1] == places
    return bounds[is_valid], [
        (index, places[index]) for index in np.flatnonzero(~is_valid).tolist()
    ]


def check_stream(
    path: FilePath, stream: Iterator[tuple[bytes, int]], errors: str
) -> Generator[tuple[bytes, int], None, None]:
    """Yield a text that comes in parts of arbitrary bounds as parts of valid UTF-8.

    Args:
        path: the file, for the message.
        stream: parts of the text, with how many bytes of the file were read for them.
        errors: ``"strict"`` or ``"replace"``.

    Raises:
        FormatError: the text is invalid UTF-8, and ``errors`` is ``"strict"``.
    """
    rest = b""
    before = done = 0
    for part, done in stream:
        text = rest + part
        # The start of an incomplete character at the end is kept for the next part.
        cut = len(text) - _unfinished(text)
        yield _checked(path, text[:cut], before, errors), done
        before += cut
        rest = text[cut:]
    if rest:
        yield _checked(path, rest, before, errors), done


def not_text_error(path: FilePath, place: int, byte: int, head: bytes = b"") -> FormatError:
    """Return the error for a file that is not UTF-8 text.

    Args:
        path: the file.
        place: the offset of its first invalid byte.
        byte: that byte.
        head: the file's first bytes, if they may show its encoding.
    """
    for mark, name in _BYTE_ORDER_MARKS.items():
        if place < len(mark) and head.startswith(mark):
            return FormatError(
                path,
                f"is {name} text, by its byte order mark {mark.hex(' ').upper()}: convert it to "
                f"UTF-8, such as with iconv -f {name} -t UTF-8",
            )
    return FormatError(
        path,
        f"is not UTF-8 text: byte 0x{byte:02X} at offset {place:,} is part of no character. "
        'Convert it, or replace such bytes by U+FFFD with encoding_errors="replace"',
    )


def _checked(path: FilePath, text: bytes, before: int, errors: str) -> bytes:
    place = first_invalid(text, 0, len(text))
    if place == len(text):
        return text
    if errors == "strict":
        raise not_text_error(path, before + place, text[place], b"" if before else text[:_LONGEST])
    return _replaced(text)


def _replaced(text: bytes) -> bytes:
    return text.decode(errors="replace").encode()


def _unfinished(text: bytes) -> int:
    """Return the number of bytes at the end that may be the start of a character."""
    for size in range(1, min(_LONGEST, len(text) + 1)):
        lead = text[-size]
        if lead & 0xC0 != 0x80:  # no continuation
            needed = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
            return size if needed > size else 0
    return 0
