"""Colours of tokens, and the style sheets and scripts of HTML views, which are files in static/."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FOREGROUND = "#1a1a1a"
"""The colour of letters: dark, and readable on every colour of the palette."""

PALETTE = ("#8fd3f5", "#f7c873", "#7ee787", "#ff8a80", "#c4a7ff")
"""Backgrounds of neighbouring tokens, in turn: blue, yellow, green, red, violet.

Terminals of 16 colours also show five different ones.
"""

SPECIAL = "#e879c6"
"""The background of special tokens."""

NEUTRAL = ("#c3c9d2", "#dfe3e8")
"""Backgrounds of neighbouring tokens, in turn, where only other tokens are coloured."""

SERIES = (
    *("#2f81c7", "#c2571a", "#2a9150", "#8250c4"),
    *("#c23a77", "#128a9a", "#8a7a12", "#6b7280"),
)
"""Colours of lines and bars, in turn: visible on light and on dark pages."""

SPECIAL_CLASS = f"ts-c{len(PALETTE)}"
"""The CSS class with the colour of special tokens; other tokens have ``ts-c0``, ``ts-c1`` …"""

_STATIC = Path(__file__).parent / "static"


@cache
def read_styles(*names: str) -> str:
    """Return style sheets of ``static/`` as one text; ``"base"`` includes the colours above.

    Views put it into a ``<style>`` element, because a page loads nothing from elsewhere.

    Args:
        *names: file names without ``.css``.

    Example:
        >>> ".ts-c0 { --ts-fill: #8fd3f5; }" in read_styles("base")
        True
    """
    sheets = [(_STATIC / f"{name}.css").read_text("utf-8") for name in names]
    if "base" in names:
        fills = enumerate((*PALETTE, SPECIAL))
        sheets += [
            f".ts {{ --ts-letters: {FOREGROUND}; }}",
            *(f".ts-c{place} {{ --ts-fill: {colour}; }}" for place, colour in fills),
            *(f".ts-s{place} {{ --ts-series: {colour}; }}" for place, colour in enumerate(SERIES)),
        ]
    return "\n".join(sheets)


@cache
def read_scripts(*names: str) -> str:
    """Return scripts of ``static/`` as one text.

    Args:
        *names: file names without ``.js``.
    """
    return "\n".join((_STATIC / f"{name}.js").read_text("utf-8") for name in names)
