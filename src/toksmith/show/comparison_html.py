"""A comparison of tokenizers as fragments of HTML: tables, bars, and tokens side by side.

All fragments go inside an element of class ``ts`` on a page with the style sheets ``base`` and
``comparison``. Everything that comes from tokens, texts or names is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from toksmith._base.text import utf8
from toksmith._base.visible import count_of, visible_name
from toksmith.measure.comparison import ALL, Comparison, Passage
from toksmith.measure.comparison_tables import (
    FigureTable,
    TableRow,
    differing_tokens,
    measured_on,
    script_table,
    shown_scripts,
    text_table,
    text_tables,
    title_of,
    total_table,
)
from toksmith.measure.metrics import MEASURES, METRICS, Metric
from toksmith.results import Encoding
from toksmith.show.notebook import marked_html, token_title, word_break
from toksmith.show.style import PALETTE, SERIES, SPECIAL_CLASS, read_styles
from toksmith.show.token_lines import (
    Box,
    box_lines_html,
    shared_characters,
    whole_html,
)
from toksmith.show.token_text import covered_texts


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison as one fragment of HTML, for notebooks.

    Example:
        >>> import toksmith
        >>> low = toksmith.train(texts=["low lower lowest"], vocab_size=259)
        >>> found = toksmith.compare({"<b>": low}, texts="lower", speed=False)
        >>> "&lt;b&gt;" in comparison_html(found), "<b>" in comparison_html(found)
        (True, False)
    """
    style = read_styles("base", "comparison")
    parts = [f'<div class="ts ts-compare"><style>{style}</style>']
    if len(comparison.texts) == 1:
        parts += [passage_html(passage) for passage in comparison.passages if passage.is_whole]
    parts.append(figures_table(comparison))
    parts += [_table(comparison, table) for table in text_tables(comparison)]
    parts.append(script_table_html(comparison))
    parts += [f'<p class="ts-note">{escape(line)}</p>' for line in measured_on(comparison)]
    return "".join([*parts, "</div>"])


def figures_table(comparison: Comparison, text: str = ALL) -> str:
    """Return the table of all measures: a row each, a column for each tokenizer.

    Args:
        comparison: the comparison.
        text: the text's name; by default all texts together.
    """
    return _table(comparison, total_table(comparison, text))


def text_table_html(comparison: Comparison, metric: Metric) -> str:
    """Return the table of one measure, text by text; empty if no text has it."""
    table = text_table(comparison, metric)
    return "" if table is None else _table(comparison, table)


def bars(comparison: Comparison, metric: Metric) -> str:
    """Return a figure as bars, text by text; empty if there is none, or all are zero."""
    groups = {
        visible_name(text.name): [
            each.values[metric.name] for each in comparison.of_text(text.name)
        ]
        for text in comparison.texts
    }
    better = f"<small>{_BETTER[metric.name]}</small>" if metric.name in _BETTER else ""
    title = f'<span title="{escape(metric.formula)}">{escape(title_of(metric, comparison))}'
    return _figure(comparison, metric, groups, f"{title}</span>{better}")


def script_bars(comparison: Comparison) -> str:
    """Return characters a token as bars, script by script."""
    metric = METRICS["characters_per_token"]
    groups = {
        script: [each.characters_per_token for each in figures]
        for script, figures in shown_scripts(comparison).items()
    }
    known = {script: group for script, group in groups.items() if group[0] == group[0]}
    return _figure(comparison, metric, known, "") if len(known) > 1 else ""


def script_table_html(comparison: Comparison) -> str:
    """Return the table of tokens by script; empty if there is only one script."""
    is_whole = all(text.is_whole for text in comparison.texts)
    head = f"tokens{'' if is_whole else ' of the sample'}"
    table = script_table(comparison, METRICS["tokens"], head)
    return "" if table is None else _table(comparison, table)


def _figure(
    comparison: Comparison,
    metric: Metric,
    groups: Mapping[str, Sequence[float | None]],
    caption: str,
) -> str:
    values = [value for group in groups.values() for value in group if value is not None]
    most = max((value for value in values if value == value), default=0)
    if not most:
        return ""
    names = [visible_name(tok.name) for tok in comparison.tokenizers]
    drawn = "".join(
        f'<div class="ts-group"><h4>{escape(label)}</h4>'
        + "".join(
            _bar(place, names[place], value, most, metric) for place, value in enumerate(group)
        )
        + "</div>"
        for label, group in groups.items()
    )
    head = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f'<figure class="ts-bars">{head}<div class="ts-groups">{drawn}</div></figure>'


def _bar(place: int, name: str, value: float | None, most: float, metric: Metric) -> str:
    part = 0 if value is None or value != value else value / most
    return (
        f'<div class="ts-bar {series_class(place)}" title="{escape(name)}">'
        f'<i style="width:calc((100% - 58px) * {part:.4f})"></i>'
        f"<b>{metric.written(value)}</b></div>"
    )


_BETTER = {
    "bytes_per_token": "longer bars: fewer tokens",
    "fertility": "shorter bars: fewer tokens",
    "split_words": "shorter bars: more words whole",
    "parity": "1 is parity with the first",
    "renyi_efficiency": "longer bars: more even use",
    "lost_bytes": "shorter bars: more text is restored",
}


