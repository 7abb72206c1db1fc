"""Tokens as HTML, for notebooks."""

from __future__ import annotations

from html import escape

from toksmith.show.palette import FOREGROUND, PALETTE, SPECIAL
from toksmith.show.report import shows
from toksmith.show.surface import surfaces
from toksmith.types import Encoding
from toksmith.visible import LINE_BREAK, SPACE, TAB, visible

_BOX = "font-family:ui-monospace,monospace;line-height:1.9;overflow-wrap:anywhere"
_TOKEN = f"color:{FOREGROUND};border-radius:3px;padding:2px 1px;unicode-bidi:isolate"


def encoding_html(encoding: Encoding, limit: int | None = 5_000) -> str:
    """Return a text's tokens in alternating colours, as a self-contained HTML fragment.

    Each token tells its id, bytes and characters when the pointer rests on it. Tokens have dark
    letters on a light colour of their own, so that they can be read on dark and light pages.
    Everything is escaped: a token ``<script>`` is shown as a token.

    Args:
        encoding: what to show.
        limit: leave out the tokens after this many, with a word about it; ``None`` shows all.

    Example:
        >>> from toksmith.types import Encoding, Span
        >>> span = [Span(0, 3)]
        >>> "&lt;b&gt;" in encoding_html(Encoding("<b>", [300], [b"<b>"], span, span, [False]))
        True
    """
    shown = len(encoding) if limit is None else min(limit, len(encoding))
    stand_for = surfaces(encoding)
    tokens = "".join(_token(encoding, place, stand_for) for place in range(shown))
    rest = f" … and {len(encoding) - shown:,} more" if shown < len(encoding) else ""
    size = f"{len(encoding):,} tokens, {len(encoding.text):,} characters"
    return (
        f'<div style="{_BOX}"><div>{tokens}{rest}</div>'
        f'<div style="opacity:.7;font-size:85%">{size}</div></div>'
    )


def _token(encoding: Encoding, place: int, stand_for: list[str] | None) -> str:
    token = encoding.tokens[place]
    background = SPECIAL if encoding.special[place] else PALETTE[place % len(PALETTE)]
    title = token_title(encoding, place, stand_for)
    after = "<br>" if token.endswith(b"\n") else "<wbr>"
    return (
        f'<span style="{_TOKEN};background:{background}" title="{escape(title)}">'
        f"{escape(visible(token))}</span>{after}"
    )


def marked_html(text: bytes) -> str:
    """Return bytes as they are shown, escaped; marks for white space are elements ``s``.

    Example:
        >>> marked_html(b" <b>")
        '<s>·</s>&lt;b&gt;'
    """
    # The only spaces in it stand inside bytes in hex, which are not to be torn apart.
    written = escape(visible(text)).replace(" ", "\u00a0")
    for mark in (SPACE, LINE_BREAK, TAB):
        written = written.replace(mark, f"<s>{mark}</s>")
    return written


def token_title(encoding: Encoding, place: int, stand_for: list[str] | None) -> str:
    """Return what is said of a token when the pointer rests on it, as plain text.

    Args:
        encoding: the tokens.
        place: which one.
        stand_for: what :func:`~toksmith.show.surface.surfaces` says of all of them.
    """
    is_special = encoding.special[place]
    shown = encoding.tokens[place].hex(" ").upper() if stand_for is None else stand_for[place]
    span, byte_span = encoding.spans[place], encoding.byte_spans[place]
    return (
        f"id {encoding.ids[place]}{' (special)' if is_special else ''}, "
        f"characters {_range(*span)}, bytes {_range(*byte_span)}: "
        f"{shown if stand_for is None else _quoted(shown)}"
    )


def _quoted(text: str) -> str:
    return f"'{text}'" if text else "stands for nothing"


def _range(start: int, end: int) -> str:
    return f"{start}–{end}"


shows(Encoding, html=encoding_html)
