"""Diagrams for pages: a tree of merges with buttons that step through it and explain each step."""

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
    """Return a diagram as an HTML fragment; the script ``stepper`` makes its buttons work.

    Only a tree of merges has buttons, unless it has no merges, too many, or is too deep to draw.

    Args:
        diagram: what to draw, with all merges done.
        first: the index in the palette of its first token's colour.

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
