"""A comparison of tokenizers in the terminal: tables of figures, and tokens side by side."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from toksmith._base.text import utf8
from toksmith._base.visible import count_of, visible_name
from toksmith.measure.comparison import Comparison, Passage
from toksmith.measure.comparison_tables import (
    FigureTable,
    differing_tokens,
    measured_on,
    script_table,
    text_tables,
    total_table,
)
from toksmith.measure.metrics import METRICS, Metric
from toksmith.results import Encoding
from toksmith.show.terminal import encoding_text

_BEST = "bold green"


def comparison_view(
    comparison: Comparison, *, colour: bool = True, width: int = 80, notes: bool = True
) -> RenderableType:
    """Return the tables of a comparison: a column for each tokenizer.

    Args:
        comparison: its tokens are shown too if it is of one short text.
        colour: ``False`` marks nothing.
        width: in terminal cells.
        notes: add notes on how the figures were measured, and on their limits.
    """
    parts: list[RenderableType] = []
    if len(comparison.texts) == 1 and comparison.passages and comparison.passages[0].is_whole:
        parts += [passage_view(comparison.passages[0], colour=colour, width=width), ""]
    tables = [total_table(comparison), *text_tables(comparison)]
    metric = script_metric(comparison)
    tables += filter(None, [script_table(comparison, metric, f"{metric.title}, by script")])
    for place, table in enumerate(tables):
        parts += [*([""] if place else []), _drawn(comparison, table, colour)]
    if notes:
        parts += ["", Text("\n".join(measured_on(comparison)), "dim" if colour else "")]
    return Group(*parts)


def passage_view(passage: Passage, *, colour: bool = True, width: int = 80) -> RenderableType:
    """Return the tokens of a text by each tokenizer, side by side where there is room."""
    return side_by_side(passage.encodings, colour=colour, width=width)


def script_metric(comparison: Comparison) -> Metric:
    """Return the metric of the table by script: tokens of a whole text, else their length."""
    is_whole = len(comparison.texts) == 1 and comparison.texts[0].is_whole
    return METRICS["tokens" if is_whole else "characters_per_token"]


def _drawn(comparison: Comparison, figures: FigureTable, colour: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(Text(figures.head), overflow="fold")
    for tok in comparison.tokenizers:
        table.add_column(Text(visible_name(tok.name)), justify="right", overflow="fold")
    for row in figures.rows:
        cells = (
            Text(cell, _BEST if colour and tok.name in row.best else "")
            for tok, cell in zip(comparison.tokenizers, row.cells, strict=True)
        )
        table.add_row(Text(row.title), *cells)
    return table


_NARROWEST = 36
_BETWEEN = 3


def side_by_side(
    encodings: Mapping[str, Encoding], *, colour: bool = True, width: int = 80
) -> RenderableType:
    """Return the tokens of a text by each tokenizer, line by line, or one below the other.

    Tokens that all tokenizers make are grey; the others have the colours of tokens. Without
    colours the others are inside ``⟦ ⟧``.

    Args:
        encodings: of one text, by the names of tokenizers.
        colour: whether to use colours.
        width: in terminal cells; if columns would be narrow, tokenizers come one below the other.
    """
    marks = dict(zip(encodings, differing_tokens(list(encodings.values())), strict=True))
    heads = {
        name: Text(
            f"{visible_name(name)}: {count_of(len(each), 'token')}", "bold" if colour else ""
        )
        for name, each in encodings.items()
    }
    room = (width - _BETWEEN * (len(encodings) - 1)) // max(len(encodings), 1)
    if room < _NARROWEST or len(encodings) < 2:
        parts: list[RenderableType] = []
        for name, each in encodings.items():
            tokens = encoding_text(each, ids=False, colour=colour, width=width, marked=marks[name])
            parts += [*([""] if parts else []), heads[name], tokens]
        return Group(*parts)
    table = Table(box=None, pad_edge=False, padding=(0, _BETWEEN, 0, 0), show_header=True)
    for name in encodings:
        table.add_column(heads[name], width=room, overflow="fold")
    rows = [_lines(each, marks[name], colour, room) for name, each in encodings.items()]
    for cells in zip(*rows, strict=True):
        table.add_row(*cells)
    return table


def _lines(encoding: Encoding, marked: list[bool], colour: bool, width: int) -> Iterator[Text]:
    """Yield the tokens that start in each line of the text."""
    data = utf8(encoding.text)
    starts = encoding.spans[:, 0].tolist()
    first = 0
    ends = [place + 1 for place, letter in enumerate(encoding.text) if letter == "\n"]
    for end in [*ends, len(encoding.text) + 1] if data else []:
        after = bisect_right(starts, end - 1, lo=first)
        part = encoding[first:after]
        yield encoding_text(part, ids=False, colour=colour, width=width, marked=marked[first:after])
        first = after
