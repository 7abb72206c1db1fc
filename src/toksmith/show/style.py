"""The look of HTML views: colours of tokens, style sheets and scripts (files in static/), the page.

Every page that is written to a file is one self-contained HTML document. It loads nothing, and its
Content-Security-Policy forbids it to; the only script that may run is the one whose hash the policy
names.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from pathlib import Path

FOREGROUND = "#1a1a1a"
"""The colour of letters: dark, and readable on every colour of the palette."""

PALETTE = ("#ffe394", "#8fbdf5", "#c2f0b0", "#c0a2f2")
"""Backgrounds of neighbouring tokens, in turn: yellow, blue, green, violet.

Light and darker ones alternate, and so do yellowish and bluish ones, which people who cannot tell
red from green still tell apart. Their number is even, so the last and the first differ likewise.
None is red, which would look like an error.
"""

SPECIAL = "#e879c6"
"""The background of special tokens."""

FOREGROUND_DARK = "#f1f1f1"
"""The colour of letters on the fills of dark pages."""

PALETTE_DARK = ("#5e4f1b", "#274a80", "#3a6136", "#4b3585")
"""The palette of dark pages: the same hues as dark fills, for light letters."""

SPECIAL_DARK = "#8f2f6e"
"""The background of special tokens on dark pages."""

TERMINAL = ("#f7c873", "#8fd3f5", "#7ee787", "#c4a7ff")
"""The palette of terminals: its colours differ also where a terminal has only 16."""

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
    """Return style sheets of ``static/`` as one text; ``"base"`` holds the colours above.

    Views put it into a ``<style>`` element, because a page loads nothing from elsewhere.

    Args:
        *names: file names without ``.css``.

    Example:
        >>> "--ts-fill0: #ffe394;" in read_styles("base")
        True
    """
    sheets = [(_STATIC / f"{name}.css").read_text("utf-8") for name in names]
    if "base" in names:
        fills = {
            "/* light fills */": _fills(FOREGROUND, (*PALETTE, SPECIAL)),
            "/* dark fills */": _fills(FOREGROUND_DARK, (*PALETTE_DARK, SPECIAL_DARK)),
        }
        place = names.index("base")
        for mark, declarations in fills.items():
            sheets[place] = sheets[place].replace(mark, declarations)
        sheets += [
            *(f".ts-c{i} {{ --ts-fill: var(--ts-fill{i}); }}" for i in range(len(PALETTE) + 1)),
            *(f".ts-s{place} {{ --ts-series: {colour}; }}" for place, colour in enumerate(SERIES)),
        ]
    return "\n".join(sheets)


def _fills(letters: str, colours: tuple[str, ...]) -> str:
    """Return the declarations of the colours of tokens in one scheme."""
    fills = (f"--ts-fill{place}: {colour};" for place, colour in enumerate(colours))
    return " ".join([f"--ts-letters: {letters};", *fills])


@cache
def read_scripts(*names: str) -> str:
    """Return scripts of ``static/`` as one text.

    Args:
        *names: file names without ``.js``.
    """
    return "\n".join((_STATIC / f"{name}.js").read_text("utf-8") for name in names)


def wrap_page(title: str, body: str, *, style: str = "", script: str = "") -> str:
    """Return a whole HTML page.

    Args:
        title: of the page, as plain text without controls.
        body: HTML; the caller has escaped all text in it.
        style: a style sheet.
        script: the one script of the page; empty for none.

    Example:
        >>> page = wrap_page("<b>", "<p>text</p>")
        >>> "<title>&lt;b&gt;</title>" in page, "<script" in page, "default-src 'none'" in page
        (True, False, True)
    """
    policy = ["default-src 'none'", "style-src 'unsafe-inline'"]
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy.append(f"script-src 'sha256-{digest}'")
        script = f"<script>{script}</script>\n"
    policy += ["base-uri 'none'", "form-action 'none'"]
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{"; ".join(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body class="ts">
{body}
{script}</body>
</html>
"""
