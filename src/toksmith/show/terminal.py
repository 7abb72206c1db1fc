"""Tokens in the terminal: in colour, or set apart by bars where there is no colour."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

from toksmith._base.visible import visible
from toksmith.results import Encoding
from toksmith.show.style import FOREGROUND, NEUTRAL, PALETTE, SPECIAL
from toksmith.show.token_rows import TokenRow, TokenRows
from toksmith.show.token_text import covered_texts

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
    """Return what a console without colours would print."""
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
        shown = visible(token)
        name = f"*{token_id}" if is_special else str(token_id)
        colours = PALETTE if marked is None or marked[place] else NEUTRAL
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
