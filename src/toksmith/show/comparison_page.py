"""A comparison of tokenizers as one self-contained HTML page without a script."""

from __future__ import annotations

from html import escape

from toksmith._base.report import shows
from toksmith._base.visible import visible_name
from toksmith.measure.comparison import Comparison, MeasuredText
from toksmith.measure.comparison_tables import BY_TEXT, latex, markdown, measured_on
from toksmith.measure.metrics import MEASURES, METRICS
from toksmith.show.chart import Line, Plot, plot_svg
from toksmith.show.comparison import comparison_view
from toksmith.show.comparison_html import (
    bars,
    comparison_html,
    figures_table,
    name_html,
    passage_html,
    script_bars,
    script_table_html,
    sources_table,
    text_table_html,
)
from toksmith.show.style import read_styles, wrap_page
from toksmith.show.terminal import render_plain

_DRAWN = ("bytes_per_token", "fertility", "split_words", "parity", "renyi_efficiency", "lost_bytes")
_MOST_TEXTS = 12
_START = 700


def comparison_page(comparison: Comparison) -> str:
    """Return the page: figures, bars and tables by text, use of the vocabulary, tokens, sources."""
    names = ", ".join(visible_name(tok.name) for tok in comparison.tokenizers)
    return wrap_page(
        f"{names} · compared",
        f'<main class="ts-compare">\n{comparison_body(comparison)}\n</main>',
        style=read_styles("base", "comparison", "comparison_page"),
    )


def comparison_body(comparison: Comparison) -> str:
    """Return the content of the page, for an element of the classes ``ts ts-compare``."""
    sections = [
        _section("figures", "Figures", figures_table(comparison)),
        _by_text(comparison),
        _by_script(comparison),
        _coverage(comparison),
        _passages(comparison),
        _about(comparison),
    ]
    if len(comparison.texts) == 1 and comparison.passages[0].is_whole:
        sections[1:5] = [_passages(comparison), _by_script(comparison)]
    header = f"<header><h1>{_title(comparison)}</h1><p>{_on(comparison)}</p></header>"
    figures, *rest = sections
    return f'{header}<div class="sheet">{figures}<div class="rest">{"".join(rest)}</div></div>'


def _title(comparison: Comparison) -> str:
    names = [name_html(place, tok.name) for place, tok in enumerate(comparison.tokenizers)]
    return " ".join(names)


def _on(comparison: Comparison) -> str:
    texts = comparison.texts
    size = sum(text.bytes for text in texts)
    documents = sum(text.documents for text in texts)
    on = escape(visible_name(texts[0].name)) if len(texts) == 1 else f"<b>{len(texts)}</b> texts"
    parts = [on, f"<b>{documents:,}</b> document{'' if documents == 1 else 's'}"]
    return " · ".join([*parts, f"<b>{size:,}</b> bytes"])


def _section(name: str, title: str, body: str, hint: str = "") -> str:
    said = f'<p class="ts-note">{hint}</p>' if hint else ""
    return f'<section id="{name}"><h2>{title}</h2>{said}{body}</section>' if body else ""


def _by_text(comparison: Comparison) -> str:
    if len(comparison.texts) < 2:
        return ""
    chosen = [name for name in comparison.measures if name in METRICS]
    drawn = "".join(bars(comparison, METRICS[name]) for name in chosen or _DRAWN)
    tables = "".join(
        f"<details><summary>{escape(visible_name(text.name))}</summary>"
        f"{figures_table(comparison, text.name)}</details>"
        for text in comparison.texts
    )
    body = (
        f'{_legend(comparison)}<div class="plots">{drawn}</div>'
        f"{text_table_html(comparison, METRICS[(chosen or BY_TEXT)[0]])}"
        f'<p class="ts-note">All figures of each text</p>{tables}'
    )
    return _section("texts", "Text by text", body)


