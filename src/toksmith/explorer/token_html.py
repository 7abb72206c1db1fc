"""Tokens as HTML for the pages of the explorer; everything is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from toksmith._base.visible import LINE_BREAK, LONGEST, SPACE, TAB
from toksmith.explorer.excerpts import SIZE, ExcerptTokens
from toksmith.show.notebook import visible_html
from toksmith.show.style import (
    FOREGROUND,
    FOREGROUND_DARK,
    PALETTE,
    PALETTE_DARK,
    SPECIAL,
    SPECIAL_DARK,
)
from toksmith.show.token_lines import (
    Box,
    box_lines_html,
    shared_characters,
    whole_html,
)

_LONGEST_IN_TEXT = 8 * SIZE
"""Bytes of a token that a text shows: enough for a whole excerpt."""

_BREAK = f"<i>{LINE_BREAK}</i><br>"
_MARKS = {
    SPACE: f"<wbr><i>{SPACE}</i>",  # lines break where they would with real spaces
    TAB: f"<wbr><i>{TAB}</i>",
    LINE_BREAK: _BREAK,
}


def palette_css() -> str:
    """Return the colours of tokens as a style sheet: classes ``c0`` … and ``special``."""
    schemes = {
        "": (FOREGROUND, PALETTE, SPECIAL),
        '[data-theme="dark"] ': (FOREGROUND_DARK, PALETTE_DARK, SPECIAL_DARK),
    }
    rules = []
    for scheme, (ink, palette, special) in schemes.items():
        rules.append(f"{scheme or ':root'} {{ --token-ink: {ink}; }}")
        rules += [f"{scheme}.c{i} {{ --token: {colour}; }}" for i, colour in enumerate(palette)]
        rules.append(f"{scheme}.special {{ --token: {special}; }}")
    return "\n".join(rules)


def colour_class(place: int, is_special: bool = False) -> str:
    """Return the CSS class of a token's colour."""
    return "special" if is_special else f"c{place % len(PALETTE)}"


def token_html(token: bytes, most: int = LONGEST) -> str:
    r"""Return bytes in readable form, escaped, with marks of white space in elements ``i``.

    Labels such as ``<E2 82>`` are isolated, so that they read from left to right everywhere. A
    token of more than ``most`` bytes is cut, and its end says how much is left out.

    Example:
        >>> token_html(b" <b>\xff")
        '<wbr><i>·</i>&lt;b&gt;<bdi dir="ltr">&lt;FF&gt;</bdi>'
    """
    # The only other space is in the tag; no line breaks inside a label.
    shown = visible_html(token, most).replace(" ", "\u00a0").replace("<bdi\u00a0dir", "<bdi dir")
    for mark, html in _MARKS.items():
        shown = shown.replace(mark, html)
    return shown


def one_line_html(token: bytes, most: int = LONGEST) -> str:
    """Return bytes as :func:`token_html` does, without breaking lines."""
    return token_html(token, most).replace("<br>", "")


def text_html(shown: ExcerptTokens, differs: Sequence[bool]) -> str:
    """Return an excerpt as lines of tokens in colour.

    Where tokens share a character or a grapheme cluster, it is drawn once above them.

    Args:
        shown: the excerpt's tokens.
        differs: for each token, whether to mark it as differing.
    """
    encoding = shown.encoding
    data = encoding.text.encode()
    spans = encoding.byte_spans.tolist()
    ends = dict(shared_characters(encoding))
    boxes: list[Box] = []
    done = i = 0
    while i < len(spans):
        start, after = spans[i][0], ends.get(i, i + 1)
        if start > done:
            boxes.append(_gap(data[done:start]))
        # Tokens that share a character may all span the whole of it.
        overlap = any(later < end for (_, end), (later, _) in pairwise(spans[i:after]))
        own = encoding.tokens[i:after] if overlap else [data[s:e] for s, e in spans[i:after]]
        tokens = [_token(shown, i + n, differs[i + n], token) for n, token in enumerate(own)]
        end = max(end for _, end in spans[i:after])
        covered = data[max(start, done) : end].decode("utf-8", "replace")
        html = tokens[0]
        if len(tokens) > 1:
            html = whole_html(covered, tokens, one_line_html, encoding.spans[i:after].tolist())
        boxes.append(Box(html, covered))
        done, i = max(done, end), after
    if done < len(data):
        boxes.append(_gap(data[done:]))
    return box_lines_html(boxes)


def _token(shown: ExcerptTokens, i: int, differs: bool, own: bytes) -> str:
    """Return a token that is drawn as some bytes of its own."""
    encoding = shown.encoding
    start, end = encoding.byte_spans[i].tolist()
    colour = colour_class(shown.first + i, encoding.special[i])
    names = f"t {colour}{' differs' if differs else ''}{' empty' if start == end else ''}"
    inside = "" if start == end else token_html(own, _LONGEST_IN_TEXT).removesuffix("<br>")
    if own.strip(b"\n") and inside.startswith(_BREAK):  # a line begins with this token
        inside = inside.replace("<br>", "", 1)
    where = f'data-i="{i}" data-s="{start}" data-e="{end}" data-id="{encoding.ids[i]}"'
    return f'<span class="{names}" {where}>{inside}</span>'


def _gap(data: bytes) -> Box:
    text = data.decode("utf-8", "replace")
    return Box(
        f'<span class="gap">{token_html(data, _LONGEST_IN_TEXT).removesuffix("<br>")}</span>', text
    )
