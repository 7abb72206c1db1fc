"""Views of the code points of a text, and of its size in UTF-8, UTF-16 and UTF-32."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text as RichText

from toksmith._base.lazy import is_missing
from toksmith._base.report import shows
from toksmith._base.text import Text, string, utf8
from toksmith._base.visible import count_of, visible
from toksmith.errors import MissingExtraError
from toksmith.segment.characters import CATEGORIES, CodePoint, UnicodeText, code_points
from toksmith.show.style import read_styles

_COLUMNS = ("code", "text", "name", "", "UTF-8", "UTF-16LE", "UTF-32LE")
_WIDTH = 100
_ENCODINGS = (("UTF-8", "utf-8"), ("UTF-16", "utf-16-le"), ("UTF-32", "utf-32-le"))


@dataclass(frozen=True)
class EncodingSize:
    """The size of a text in one encoding.

    Attributes:
        name: ``"UTF-8"``, ``"UTF-16"`` or ``"UTF-32"``.
        size: bytes, without a byte order mark.
        zeros: the number of zero bytes in it.
        marked_size: bytes with a byte order mark in front, as of ``str.encode("utf-16")``.
        marked_zeros: the number of zero bytes in that.
    """

    name: str
    size: int
    zeros: int
    marked_size: int
    marked_zeros: int


def encoding_sizes(text: Text) -> list[EncodingSize]:
    """Return the size of a text in UTF-8, UTF-16 and UTF-32.

    UTF-16 and UTF-32 have U+FFFD for invalid UTF-8; all three have it for a lone surrogate.

    Example:
        >>> for size in encoding_sizes("A 한"):
        ...     print(size.name, size.size, size.zeros)
        UTF-8 5 0
        UTF-16 6 2
        UTF-32 12 8
    """
    data = utf8(text)
    sizes = []
    for name, codec in _ENCODINGS:
        encoded = data if codec == "utf-8" else string(data).encode(codec)
        mark = "\ufeff".encode(codec)
        size, zeros = len(encoded), encoded.count(0)
        sizes.append(EncodingSize(name, size, zeros, size + len(mark), zeros + mark.count(0)))
    return sizes


def unicode_view(text: Text, limit: int | None = 200) -> RenderableType:
    """Return a text's code points with their names and bytes, and its size in each encoding.

    A row is a code point: its number, the character (spaces, controls and marks that change the
    direction of text are shown by a sign or their number), its name, its general category, and its
    bytes in UTF-8, UTF-16 and UTF-32 (the last two little-endian). With ICU
    (``pip install toksmith[segment]``), a brace joins the code points of one grapheme.

    Args:
        text: a string, or UTF-8 bytes.
        limit: the number of code points to show; ``None`` shows all. The totals count all.
    """
    whole = string(text)
    shown = list(islice(code_points(text), limit))
    try:
        from toksmith.segment import graphemes

        ends = graphemes(whole).bounds.tolist()
    except MissingExtraError as error:
        if not is_missing(error):
            raise
        ends = None
    parts: list[RenderableType] = [_table(shown, _braces(ends, len(shown)))]
    if len(shown) < len(whole):
        parts.append(RichText(f"… and {len(whole) - len(shown):,} more"))
    parts += [_legend(shown), RichText(), _sizes(text)]
    characters = f", {count_of(len(ends) - 1, 'grapheme')}" if ends is not None else ""
    version = f"names of Unicode {unicodedata.unidata_version}"
    parts.append(RichText(f"\n{count_of(len(whole), 'code point')}{characters}; {version}"))
    return Group(*parts)


def unicode_text(text: Text, limit: int | None = 200) -> str:
    r"""Return :func:`unicode_view` as plain text, for ``print``.

    Example:
        >>> print(unicode_text("é").partition("\n")[2].partition("\n")[0])
        U+00E9  é     LATIN SMALL LETTER E WITH ACUTE  Ll  C3 A9  E9 00     E9 00 00 00
    """
    console = Console(file=io.StringIO(), width=_WIDTH, color_system=None)
    with console.capture() as capture:
        console.print(unicode_view(text, limit))
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def unicode_html(text: Text, limit: int | None = 200) -> str:
    """Return a text's code points and its size in each encoding as two HTML tables.

    Example:
        >>> "LATIN SMALL LETTER A" in unicode_html("a")
        True
    """
    whole = string(text)
    points = [
        (
            "—" if point.code is None else f"U+{point.code:04X}",
            "" if point.code is None else visible(utf8(point.text)),
            point.name,
            point.category,
            *(data.hex(" ").upper() or "—" for data in (point.utf8, point.utf16, point.utf32)),
        )
        for point in islice(code_points(text), limit)
    ]
    sizes = [
        (size.name, *(f"{n:,}" for n in (size.size, size.zeros, size.marked_size)))
        for size in encoding_sizes(text)
    ]
    more = f"<div>… and {len(whole) - len(points):,} more</div>" if len(points) < len(whole) else ""
    return (
        f'<style>{read_styles("base")}</style><div class="ts">'
        f"{_html_table(_COLUMNS, points)}{more}"
        f"{_html_table(('', 'bytes', 'zero bytes', 'with byte order mark'), sizes)}</div>"
    )


def _html_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    marks = [' class="ts-long"' if name == "name" else "" for name in columns]
    cells = (
        "".join(
            f"<td{mark}><bdi>{escape(cell)}</bdi></td>"
            for mark, cell in zip(marks, row, strict=True)
        )
        for row in rows
    )
    head = "".join(f"<th>{name}</th>" for name in columns)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f'<div class="ts-wide"><table class="ts-rows"><tr>{head}</tr>{body}</table></div>'


def _braces(bounds: list[int] | None, number: int) -> Iterator[str]:
    """Yield the part of a brace before each code point; a brace joins those of one grapheme."""
    for start, end in zip(bounds or [], (bounds or [])[1:], strict=False):
        if start >= number:
            return
        yield from [" "] if end == start + 1 else ["╭", *"│" * (end - start - 2), "╰"]
    while bounds is None:
        yield " "


def _table(points: Iterable[CodePoint], braces: Iterator[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(_COLUMNS[0], no_wrap=True)
    for name in _COLUMNS[1:3]:
        table.add_column(name, overflow="fold")
    for name in _COLUMNS[3:]:
        table.add_column(name, no_wrap=True, style="dim" if name else "")
    for point, brace in zip(points, braces, strict=False):
        table.add_row(
            f"{brace} U+{point.code:04X}" if point.code is not None else f"{brace} —",
            RichText("" if point.code is None else visible(utf8(point.text))),
            RichText(point.name),
            point.category,
            *(data.hex(" ").upper() or "—" for data in (point.utf8, point.utf16, point.utf32)),
        )
    return table


def _legend(points: Iterable[CodePoint]) -> RichText:
    used = sorted({point.category for point in points if point.category})
    return RichText(" · ".join(f"{name} {CATEGORIES[name]}" for name in used), "dim")


def _sizes(text: Text) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for name in ("bytes", "zero bytes", "with byte order mark", "zero bytes"):
        table.add_column(name, justify="right")
    for size in encoding_sizes(text):
        figures = (size.size, size.zeros, size.marked_size, size.marked_zeros)
        table.add_row(size.name, *(f"{figure:,}" for figure in figures))
    return table


shows(
    UnicodeText,
    text=lambda found: unicode_text(found.source),
    html=lambda found: unicode_html(found.source),
)