def passage_html(passage: Passage, limit: int | None = None) -> str:
    """Return the tokens of a text by each tokenizer, in columns.

    Tokens that all tokenizers make are grey, the others have the colours of tokens.

    Args:
        passage: the text and its tokens.
        limit: leave out tokens that end after this many bytes.
    """
    encodings = passage.encodings
    marks = differing_tokens(list(encodings.values()))
    columns = [
        _column(place, name, encoding, marked, limit, passage.is_whole)
        for place, ((name, encoding), marked) in enumerate(
            zip(encodings.items(), marks, strict=True)
        )
    ]
    return f'<div class="ts-columns">{"".join(columns)}</div>'


def _column(
    place: int,
    name: str,
    encoding: Encoding,
    marked: Sequence[bool],
    limit: int | None,
    is_whole: bool,
) -> str:
    ends = encoding.byte_spans[:, 1].tolist()
    count = len(ends) if limit is None else sum(end <= limit for end in ends)
    covered = covered_texts(encoding)
    shared = dict(shared_characters(encoding))
    boxes: list[Box] = []
    i = 0
    while i < count:
        after = min(shared.get(i, i + 1), count)
        start, end = encoding.spans[i, 0], encoding.spans[after - 1, 1]
        before = encoding.spans[i - 1, 1] if i else 0
        if gap := encoding.text[before:start]:
            data = utf8(gap)
            boxes.append(
                Box(f'{word_break(data)}<span class="ts-gap">{marked_html(data)}</span>', gap)
            )
        text = encoding.text[start:end]
        drawn = [_token(encoding, place, covered, marked[place]) for place in range(i, after)]
        html = word_break(encoding.tokens[i]) + drawn[0]
        if len(drawn) > 1:
            html = whole_html(text, drawn, marked_html, encoding.spans[i:after].tolist())
        boxes.append(Box(html, text))
        i = after
    tokens = box_lines_html(boxes)
    size = count_of(count, "token")
    rest = "" if is_whole and count == len(ends) else " …"
    return (
        f'<section class="ts-column"><header>{name_html(place, name)}<small>{size}</small>'
        f'</header><div class="ts-tokens">{tokens}{rest}</div></section>'
    )


def _token(encoding: Encoding, place: int, covered: list[str] | None, marked: bool) -> str:
    token = encoding.tokens[place]
    if encoding.special[place]:
        names = f"ts-fill {SPECIAL_CLASS}"
    else:
        names = f"ts-fill ts-c{place % len(PALETTE)}" if marked else f"ts-same{place % 2}"
    title = escape(token_title(encoding, place, covered))
    return f'<span class="ts-token {names}" title="{title}">{marked_html(token)}</span>'


def name_html(place: int, name: str) -> str:
    """Return a tokenizer's name with the mark of its colour."""
    return f'<span class="ts-name {series_class(place)}">{escape(visible_name(name))}</span>'


def series_class(place: int) -> str:
    """Return the CSS class of a tokenizer's colour."""
    return f"ts-s{place % len(SERIES)}"


def _table(comparison: Comparison, table: FigureTable) -> str:
    names = "".join(
        f'<th scope="col">{name_html(place, tok.name)}</th>'
        for place, tok in enumerate(comparison.tokenizers)
    )
    rows = "".join(_row(row, comparison) for row in table.rows)
    return (
        f'<div class="ts-wide"><table class="ts-figures"><thead><tr><th>{escape(table.head)}</th>'
        f"{names}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(row: TableRow, comparison: Comparison) -> str:
    cells = ""
    for place, (tok, cell) in enumerate(zip(comparison.tokenizers, row.cells, strict=True)):
        names = f' class="ts-best {series_class(place)}"' if tok.name in row.best else ""
        cells += f"<td{names}>{escape(cell)}</td>"
    hinted = f' title="{escape(row.hint)}"' if row.hint else ""
    return f'<tr><th scope="row"{hinted}>{_title(row.title)}</th>{cells}</tr>'


def _title(title: str) -> str:
    """Return the title of a measure; its arrow is named, and stays on the line of the last word."""
    words, _, arrow = title.rpartition(" ")
    if arrow not in _ARROWS:
        return escape(title)
    said = f'role="img" aria-label="{_ARROWS[arrow]}" title="{_ARROWS[arrow]}"'
    return f"{escape(words)}&nbsp;<span {said}>{arrow}</span>"


_ARROWS = {"↑": "higher is better", "↓": "lower is better"}
_SOURCES = ("formula", "source", "mind that")


def sources_table(metrics: Mapping[str, Metric] | None = None) -> str:
    """Return the table of each measure's formula, source and caveat."""
    rows = "".join(
        f'<tr><th scope="row">{escape(metric.title)}</th>'
        + "".join(
            f'<td data-what="{what}">{escape(said)}</td>'
            for what, said in zip(
                _SOURCES, (metric.formula, metric.source, metric.caveat), strict=True
            )
        )
        + "</tr>"
        for metric in (metrics or MEASURES).values()
    )
    heads = "".join(f"<th>{head}</th>" for head in ("measure", *_SOURCES))
    return (
        f'<table class="ts-figures ts-sources"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )
