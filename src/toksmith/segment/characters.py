"""Characters of a text: its code points with number, name, category and bytes, and its graphemes.

Graphemes are user-perceived characters, by UAX #29 section 3.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from toksmith._base.report import html_of, text_of
from toksmith._base.text import Text, string, utf8
from toksmith._base.visible import count_of, visible_name
from toksmith.segment.icu import boundaries, cutter
from toksmith.segment.spans import Spans

CATEGORIES = {
    "Lu": "uppercase letter", "Ll": "lowercase letter", "Lt": "titlecase letter",
    "Lm": "modifier letter", "Lo": "other letter",
    "Mn": "nonspacing mark", "Mc": "spacing mark", "Me": "enclosing mark",
    "Nd": "decimal number", "Nl": "letter number", "No": "other number",
    "Pc": "connector punctuation", "Pd": "dash punctuation", "Ps": "open punctuation",
    "Pe": "close punctuation", "Pi": "initial quote", "Pf": "final quote",
    "Po": "other punctuation",
    "Sm": "math symbol", "Sc": "currency symbol", "Sk": "modifier symbol", "So": "other symbol",
    "Zs": "space", "Zl": "line separator", "Zp": "paragraph separator",
    "Cc": "control", "Cf": "format", "Cs": "surrogate", "Co": "private use", "Cn": "unassigned",
}  # fmt: skip
"""The names of Unicode's general categories (Unicode Standard, section 4.5)."""

# Controls have no name; these are their first aliases in Unicode's NameAliases.txt.
_C0 = (
    "NULL", "START OF HEADING", "START OF TEXT", "END OF TEXT", "END OF TRANSMISSION", "ENQUIRY",
    "ACKNOWLEDGE", "ALERT", "BACKSPACE", "CHARACTER TABULATION", "LINE FEED", "LINE TABULATION",
    "FORM FEED", "CARRIAGE RETURN", "SHIFT OUT", "SHIFT IN", "DATA LINK ESCAPE",
    "DEVICE CONTROL ONE", "DEVICE CONTROL TWO", "DEVICE CONTROL THREE", "DEVICE CONTROL FOUR",
    "NEGATIVE ACKNOWLEDGE", "SYNCHRONOUS IDLE", "END OF TRANSMISSION BLOCK", "CANCEL",
    "END OF MEDIUM", "SUBSTITUTE", "ESCAPE", "INFORMATION SEPARATOR FOUR",
    "INFORMATION SEPARATOR THREE", "INFORMATION SEPARATOR TWO", "INFORMATION SEPARATOR ONE",
)  # fmt: skip
_C1 = (
    "DELETE", "PADDING CHARACTER", "HIGH OCTET PRESET", "BREAK PERMITTED HERE", "NO BREAK HERE",
    "INDEX", "NEXT LINE", "START OF SELECTED AREA", "END OF SELECTED AREA",
    "CHARACTER TABULATION SET", "CHARACTER TABULATION WITH JUSTIFICATION", "LINE TABULATION SET",
    "PARTIAL LINE FORWARD", "PARTIAL LINE BACKWARD", "REVERSE LINE FEED", "SINGLE SHIFT TWO",
    "SINGLE SHIFT THREE", "DEVICE CONTROL STRING", "PRIVATE USE ONE", "PRIVATE USE TWO",
    "SET TRANSMIT STATE", "CANCEL CHARACTER", "MESSAGE WAITING", "START OF GUARDED AREA",
    "END OF GUARDED AREA", "START OF STRING", "SINGLE GRAPHIC CHARACTER INTRODUCER",
    "SINGLE CHARACTER INTRODUCER", "CONTROL SEQUENCE INTRODUCER", "STRING TERMINATOR",
    "OPERATING SYSTEM COMMAND", "PRIVACY MESSAGE", "APPLICATION PROGRAM COMMAND",
)  # fmt: skip
_CONTROLS = dict(enumerate(_C0)) | dict(enumerate(_C1, 0x7F))


@dataclass(frozen=True)
class CodePoint:
    r"""One character of a text, or one byte of invalid UTF-8.

    Attributes:
        text: the character; U+FFFD for a byte of invalid UTF-8.
        code: its number; ``None`` for such a byte.
        name: its name. A control has its first alias, what has no name a label such as
            ``<reserved-0378>``.
        category: its general category, a key of :data:`CATEGORIES`; ``""`` for such a byte.
        utf8: its bytes in UTF-8; none for a surrogate, which UTF-8 cannot hold.
        utf16: its bytes in UTF-16, little-endian; none for such a byte.
        utf32: its bytes in UTF-32, little-endian; none for such a byte.
    """

    text: str
    code: int | None
    name: str
    category: str
    utf8: bytes
    utf16: bytes
    utf32: bytes


def code_points(text: Text) -> Iterator[CodePoint]:
    r"""Yield the code points of a text, one by one.

    Args:
        text: a string, or UTF-8 bytes.

    Source:
        The Unicode Character Database in the version of ``unicodedata.unidata_version``; The
        Unicode Standard, sections 3.9 (UTF-8, UTF-16, UTF-32) and 4.8 (labels).

    Example:
        >>> for point in code_points("é\n👋"):
        ...     print(f"{point.code:04X}", point.name, point.category, point.utf8.hex(" "))
        00E9 LATIN SMALL LETTER E WITH ACUTE Ll c3 a9
        000A LINE FEED Cc 0a
        1F44B WAVING HAND SIGN So f0 9f 91 8b
    """
    if isinstance(text, str):
        yield from map(_code_point, text)
        return
    for character in utf8(text).decode("utf-8", "surrogateescape"):
        is_broken = "\udc80" <= character <= "\udcff"
        yield _broken(ord(character) & 0xFF) if is_broken else _code_point(character)


