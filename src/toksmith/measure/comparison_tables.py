"""The tables of a comparison, as data for every view, and as Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from toksmith._base.visible import count_of, visible_name
from toksmith.errors import OptionError
from toksmith.measure.bootstrap import RESAMPLES
from toksmith.measure.comparison import ALL, Comparison, Figures, ScriptFigures
from toksmith.measure.metrics import GINI, MEASURES, METRICS, Metric
from toksmith.results import Encoding

BY_TEXT = ("tokens", "bytes_per_token", "fertility", "parity")
"""The measures that are shown text by text where none are chosen."""

_LEAST_SHARE, _MOST_SCRIPTS = 0.002, 10


@dataclass(frozen=True)
class TableRow:
    """A row of a table: a value for each tokenizer.

    Attributes:
        title: of the measure or text.
        hint: the formula of the measure.
        cells: the values as they are written.
        best: the names of the tokenizers that do best.
    """

    title: str
    hint: str
    cells: tuple[str, ...]
    best: frozenset[str]


@dataclass(frozen=True)
class FigureTable:
    """A table: a column for each tokenizer of the comparison.

    Attributes:
        head: the title of the first column.
        rows: from top to bottom.
    """

    head: str
    rows: tuple[TableRow, ...]


def total_table(comparison: Comparison, text: str = ALL) -> FigureTable:
    """Return the table of all measures on a text, or on all texts together."""
    figures = comparison.total if text == ALL else comparison.of_text(text)
    is_all = text == ALL and len(comparison.texts) > 1
    rows = []
    if not comparison.measures:
        sizes = tuple(f"{tok.vocab_size:,}" for tok in comparison.tokenizers)
        rows.append(TableRow("vocabulary", "", sizes, frozenset()))
    for metric in shown_metrics(comparison, figures):
        if metric is not GINI:
            rows.append(_row(title_of(metric, comparison), metric, figures))
        elif is_all:
            ginis = {tok.name: tok.gini for tok in comparison.tokenizers}
            cells = tuple(GINI.written(value) for value in ginis.values())
            rows.append(
                TableRow(title_of(GINI, comparison), GINI.formula, cells, best_of(GINI, ginis))
            )
    return FigureTable("all texts" if is_all else "", tuple(rows))


def text_tables(comparison: Comparison) -> Iterator[FigureTable]:
    """Yield the tables of single measures, with a row for each text."""
    if len(comparison.texts) > 1:
        for name in comparison.measures or BY_TEXT:
            if table := text_table(comparison, MEASURES[name]):
                yield table


def text_table(comparison: Comparison, metric: Metric) -> FigureTable | None:
    """Return the table of a measure, text by text; ``None`` where no text has it."""
    if metric is GINI or not any(_value(each, metric) is not None for each in comparison.figures):
        return None
    rows = tuple(
        _row(visible_name(text.name), metric, comparison.of_text(text.name), hint="")
        for text in comparison.texts
    )
    return FigureTable(title_of(metric, comparison), rows)


def script_table(comparison: Comparison, metric: Metric, head: str) -> FigureTable | None:
    """Return the table of a measure, script by script; ``None`` where there is one script only."""
    scripts = shown_scripts(comparison)
    if len(scripts) < 2:
        return None
    rows = []
    for script, figures in scripts.items():
        values = {each.tokenizer: getattr(each, metric.name) for each in figures}
        if any(value == value for value in values.values()):
            cells = tuple(metric.written(value) for value in values.values())
            rows.append(TableRow(script, "", cells, best_of(metric, values)))
    return FigureTable(head, tuple(rows))


def shown_metrics(comparison: Comparison, figures: Sequence[Figures]) -> Iterator[Metric]:
    """Yield the chosen measures that have a value, in the order in which they were chosen."""
    for name in comparison.measures or MEASURES:
        metric = MEASURES[name]
        if metric is GINI or any(_value(each, metric) is not None for each in figures):
            yield metric


def shown_scripts(comparison: Comparison) -> dict[str, tuple[ScriptFigures, ...]]:
    """Return the figures of the scripts that are worth a line, the most frequent first.

    None are where measures were chosen, since scripts are no measure.
    """
    if comparison.measures:
        return {}
    found = comparison.by_script()
    least = _LEAST_SHARE * sum(figures[0].characters for figures in found.values())
    frequent = [
        (script, figures)
        for script, figures in found.items()
        if figures[0].characters >= least and any(each.tokens for each in figures)
    ]
    return dict(frequent[:_MOST_SCRIPTS])


def title_of(metric: Metric, comparison: Comparison) -> str:
    """Return a measure's name in this comparison, with an arrow to where it is better."""
    title = metric.title
    if metric.name == "normalized_sequence_length":
        title = f"tokens, relative to {visible_name(comparison.reference)}"
    return f"{title} {metric.arrow}".rstrip()


def best_of(metric: Metric, values: Mapping[str, float | None]) -> frozenset[str]:
    """Return the names of the best values; none if the measure has no best, or most are best."""
    known = {name: value for name, value in values.items() if value is not None and value == value}
    if metric.better is None or len(known) < 2 or len(set(known.values())) == 1:
        return frozenset()
    best_value = (max if metric.better == "more" else min)(known.values())
    winners = {name for name, value in known.items() if value == best_value}
    return frozenset(winners if 2 * len(winners) <= len(values) else ())


