"""Tokens as HTML for the pages of the explorer; everything is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from toksmith._base.visible import LINE_BREAK, SPACE, TAB, visible
from toksmith.explorer.excerpts import ExcerptTokens
from toksmith.show.notebook import visible_html
from toksmith.show.style import FOREGROUND, PALETTE, SPECIAL

_MARKS = {
    SPACE: f"<wbr><i>{SPACE}</i>",  # lines break where they would with real spaces
    TAB: f"<wbr><i>{TAB}</i>",
    LINE_BREAK: f"<i>{LINE_BREAK}</i><br>",
}


def palette_css() -> str:
    """Return the colours of tokens as a style sheet: classes ``c0`` … and ``special``."""
    colours = [f".c{i} {{ --token: {colour}; }}" for i, colour in enumerate(PALETTE)]
    return "\n".join(
        [f":root {{ --token-ink: {FOREGROUND}; }}", *colours, f".special {{ --token: {SPECIAL}; }}"]
    )


def colour_class(place: int, is_special: bool = False) -> str:
    """Return the CSS class of a token's colour."""
    return "special" if is_special else f"c{place % len(PALETTE)}"


def token_html(token: bytes) -> str:
    r"""Return bytes in readable form, escaped, with marks of white space in elements ``i``.

    Labels such as ``<E2 82>`` are isolated, so that they read from left to right everywhere.

    Example:
        >>> token_html(b" <b>\xff")
        '<wbr><i>·</i>&lt;b&gt;<bdi dir="ltr">&lt;FF&gt;</bdi>'
    """
    # The only other space is in the tag; no line breaks inside a label.
    shown = visible_html(token).replace(" ", "\u00a0").replace("<bdi\u00a0dir", "<bdi dir")
    for mark, html in _MARKS.items():
        shown = shown.replace(mark, html)
    return shown


def one_line_html(token: bytes) -> str:
    """Return bytes as :func:`token_html` does, without breaking lines."""
    return token_html(token).replace("<br>", "")


def text_html(shown: ExcerptTokens, differs: Sequence[bool]) -> str:
    """Return an excerpt with its tokens in colour.

    Args:
        shown: the excerpt's tokens.
        differs: for each token, whether to mark it as differing.
    """
    encoding = shown.encoding
    data = encoding.text.encode()
    parts: list[str] = []
    done = 0
    for i, (start, end) in enumerate(encoding.byte_spans.tolist()):
        if start > done:
            parts.append(f'<span class="gap">{token_html(data[done:start])}</span>')
        names = _classes("t", shown, i, differs[i])
        inside = ""
        if end == start:
            names += " empty"
        else:
            # Tokens that share a character all span the whole of it.
            inside = token_html(data[start:end] if start >= done else encoding.tokens[i])
        where = f'data-i="{i}" data-s="{start}" data-e="{end}"'
        parts.append(f'<span class="{names}" {where}>{inside}</span>')
        done = max(done, end)
    if done < len(data):
        parts.append(f'<span class="gap">{token_html(data[done:])}</span>')
    return "".join(parts)


def ids_html(shown: ExcerptTokens, differs: Sequence[bool]) -> str:
    """Return the ids of an excerpt, in the colours of their tokens."""
    tokens = zip(shown.encoding.ids, shown.encoding.tokens, strict=True)
    return "".join(
        f'<span class="{_classes("id", shown, i, differs[i])}" data-i="{i}" '
        f'title="{escape(visible(token))}">{token_id}</span>'
        for i, (token_id, token) in enumerate(tokens)
    )


def _classes(kind: str, shown: ExcerptTokens, i: int, differs: bool) -> str:
    colour = colour_class(shown.first + i, shown.encoding.special[i])
    return f"{kind} {colour}{' differs' if differs else ''}"
