"""Views of an audit: in the terminal, and as HTML."""

from __future__ import annotations

from html import escape

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from toksmith._base.report import shows
from toksmith._base.visible import visible_name, visible_start
from toksmith.measure.findings import Audit, Example, Finding, Severity
from toksmith.show.notebook import marked_html
from toksmith.show.style import read_styles, wrap_page
from toksmith.show.terminal import render_plain

_STYLES = {Severity.INFO: "blue", Severity.WARNING: "bold yellow", Severity.ERROR: "bold red"}
_LONGEST = 60


def audit_view(audit: Audit, *, examples: int = 5, colour: bool = True) -> RenderableType:
    """Return an audit for the terminal: a line about the vocabulary, then each finding.

    Args:
        audit: what to show.
        examples: the number of examples of each finding.
        colour: ``False`` leaves everything in the terminal's own colour.
    """
    head = Text().append(visible_name(audit.tokenizer), "bold" if colour else "")
    head.append(f": {audit.model}, {audit.vocab_size:,} ids")
    counts = ", ".join(f"{count:,} {name}" for name, count in audit.categories.items() if count)
    parts: list[RenderableType] = [head, Text(f"tokens: {counts}")]
    for finding in audit.findings:
        summary = Text(finding.summary[:1].upper() + finding.summary[1:])
        parts += ["", _head(finding, colour), Padding(summary, (0, 0, 0, 4))]
        if shown := finding.examples[:examples]:
            parts.append(Padding(_examples(shown, colour), (0, 0, 0, 4)))
    if not audit.findings:
        parts += ["", Text("nothing was found")]
    return Group(*parts)


def _head(finding: Finding, colour: bool) -> Text:
    line = Text().append(str(finding.severity), _STYLES[finding.severity] if colour else "")
    line.append("  ").append(finding.kind, "bold" if colour else "")
    return line.append(f"  {finding.count:,}")


def _examples(examples: tuple[Example, ...], colour: bool) -> Table:
    table = Table.grid(padding=(0, 2))
    if any(example.id is not None for example in examples):
        table.add_column(justify="right", style="dim" if colour else "")
    table.add_column(overflow="fold")
    table.add_column(overflow="fold", style="dim" if colour else "")
    for example in examples:
        cells = [Text(_short(visible_start(example.text))), Text(_short(example.note, 2))]
        if len(table.columns) == 3:
            cells.insert(0, Text("" if example.id is None else str(example.id)))
        table.add_row(*cells)
    return table


def _short(text: str, lines: int = 1) -> str:
    return text if len(text) <= _LONGEST * lines else text[: _LONGEST * lines - 1] + "…"


def audit_html(audit: Audit, examples: int = 5) -> str:
    """Return an audit as a fragment of HTML: a line about the vocabulary, then each finding.

    Args:
        audit: what to show.
        examples: the number of examples of each finding.
    """
    counts = ", ".join(f"{count:,} {name}" for name, count in audit.categories.items() if count)
    style = read_styles("base", "audit")
    parts = [
        f'<style>{style}</style><div class="ts ts-audit">'
        f"<p><b>{escape(visible_name(audit.tokenizer))}</b>: {escape(audit.model)}, "
        f'{audit.vocab_size:,} ids</p><p class="ts-note">tokens: {escape(counts)}</p>'
    ]
    parts += [_finding_html(finding, examples) for finding in audit.findings]
    parts += [] if audit.findings else ["<p>nothing was found</p>"]
    return "".join([*parts, "</div>"])


def audit_page(audit: Audit) -> str:
    """Return an audit as a whole page."""
    return wrap_page(
        f"{visible_name(audit.tokenizer)} · audit",
        f'<main style="max-width:60em;margin:0 auto;padding:24px">{audit_html(audit)}</main>',
    )


def _finding_html(finding: Finding, examples: int) -> str:
    rows = "".join(
        f"<tr><td>{'' if example.id is None else example.id}</td>"
        f'<td dir="auto"><span class="ts-token">{marked_html(example.text)}</span></td>'
        f'<td dir="auto">{escape(example.note)}</td></tr>'
        for example in finding.examples[:examples]
    )
    return (
        f'<h3><span class="ts-{finding.severity}">{finding.severity}</span> '
        f"{escape(finding.kind)} <small>{finding.count:,}</small></h3>"
        f"<p>{escape(finding.summary)}</p>"
        + (f'<table class="ts-rows">{rows}</table>' if rows else "")
    )


shows(
    Audit,
    text=lambda audit: render_plain(audit_view(audit, colour=False)),
    html=audit_html,
    page=audit_page,
)