def _by_script(comparison: Comparison) -> str:
    hint = (
        "A token is of the script of its first character that is no white space. The bars are "
        "characters a token: longer bars, fewer tokens."
    )
    drawn, table = script_bars(comparison), script_table_html(comparison)
    body = f'{_legend(comparison)}<div class="scripts">{drawn}{table}</div>'
    return _section("scripts", "Script by script", body if table else "", hint)


def _legend(comparison: Comparison) -> str:
    names = "".join(
        f"<li>{name_html(place, tok.name)}</li>" for place, tok in enumerate(comparison.tokenizers)
    )
    return f'<ul class="legend">{names}</ul>'


def _coverage(comparison: Comparison) -> str:
    lines = []
    for tok, figures in zip(comparison.tokenizers, comparison.total, strict=True):
        ranks = [1 << power for power in range(len(tok.coverage) - 1)]
        if ranks:
            xs = [*ranks, figures.distinct_tokens]
            lines.append(Line(tok.name, xs, [100 * share for share in tok.coverage]))
    if len(lines) < len(comparison.tokenizers):
        return ""
    plot = Plot("", "most frequent tokens", "% of all tokens", lines, log_x=True)
    hint = (
        "Which share of all tokens the most frequent ones make. A curve that rises late uses "
        "its vocabulary more evenly; it ends where no further token occurs."
    )
    drawn = plot_svg(plot, width=760, height=330, legend=False)
    body = f'{_legend(comparison)}<div class="plot">{drawn}</div>'
    return _section("vocabulary", "Use of the vocabulary", body, hint)


def _passages(comparison: Comparison) -> str:
    is_one = len(comparison.texts) == 1
    parts = []
    for place, passage in enumerate(comparison.passages[:_MOST_TEXTS]):
        drawn = passage_html(passage, None if is_one else _START)
        if is_one:
            parts.append(drawn)
        else:
            name = escape(visible_name(passage.text))
            is_open = " open" if place == 0 else ""
            parts.append(f"<details{is_open}><summary>{name}</summary>{drawn}</details>")
    hint = "Grey tokens are those that all tokenizers make; the others are in colour."
    if not is_one or not comparison.passages[0].is_whole:
        hint = f"The start of each text. {hint}"
    return _section("tokens", "Tokens side by side", "".join(parts), hint)


def _about(comparison: Comparison) -> str:
    rows = "".join(_text_row(text) for text in comparison.texts)
    texts = (
        '<div class="ts-wide"><table class="ts-figures"><thead><tr><th>text</th><th>documents</th>'
        "<th>bytes</th><th>characters</th><th>sample, bytes</th><th>passages</th><th>words</th>"
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )
    sampled = "Words, scripts, round trips and speed are measured on a sample: passages picked"
    lines = [
        f"Tokens are counted on whole texts. {sampled} at random (seed {comparison.seed}), those "
        "of one text for all tokenizers. All texts have samples of about one size, so large ones "
        "weigh no more in what is said of all samples together.",
        *comparison.notes,
        *measured_on(comparison)[-1 if comparison.level is None else -2 :],
    ]
    said = "".join(f"<p>{escape(line)}</p>" for line in lines)
    chosen = {name: MEASURES[name] for name in comparison.measures}
    return _section("about", "How this was measured", said + texts + sources_table(chosen))


def _text_row(text: MeasuredText) -> str:
    words = "–" if text.sample_words is None else f"{text.sample_words:,}"
    numbers = (text.documents, text.bytes, text.characters, text.sample_bytes, text.sample_passages)
    cells = "".join(f"<td>{number:,}</td>" for number in numbers)
    return f'<tr><th scope="row">{escape(visible_name(text.name))}</th>{cells}<td>{words}</td></tr>'


shows(
    Comparison,
    text=lambda comparison: render_plain(comparison_view(comparison, colour=False)),
    html=comparison_html,
    page=comparison_page,
    markdown=markdown,
    latex=latex,
)
