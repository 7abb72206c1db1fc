"""Views of advice on the vocabulary size: in the terminal, as HTML, and as a plot."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from toksmith._base.lazy import np
from toksmith._base.report import shows
from toksmith.measure.vocabulary_advice import Suggestion
from toksmith.measure.vocabulary_size import SizePoint, VocabularyAdvice
from toksmith.show.chart import Line, Mark, Plot, plot_svg, plot_text
from toksmith.show.style import read_styles, wrap_page
from toksmith.show.terminal import render_plain

_PLACES = 120


def advice_plot(advice: VocabularyAdvice) -> Plot:
    """Return bytes a token against vocabulary size, with the recommended size marked."""
    last = advice.max_vocab
    sizes = np.unique(np.geomspace(256, last, _PLACES).round().astype(np.int64))
    ratio = advice.bytes / advice.tokens[sizes - 256]
    chosen = advice.recommendation.vocab_size
    return Plot(
        title="Compression by vocabulary size",
        x_label="vocabulary size",
        y_label="bytes a token",
        lines=[Line("bytes a token", sizes.tolist(), ratio.tolist())],
        marks=[Mark(f"{chosen:,}", chosen)] if 256 <= chosen <= last else [],
        log_x=True,
    )


def advice_view(
    advice: VocabularyAdvice, width: int = 80, *, ascii_only: bool = False
) -> RenderableType:
    """Return the advice for a terminal: the recommendation, a plot, tables, and each suggestion.

    Args:
        advice: the advice.
        width: of the terminal, in characters.
        ascii_only: draw with ASCII characters only.
    """
    chosen = advice.recommendation
    sign = "-" if ascii_only else "•"
    parts: list[RenderableType] = [
        Text(f"Recommended: {chosen.vocab_size:,}", "bold"),
        _bullets(chosen.reasons, sign),
        Text("But:"),
        _bullets(chosen.caveats, sign),
        Text(),
        Text(plot_text(advice_plot(advice), min(width, 100), ascii_only=ascii_only)),
        Text(),
    ]
    for headings, rows, legend in _tables(advice):
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in headings:
            table.add_column(heading, justify="right")
        for row in rows:
            table.add_row(*row)
        parts += [table, Text(legend, "dim"), Text()]
    ways = Table.grid(padding=(0, 1))
    ways.add_column(justify="right")
    for way in chosen.suggestions:
        ways.add_row(_size(way), Text(f"{way.source}: {way.meaning}"))
    return Group(*parts, Text("Each way of looking at it"), ways)


def _bullets(lines: tuple[str, ...], sign: str) -> Table:
    table = Table.grid(padding=(0, 1, 0, 1))
    for line in lines:
        table.add_row(sign, Text(line))
    return table


def _size(way: Suggestion) -> str:
    return f"{way.vocab_size:,}{'+' if way.or_more else ''}"


def advice_html(advice: VocabularyAdvice) -> str:
    """Return the advice as a self-contained fragment of HTML, for notebooks and pages."""
    chosen = advice.recommendation
    tables = "".join(
        f'<div class="ts-wide"><table class="ts-rows ts-numbers"><tr>{_row("th", headings)}</tr>'
        + "".join(f"<tr>{_row('td', cells)}</tr>" for cells in rows)
        + f'</table></div><p class="ts-note">{escape(legend)}</p>'
        for headings, rows, legend in _tables(advice)
    )
    ways = "".join(
        f"<li><b>{_size(way)}</b> {escape(way.source)}: {escape(way.meaning)}</li>"
        for way in chosen.suggestions
    )
    return (
        f'<style>{read_styles("base", "vocabulary_size")}</style><div class="ts ts-advice">'
        f"<p><b>Recommended: {chosen.vocab_size:,}</b></p>"
        f"{_list(chosen.reasons)}<p><b>But</b></p>{_list(chosen.caveats)}"
        f'<div class="ts-wide">{plot_svg(advice_plot(advice))}</div>'
        f"{tables}<p><b>Each way of looking at it</b></p><ul>{ways}</ul></div>"
    )


def advice_page(advice: VocabularyAdvice) -> str:
    """Return the advice as a whole page."""
    return wrap_page("Vocabulary size", advice_html(advice))


def _list(lines: tuple[str, ...]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _row(kind: str, cells: list[str]) -> str:
    return "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells)


def _tables(advice: VocabularyAdvice) -> Iterator[tuple[list[str], list[list[str]], str]]:
    """Yield headings, rows and a legend: for the text, and for the model."""
    counts = ["newest", f"below {advice.enough:,}", "unused"]
    yield (
        ["ids", "tokens", "bytes/token", "by doubling", *counts],
        [_of_text(point) for point in advice.points],
        "by doubling: change of the tokens against half as many ids; newest: how often the newest "
        f"token occurred when it was made; below {advice.enough:,}: tokens that training shows "
        "less often; unused: tokens that only occur inside longer ones",
    )
    if advice.shape:
        yield (
            ["ids", "embedding", "output", "of the model", "FLOPs/token", "FLOPs/byte", "logits"],
            [_of_model(point) for point in advice.points],
            "embedding and output: parameters; of the model: their share of all parameters; FLOPs: "
            "of training; logits: the share of these that the output layer takes",
        )


def _of_text(point: SizePoint) -> list[str]:
    return [
        f"{point.vocab_size:,}",
        f"{point.tokens:,}",
        f"{point.bytes_per_token:.3f}",
        "" if point.gain is None else f"{-point.gain:+.1%}",
        f"{point.last_count:,}" if point.last_count else "",
        f"{point.rare:,}",
        f"{point.unused:,}",
    ]


def _of_model(point: SizePoint) -> list[str]:
    return [
        f"{point.vocab_size:,}",
        f"{(point.embedding_parameters or 0) / 1e6:,.1f}M",
        f"{point.output_parameters / 1e6:,.1f}M" if point.output_parameters else "tied",
        f"{point.vocabulary_share:.1%}",
        f"{point.flops_per_token:.3g}",
        f"{point.flops_per_byte:.3g}",
        f"{point.logits_share:.1%}",
    ]


shows(
    VocabularyAdvice,
    text=lambda advice: render_plain(advice_view(advice)),
    html=advice_html,
    page=advice_page,
)
