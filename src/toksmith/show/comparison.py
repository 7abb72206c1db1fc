"""A comparison of tokenizers in the terminal: tables of figures, and tokens side by side."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from toksmith._base.visible import visible_name
from toksmith.measure.comparison import Comparison, Passage
from toksmith.measure.comparison_tables import (
    FigureTable,
    measured_on,
    script_table,
    text_tables,
    total_table,
)
from toksmith.measure.metrics import METRICS, Metric
from toksmith.show.side_by_side import side_by_side

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
