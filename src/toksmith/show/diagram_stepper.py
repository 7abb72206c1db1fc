"""Diagrams on pages: a tree of merges with buttons to step through it, and what each step did."""

from __future__ import annotations

from toksmith.show.diagram_html import DEEPEST, diagram_html, step_html
from toksmith.trace.diagrams import Diagram, MergeTree

_MOST_STEPS = 400
_BUTTONS = (
    ("first", "First step", "⇤"),
    ("back", "Step back", "←"),
    ("on", "Step forward", "→"),
    ("last", "Last step", "⇥"),
)


def stepper_html(diagram: Diagram, *, first: int = 0) -> str:
    """Return a diagram as an HTML fragment; with the script, merges can be stepped through.

    Other diagrams stand alone, and so do a tree without merges, one too deep to be drawn, and one
    of very many steps.

    Args:
        diagram: what to draw; merges as at the end.
        first: which of the palette's colours its first token has.

    Example:
        >>> from toksmith import train
        >>> tree = train(texts=["abab"], vocab_size=257).explain("ab").diagrams[0]
        >>> stepper_html(tree).count("<li>")
        2
    """
    drawn = diagram_html(diagram, first=first)
    if not isinstance(diagram, MergeTree) or not 0 < diagram.merges <= _MOST_STEPS:
        return drawn
    if max(diagram.depths) > DEEPEST:
        return drawn
    buttons = "".join(
        f'<button type="button" data-go="{go}" aria-label="{name}" title="{name}">{sign}</button>'
        for go, name, sign in _BUTTONS
    )
    lines = "".join(f"<li>{step_html(diagram, step)}</li>" for step in range(diagram.merges + 1))
    return (
        '<div class="ts ts-figure"><div class="ts-steps" role="group" tabindex="0" '
        f'aria-label="Steps of merging: arrow keys step" hidden>{buttons}<output></output></div>'
        f"<ol hidden>{lines}</ol>{drawn}</div>"
    )
