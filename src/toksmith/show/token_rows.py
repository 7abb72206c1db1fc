"""A table of tokens in the terminal, made of segments because rich's own table is slow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

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
