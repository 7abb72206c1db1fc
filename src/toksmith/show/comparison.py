"""A comparison of tokenizers in the terminal: tables of figures, and tokens side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from toksmith.measure.comparison import Comparison, Figures, Passage, ScriptFigures
from toksmith.measure.metrics import GINI, METRICS, Metric
from toksmith.show.side_by_side import side_by_side
from toksmith.visible import visible_name

BY_TEXT = ("tokens", "bytes_per_token", "fertility", "parity")
"""The figures that are shown text by text."""

_BEST = "bold green"
_LEAST_SHARE, _MOST_SCRIPTS = 0.002, 10


def comparison_view(
    comparison: Comparison, *, colour: bool = True, width: int = 80, notes: bool = True
) -> RenderableType:
    """Return the tables of a comparison: a column for each tokenizer.

    Args:
        comparison: what to show. Of a short text the tokens are shown as well.
        colour: ``False`` marks nothing.
        width: in terminal cells.
        notes: say on what the figures were measured, and what they do not say.
    """
    parts: list[RenderableType] = []
    if len(comparison.texts) == 1 and comparison.passages and comparison.passages[0].is_whole:
        parts += [passage_view(comparison.passages[0], colour=colour, width=width), ""]
    parts.append(_all_figures(comparison, colour))
    if len(comparison.texts) > 1:
        for name in BY_TEXT:
            if any(getattr(figures, name) is not None for figures in comparison.figures):
                parts += ["", _by_text(comparison, METRICS[name], colour)]
    if len(scripts := shown_scripts(comparison)) > 1:
        parts += ["", _by_script(comparison, scripts, colour)]
    if notes:
        parts += ["", Text("\n".join(measured_on(comparison)), "dim" if colour else "")]
    return Group(*parts)


def passage_view(passage: Passage, *, colour: bool = True, width: int = 80) -> RenderableType:
    """Return the tokens of a text by each tokenizer, side by side where there is room."""
    return side_by_side(passage.encodings, colour=colour, width=width)


def shown_metrics(figures: Sequence[Figures]) -> Iterator[Metric]:
    """Yield the metrics of which there is a figure, in their order."""
    for metric in METRICS.values():
        if any(getattr(each, metric.name) is not None for each in figures):
            yield metric


def shown_scripts(comparison: Comparison) -> dict[str, tuple[ScriptFigures, ...]]:
    """Return the figures of the scripts that are worth a line, the most frequent first."""
    found = comparison.by_script()
    least = _LEAST_SHARE * sum(figures[0].characters for figures in found.values())
    frequent = [
        (script, figures)
        for script, figures in found.items()
        if figures[0].characters >= least and any(each.tokens for each in figures)
    ]
    return dict(frequent[:_MOST_SCRIPTS])


def script_metric(comparison: Comparison) -> Metric:
    """Return what is shown of scripts: tokens of a whole text, characters a token of a sample."""
    is_whole = len(comparison.texts) == 1 and comparison.texts[0].is_whole
    return METRICS["tokens" if is_whole else "characters_per_token"]


def best(metric: Metric, figures: Sequence[Figures]) -> set[str]:
    """Return the tokenizers that do best by a metric; none if it has no best, or most do."""
    values = {each.tokenizer: getattr(each, metric.name) for each in figures}
    return best_of(metric, values)


def best_of(metric: Metric, values: Mapping[str, float | None]) -> set[str]:
    """Return the names of the values that are best by a metric; see :func:`best`."""
    known = {name: value for name, value in values.items() if value is not None and value == value}
    if metric.better is None or len(known) < 2 or len(set(known.values())) == 1:
        return set()
    best_value = (max if metric.better == "more" else min)(known.values())
    winners = {name for name, value in known.items() if value == best_value}
    return winners if 2 * len(winners) <= len(values) else set()


def measured_on(comparison: Comparison) -> list[str]:
    """Return lines that say on what the figures were measured, and what they do not say."""
    lines = list(comparison.notes)
    for text in comparison.texts:
        number = f"{text.documents:,} document{'' if text.documents == 1 else 's'}"
        line = f"{visible_name(text.name)}: {number}, {text.bytes:,} bytes"
        if not text.is_whole:
            words = "words, " if text.sample_words is not None else ""
            line += (
                f"; {words}scripts, round trips and speed on {text.sample_bytes:,} bytes of it, "
                f"picked at random (seed {comparison.seed})"
            )
        lines.append(line)
    lines.append(
        "Fewer tokens is not better by itself (arXiv 2402.18376), and fertility and parity do not "
        "always predict quality (arXiv 2310.08754)."
    )
    return lines


def _all_figures(comparison: Comparison, colour: bool) -> Table:
    several = len(comparison.texts) > 1
    table = _table(comparison, "all texts" if several else "")
    table.add_row(
        "vocabulary", *(Text(f"{tok.vocab_size:,}", "dim") for tok in comparison.tokenizers)
    )
    for metric in shown_metrics(comparison.total):
        title = metric.title
        if metric.name == "normalized_sequence_length":
            title = f"tokens to {visible_name(comparison.reference)}"
        winners = best(metric, comparison.total)
        cells = [
            _cell(metric.written(getattr(each, metric.name)), each.tokenizer in winners, colour)
            for each in comparison.total
        ]
        table.add_row(title, *cells)
    if several:
        values = {tok.name: tok.gini for tok in comparison.tokenizers}
        winners = best_of(GINI, values)
        cells = [
            _cell(GINI.written(value), name in winners, colour) for name, value in values.items()
        ]
        table.add_row("Gini across texts", *cells)
    return table


def _by_text(comparison: Comparison, metric: Metric, colour: bool) -> Table:
    table = _table(comparison, metric.title)
    for text in comparison.texts:
        rows = comparison.of_text(text.name)
        winners = best(metric, rows)
        cells = [
            _cell(metric.written(getattr(each, metric.name)), each.tokenizer in winners, colour)
            for each in rows
        ]
        table.add_row(Text(visible_name(text.name)), *cells)
    return table


def _by_script(
    comparison: Comparison, scripts: Mapping[str, Sequence[ScriptFigures]], colour: bool
) -> Table:
    metric = script_metric(comparison)
    table = _table(comparison, f"{metric.title}, by script")
    for script, figures in scripts.items():
        values = {each.tokenizer: getattr(each, metric.name) for each in figures}
        winners = best_of(metric, values)
        if all(value != value for value in values.values()):
            continue
        cells = [_cell(metric.written(values[name]), name in winners, colour) for name in values]
        table.add_row(script, *cells)
    return table


def _table(comparison: Comparison, title: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(Text(title), overflow="fold")
    for tok in comparison.tokenizers:
        table.add_column(Text(visible_name(tok.name)), justify="right", overflow="fold")
    return table


def _cell(written: str, is_best: bool, colour: bool) -> Text:
    return Text(written, _BEST if is_best and colour else "", no_wrap=True)
