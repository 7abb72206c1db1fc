"""The colours of tokens, the same in every view."""

from __future__ import annotations

FOREGROUND = "#1a1a1a"
"""Dark letters, which can be read on every colour of the palette."""

PALETTE = ("#8fd3f5", "#f7c873", "#7ee787", "#ff8a80", "#c4a7ff")
"""Backgrounds of neighbouring tokens, in turn: blue, yellow, green, red, violet.

Terminals of 16 colours show them as five different ones, too.
"""

SPECIAL = "#e879c6"
"""The background of special tokens."""

NEUTRAL = ("#c3c9d2", "#dfe3e8")
"""Backgrounds of neighbouring tokens, in turn, where others are to stand out."""

SERIES = (
    *("#2f81c7", "#c2571a", "#2a9150", "#8250c4"),
    *("#c23a77", "#128a9a", "#8a7a12", "#6b7280"),
)
"""Of lines and bars, in turn: they can be seen on light and on dark pages."""
