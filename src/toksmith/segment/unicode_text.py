"""A text's code points, and its bytes in each encoding, as one object."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from toksmith._base.report import html_of, text_of
from toksmith._base.text import Text, string, utf8
from toksmith._base.visible import count_of, visible_name
from toksmith.segment.code_points import CodePoint, code_points

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
        """The text as a string, each byte of invalid UTF-8 as U+FFFD."""
        return string(self.source)

    @cached_property
    def code_points(self) -> list[CodePoint]:
        """Number, name, category and bytes of each character, and of each invalid byte."""
        return list(code_points(self.source))

    @cached_property
    def utf8(self) -> bytes:
        """Its bytes in UTF-8, as given; a lone surrogate of a string is U+FFFD."""
        return utf8(self.source)

    @property
    def utf16(self) -> bytes:
        """Its bytes in UTF-16, little-endian with a byte order mark, as ``str.encode`` has it."""
        return b"\xff\xfe" + self._valid.encode("utf-16-le")

    @property
    def utf32(self) -> bytes:
        """Its bytes in UTF-32, little-endian with a byte order mark, as ``str.encode`` has it."""
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