def measured_on(comparison: Comparison) -> list[str]:
    """Return lines that say on what the figures were measured, and what they do not say."""
    lines = list(comparison.notes)
    for text in comparison.texts:
        number = count_of(text.documents, "document")
        line = f"{visible_name(text.name)}: {number}, {text.bytes:,} bytes"
        if not text.is_whole:
            words = "words, " if text.sample_words is not None else ""
            line += (
                f"; {words}scripts, round trips and speed on {text.sample_bytes:,} bytes of it, "
                f"picked at random (seed {comparison.seed})"
            )
        lines.append(line)
    if comparison.level is not None and not any(each.intervals for each in comparison.total):
        lines.append("No intervals: the sample of a text is a single passage, or empty.")
    elif comparison.level is not None:
        lines.append(
            f"In parentheses: {100 * comparison.level:.4g} % bootstrap intervals over the passages "
            f"of the sample (percentiles of {RESAMPLES:,} draws, seed {comparison.seed})."
        )
    lines.append(
        "Fewer tokens is not better by itself (arXiv 2402.18376), and fertility and parity do not "
        "always predict quality (arXiv 2310.08754)."
    )
    return lines


def markdown(comparison: Comparison, measure: str | None = None) -> str:
    """Return a table in Markdown; see :meth:`Comparison.to_markdown`."""
    table = _chosen(comparison, measure)
    heads = [table.head, *(visible_name(tok.name) for tok in comparison.tokenizers)]
    lines = [[_markdown(head) for head in heads], [":--", *["--:"] * (len(heads) - 1)]]
    lines += [
        [_markdown(row.title), *(f"**{cell}**" if best else cell for cell, best in cells)]
        for row, cells in _cells(comparison, table)
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def latex(comparison: Comparison, measure: str | None = None) -> str:
    """Return a table in LaTeX; see :meth:`Comparison.to_latex`."""
    table = _chosen(comparison, measure)
    heads = [table.head, *(visible_name(tok.name) for tok in comparison.tokenizers)]
    lines = [
        rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
        r"\toprule",
        rf"{' & '.join(map(_latex, heads))} \\",
        r"\midrule",
    ]
    for row, cells in _cells(comparison, table):
        written = (rf"\textbf{{{_latex(cell)}}}" if best else _latex(cell) for cell, best in cells)
        lines.append(rf"{' & '.join([_latex(row.title), *written])} \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _chosen(comparison: Comparison, measure: str | None) -> FigureTable:
    if measure is None:
        return total_table(comparison)
    names = [metric.name for metric in METRICS.values() if text_table(comparison, metric)]
    if measure not in names:
        raise OptionError(
            f"no text of this comparison has the measure {measure!r:.80}: use {', '.join(names)}"
        )
    table = text_table(comparison, METRICS[measure])
    assert table is not None
    return table


def _cells(
    comparison: Comparison, table: FigureTable
) -> Iterator[tuple[TableRow, list[tuple[str, bool]]]]:
    """Yield the rows, and each cell with whether it is the best."""
    names = [tok.name for tok in comparison.tokenizers]
    for row in table.rows:
        pairs = zip(names, row.cells, strict=True)
        yield row, [(cell, name in row.best) for name, cell in pairs]


def _row(
    title: str, metric: Metric, figures: Sequence[Figures], hint: str | None = None
) -> TableRow:
    values = {each.tokenizer: _value(each, metric) for each in figures}
    cells = tuple(
        metric.written(_value(each, metric))
        + metric.written_interval(each.intervals.get(metric.name))
        for each in figures
    )
    return TableRow(title, metric.formula if hint is None else hint, cells, best_of(metric, values))


def _value(figures: Figures, metric: Metric) -> float | None:
    return figures.values.get(metric.name)


# An underscore inside a word, as in cl100k_base, is no emphasis.
_MARKDOWN = re.compile(r"[\\`*\[\]<>|~#&]|(?<!\w)_|_(?!\w)")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(lambda sign: f"\\{sign[0]}", text)


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def differing_tokens(encodings: Sequence[Encoding]) -> list[list[bool]]:
    """Return, for each token of each tokenizer, whether another tokenizer has no token there.

    Two tokens are the same here if they cover the same bytes of the text, however their
    vocabularies spell them. Where a tokenizer leaves spaces to no token, as BERT's does, a space
    that a token starts with is not compared.

    Args:
        encodings: of one text, one for each tokenizer.

    Example:
        >>> import toksmith
        >>> low = toksmith.train(texts=["low low"], vocab_size=258)
        >>> er = toksmith.train(texts=["er er"], vocab_size=257)
        >>> differing_tokens([tok.encoding("her low") for tok in (low, er)])
        [[False, True, True, False, True], [False, True, False, True, True, True]]
    """
    without_space = any(map(_leaves_spaces_out, encodings))
    spans = [_spans(each, without_space) for each in encodings]
    common = set.intersection(*map(set, spans)) if spans else set()
    return [[span not in common for span in each] for each in spans]


def _spans(encoding: Encoding, without_space: bool) -> list[tuple[int, int]]:
    text = encoding.text
    return [
        (start + (without_space and end - start > 1 and text[first : first + 1] == " "), end)
        for (start, end), first in zip(
            encoding.byte_spans.tolist(), encoding.spans[:, 0].tolist(), strict=True
        )
    ]


def _leaves_spaces_out(encoding: Encoding) -> bool:
    return any(
        end < start and encoding.text[end] == " "
        for (_, end), (start, _) in pairwise(encoding.spans.tolist())
    )
