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
