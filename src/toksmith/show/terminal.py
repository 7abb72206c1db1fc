"""Tokens in the terminal: in colour, or set apart by bars where there is no colour."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from toksmith._base.visible import visible_start
from toksmith.results import Encoding
from toksmith.show.style import FOREGROUND, NEUTRAL, SPECIAL, TERMINAL
from toksmith.show.token_text import covered_texts

_BETWEEN = "  "


class TokenRow(NamedTuple):
    """The cells of a token, and the style of its text."""

    id: str
    token: str
    characters: str
    bytes: str
    last: str
    style: str = ""


class TokenRows:
    """A rich renderable: the table, with tokens and the last column folded to the width.

    Args:
        last: the head of the last column.
        rows: a row for each token.

    Example:
        >>> from toksmith.show.terminal import render_plain
        >>> print(render_plain(TokenRows("hex", [TokenRow("97", "a", "0–1", "0–1", "61")])))
        id  token  characters  bytes  hex
        97  a             0–1    0–1  61
    """

    def __init__(self, last: str, rows: Iterable[TokenRow]) -> None:
        self._rows = [TokenRow("id", "token", "characters", "bytes", last), *rows]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        """Yield the table piece by piece."""
        widths = [max(map(cell_len, column)) for column in zip(*self._rows, strict=True)][:5]
        others = widths[0] + widths[2] + widths[3] + 4 * len(_BETWEEN)
        room = max(options.max_width - others, 2)
        if widths[1] + widths[4] > room:
            widths[1] = min(widths[1], max(room // 2, room - widths[4]))
            widths[4] = room - widths[1]
        dim, bold, plain = Style(dim=True), Style(bold=True), Style()
        for number, row in enumerate(self._rows):
            token = console.get_style(row.style) if row.style else plain
            styles = [plain, token, plain, plain, dim] if number else [bold] * 5
            for cells in self._lines(row, widths, console):
                yield from _line(cells, widths, styles)

    def _lines(
        self, row: TokenRow, widths: Sequence[int], console: Console
    ) -> Iterable[tuple[str, ...]]:
        """Return the cells of a row, line by line."""
        if cell_len(row.token) <= widths[1] and cell_len(row.last) <= widths[4]:
            return [row[:5]]
        token, last = (
            [line.plain for line in Text(cell).wrap(console, width, overflow="fold")]
            for cell, width in ((row.token, widths[1]), (row.last, widths[4]))
        )
        head = ([row.id], token, [row.characters], [row.bytes], last)
        return zip_longest(*head, fillvalue="")


def _line(
    cells: Sequence[str], widths: Sequence[int], styles: Sequence[Style]
) -> Iterator[Segment]:
    for column, (cell, width, style) in enumerate(zip(cells, widths, styles, strict=True)):
        if column == 4:
            yield Segment(cell, style)
        elif column == 1:
            yield Segment(set_cell_size(cell, width), style)
        else:
            yield Segment(" " * (width - cell_len(cell)) + cell, style)
        if column < 4:
            yield Segment(_BETWEEN)
    yield Segment.line()


_BAR = "│"
_MOST_HEX = 16


class _Cell(NamedTuple):
    token: str
    id: str
    style: str
    width: int
    ends_line: bool


def has_colour(console: Console) -> bool:
    """Return whether this console shows colours: it is a terminal, and ``NO_COLOR`` is not set."""
    return console.color_system is not None and not console.no_color


def render_plain(renderable: RenderableType, width: int = 100) -> str:
    """Return the output of a console without colours."""
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, no_color=True).print(renderable)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def encoding_text(
    encoding: Encoding,
    *,
    ids: bool = True,
    colour: bool = True,
    width: int = 80,
    marked: Sequence[bool] | None = None,
) -> Text:
    """Return a text's tokens in alternating background colours, each id below its token.

    The colours set foreground and background, which is readable on dark and light terminals.
    Special tokens have their own colour and a ``*`` before their id. A token that ends in a line
    break ends the row.

    Args:
        encoding: what to show.
        ids: show the ids below the tokens.
        colour: ``False`` sets the tokens apart by ``│`` instead.
        width: of the rows, in terminal cells. A token wider than that has rows of its own.
        marked: the tokens to mark: the others are grey; without colours, ``⟦ ⟧`` marks them.

    Example:
        >>> from toksmith._base.arrays import Span
        >>> from toksmith.results import Encoding
        >>> spans = [Span(0, 1), Span(1, 3)]
        >>> encoding = Encoding("a b", [97, 300], [b"a", b" b"], spans, spans, [False, False])
        >>> print(encoding_text(encoding, colour=False))
        a  │·b
        97 │300
    """
    separator = "" if colour else _BAR
    lines: list[Text] = []
    for row in _rows(_cells(encoding, ids, marked, colour), width, len(separator)):
        tokens, below = Text(), Text()
        for place, cell in enumerate(row):
            is_last = place == len(row) - 1
            between = "" if is_last else separator
            padding = " " * (cell.width - cell_len(cell.token))
            tokens.append(cell.token, cell.style if colour else "")
            tokens.append(("" if is_last else padding) + between)
            below.append(cell.id if is_last else cell.id.ljust(cell.width), "dim")
            below.append(between)
        lines += [tokens, below] if ids else [tokens]
    return Text("\n", overflow="fold").join(lines)


def encoding_table(encoding: Encoding, *, colour: bool = True) -> TokenRows:
    """Return a table with a row for each token: id, token, characters, bytes, and bytes in hex.

    If tokens are not the text itself, as in models of words and pieces, the last column is the text
    that each covers; it is empty for a token that covers none.
    """
    covered = covered_texts(encoding)
    last = map(_hex, encoding.tokens) if covered is None else iter(covered)
    return TokenRows(
        "hex" if covered is None else "text",
        (
            TokenRow(
                cell.id,
                cell.token,
                f"{start}–{end}",
                f"{byte_start}–{byte_end}",
                shown,
                cell.style if colour else "",
            )
            for cell, (start, end), (byte_start, byte_end), shown in zip(
                _cells(encoding, ids=True),
                encoding.spans.tolist(),
                encoding.byte_spans.tolist(),
                last,
                strict=True,
            )
        ),
    )


def _hex(token: bytes) -> str:
    shown = token[:_MOST_HEX].hex(" ").upper()
    return shown if len(token) <= _MOST_HEX else f"{shown} …"


def _cells(
    encoding: Encoding, ids: bool, marked: Sequence[bool] | None = None, colour: bool = True
) -> Iterator[_Cell]:
    tokens = zip(encoding.ids, encoding.tokens, encoding.special, strict=True)
    for place, (token_id, token, is_special) in enumerate(tokens):
        shown = visible_start(token)
        name = f"*{token_id}" if is_special else str(token_id)
        colours = TERMINAL if marked is None or marked[place] else NEUTRAL
        background = SPECIAL if is_special else colours[place % len(colours)]
        if marked is not None and marked[place] and not colour:
            shown = f"⟦{shown}⟧"
        # One cell of room keeps neighbouring ids apart where no bar does.
        width = max(cell_len(shown), len(name) + 1) if ids else cell_len(shown)
        style = f"{FOREGROUND} on {background}"
        yield _Cell(shown, name, style, width, token.endswith(b"\n"))


def _rows(cells: Iterator[_Cell], width: int, between: int) -> Iterator[list[_Cell]]:
    row: list[_Cell] = []
    used = 0
    for cell in cells:
        if row and used + cell.width > width:
            yield row
            row, used = [], 0
        row.append(cell)
        used += cell.width + between
        if cell.ends_line:
            yield row
            row, used = [], 0
    if row:
        yield row
