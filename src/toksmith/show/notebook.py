"""The tokens of a text as an HTML fragment, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from toksmith._base.report import shows
from toksmith._base.visible import (
    LINE_BREAK,
    LONGEST,
    SPACE,
    TAB,
    count_of,
    cut,
    hex_start,
    visible_parts,
)
from toksmith.results import Encoding
from toksmith.show.style import PALETTE, SPECIAL_CLASS, read_styles
from toksmith.show.token_lines import box_lines_html, token_boxes
from toksmith.show.token_text import covered_texts

_NO_BREAK = "\u00a0"


def encoding_html(encoding: Encoding, limit: int | None = 5_000) -> str:
    """Return a text's tokens in alternating colours, as a self-contained HTML fragment.

    A tooltip shows the id, bytes and characters of each token. The colours suit light and dark
    notebooks. What several tokens share, such as an emoji, is drawn once above them.
    Everything is escaped: a token ``<script>`` is shown as a token.

    Args:
        encoding: the text and its tokens.
        limit: the number of tokens to show; a note counts the rest. ``None`` shows all.

    Example:
        >>> from toksmith._base.arrays import Span
        >>> from toksmith.results import Encoding
        >>> span = [Span(0, 3)]
        >>> "&lt;b&gt;" in encoding_html(Encoding("<b>", [300], [b"<b>"], span, span, [False]))
        True
    """
    shown = len(encoding) if limit is None else min(limit, len(encoding))
    covered = covered_texts(encoding)
    boxes = token_boxes(
        encoding, shown, lambda place: _token(encoding, place, covered), marked_html
    )
    rest = f" … and {len(encoding) - shown:,} more" if shown < len(encoding) else ""
    size = f"{count_of(len(encoding), 'token')}, {count_of(len(encoding.text), 'character')}"
    return running_text_html(box_lines_html(boxes), rest, size)


def running_text_html(lines: str, rest: str, size: str) -> str:
    """Return lines of coloured pieces as a fragment with its style sheet.

    Args:
        lines: the HTML of the lines.
        rest: says how many pieces are left out.
        size: says how many there are.
    """
    return (
        f'<div class="ts"><style>{read_styles("base")}</style><div class="ts-card">'
        f'<div class="ts-tokens">{lines}{rest}</div><div class="ts-note">{size}</div></div></div>'
    )


def _token(encoding: Encoding, place: int, covered: list[str] | None) -> str:
    token = encoding.tokens[place]
    name = SPECIAL_CLASS if encoding.special[place] else f"ts-c{place % len(PALETTE)}"
    title = token_title(encoding, place, covered)
    return (
        f'{word_break(token)}<span class="ts-token ts-fill {name}" '
        f'title="{escape(title)}">{marked_html(token)}</span>'
    )


def lines_html(tokens: Iterable[tuple[str, bool]]) -> str:
    """Return tokens as lines, each of which has the direction of its own text.

    Args:
        tokens: the HTML of each token, and whether it ends a line.

    Example:
        >>> lines_html([("a", False), ("b", True), ("c", False)])
        '<div dir="auto">ab</div><div dir="auto">c</div>'
    """
    lines: list[list[str]] = [[]]
    for html, ends_line in tokens:
        lines[-1].append(html)
        if ends_line:
            lines.append([])
    return "".join(f'<div dir="auto">{"".join(line)}</div>' for line in lines if line)


def word_break(token: bytes) -> str:
    """Return ``<wbr>`` before a token that begins with white space, else nothing."""
    return "<wbr>" if token[:1] in (b" ", b"\t") or token.startswith("▁".encode()) else ""


def visible_html(text: bytes, most: int = LONGEST) -> str:
    r"""Return bytes in readable form, escaped; labels such as ``<E2 82>`` are isolated.

    A text of more than ``most`` bytes is cut, and its end says how much is left out.

    The browser orders and shapes the letters: right-to-left text runs from right to left, and
    Arabic letters join, also across tokens.

    Example:
        >>> visible_html(b"<b>\xff")
        '&lt;b&gt;<bdi dir="ltr">&lt;FF&gt;</bdi>'
    """
    start, rest = cut(text, most)
    return "".join(
        f'<bdi dir="ltr">{escape(part)}</bdi>' if is_label else escape(part)
        for part, is_label in (*visible_parts(start), *([(rest, True)] if rest else []))
    )


def marked_html(text: bytes) -> str:
    """Return bytes in readable form, escaped; marks for white space are elements ``s``.

    Example:
        >>> marked_html(b" <b>")
        '<s>·</s>&lt;b&gt;'
    """
    written = visible_html(text)
    # The only other space is in the tag.
    written = written.replace(" ", _NO_BREAK).replace(f"<bdi{_NO_BREAK}dir", "<bdi dir")
    for mark in (SPACE, LINE_BREAK, TAB):
        written = written.replace(mark, f"<s>{mark}</s>")
    return written


def token_title(encoding: Encoding, place: int, covered: list[str] | None) -> str:
    """Return the tooltip of a token as plain text.

    Args:
        encoding: the tokens.
        place: the index of the token.
        covered: the result of :func:`~toksmith.show.token_text.covered_texts`.
    """
    is_special = encoding.special[place]
    shown = hex_start(encoding.tokens[place]) if covered is None else covered[place]
    span, byte_span = encoding.spans[place], encoding.byte_spans[place]
    return (
        f"id {encoding.ids[place]}{' (special)' if is_special else ''}, "
        f"characters {_range(*span)}, bytes {_range(*byte_span)}: "
        f"{shown if covered is None else _quote(shown)}"
    )


def _quote(text: str) -> str:
    return f"'{text}'" if text else "covers no text"


def _range(start: int, end: int) -> str:
    return f"{start}–{end}"


shows(Encoding, html=encoding_html)