def _code_point(character: str) -> CodePoint:
    code, category = ord(character), unicodedata.category(character)
    return CodePoint(
        character,
        code,
        unicodedata.name(character, "") or _CONTROLS.get(code) or _label(code, category),
        category,
        b"" if category == "Cs" else character.encode(),
        character.encode("utf-16-le", "surrogatepass"),
        character.encode("utf-32-le", "surrogatepass"),
    )


def _broken(byte: int) -> CodePoint:
    return CodePoint(
        "\ufffd", None, f"<byte {byte:02X}, invalid UTF-8>", "", bytes([byte]), b"", b""
    )


def _label(code: int, category: str) -> str:
    is_noncharacter = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    kind = {"Cs": "surrogate", "Co": "private-use"}.get(category, "reserved")
    return f"<{'noncharacter' if is_noncharacter else kind}-{code:04X}>"


_SHOWN = 40


@dataclass(frozen=True, repr=False)
class UnicodeText:
    """The result of :func:`unicode`; ``print`` shows a table of its code points and sizes.

    Attributes:
        source: the text as it was given.

    Example:
        >>> import toksmith
        >>> found = toksmith.unicode("é")
        >>> found.code_points[0].name, len(found.utf8)
        ('LATIN SMALL LETTER E WITH ACUTE', 2)
    """

    source: Text

    @cached_property
    def text(self) -> str:
        r"""The text as a string, each byte of invalid UTF-8 as U+FFFD.

        Example:
            >>> unicode(b'caf\xe9').text
            'caf�'
        """
        return string(self.source)

    @cached_property
    def code_points(self) -> list[CodePoint]:
        """Number, name, category and bytes of each character, and of each invalid byte.

        Example:
            >>> [each.name for each in unicode("é!").code_points]
            ['LATIN SMALL LETTER E WITH ACUTE', 'EXCLAMATION MARK']
        """
        return list(code_points(self.source))

    @cached_property
    def utf8(self) -> bytes:
        r"""Its bytes in UTF-8, as given; a lone surrogate of a string is U+FFFD.

        Example:
            >>> unicode("é").utf8
            b'\xc3\xa9'
        """
        return utf8(self.source)

    @property
    def utf16(self) -> bytes:
        r"""Its bytes in UTF-16, little-endian with a byte order mark, as ``str.encode`` has it.

        Example:
            >>> unicode("é").utf16
            b'\xff\xfe\xe9\x00'
        """
        return b"\xff\xfe" + self._valid.encode("utf-16-le")

    @property
    def utf32(self) -> bytes:
        r"""Its bytes in UTF-32, little-endian with a byte order mark, as ``str.encode`` has it.

        Example:
            >>> unicode("é").utf32
            b'\xff\xfe\x00\x00\xe9\x00\x00\x00'
        """
        return b"\xff\xfe\x00\x00" + self._valid.encode("utf-32-le")

    @property
    def _valid(self) -> str:
        return string(self.utf8)

    def __len__(self) -> int:
        return len(self.text)

    def __repr__(self) -> str:
        shown = visible_name(self.text[:_SHOWN])
        if len(self.text) > _SHOWN or len(shown) > _SHOWN:
            shown = shown[: _SHOWN - 1] + "…"
        return (
            f"<UnicodeText '{shown}': {count_of(len(self), 'code point')}, "
            f"{count_of(len(self.utf8), 'byte')} in UTF-8, {len(self.utf16):,} in UTF-16, "
            f"{len(self.utf32):,} in UTF-32>"
        )

    def __str__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)


def unicode(text: Text) -> UnicodeText:
    r"""Return a text's code points and its bytes in UTF-8, UTF-16 and UTF-32.

    Args:
        text: a string, or UTF-8 bytes.

    Raises:
        OptionError: it is neither.

    Source:
        The Unicode Standard, section 3.9 (UTF-8, UTF-16, UTF-32).

    Example:
        >>> found = unicode("é👋")
        >>> [point.name for point in found.code_points]
        ['LATIN SMALL LETTER E WITH ACUTE', 'WAVING HAND SIGN']
        >>> found.utf8.hex(" ")
        'c3 a9 f0 9f 91 8b'
        >>> found
        <UnicodeText 'é👋': 2 code points, 6 bytes in UTF-8, 8 in UTF-16, 12 in UTF-32>
    """
    found = UnicodeText(text)
    len(found)  # checks the type
    return found


def graphemes(text: Text) -> Spans:
    r"""Return the extended grapheme clusters of a text: what a reader takes for one character.

    Args:
        text: a string, or UTF-8 bytes.

    Returns:
        Spans in characters that cover the text without gaps.

    Raises:
        MissingExtraError: ICU is not installed (``pip install toksmith[segment]``).

    Source:
        UAX #29, *Unicode Text Segmentation*, section 3; extended grapheme clusters.

    Example:
        >>> graphemes("e\u0301👩\u200d🚀한").pieces == ["e\u0301", "👩\u200d🚀", "한"]
        True
    """
    characters = string(text)
    return Spans(characters, boundaries(characters, cutter("Character")))
