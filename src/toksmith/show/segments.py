"""Words, sentences and graphemes as an HTML fragment, for notebooks."""

from __future__ import annotations

from html import escape

from toksmith._base.report import shows
from toksmith._base.text import utf8
from toksmith._base.visible import SPACE, count_of
from toksmith.segment.spans import Spans
from toksmith.segment.words import Words
from toksmith.show.notebook import lines_html, running_text_html, visible_html
from toksmith.show.style import PALETTE

_MOST = 5_000
_JOINER = "\u200d"


def spans_html(spans: Spans) -> str:
    """Return the pieces of a text in alternating colours; of words, the others are grey.

    A tooltip shows the characters of each piece. Everything is escaped.

    Example:
        >>> import numpy as np
        >>> "2 pieces, 5 characters" in spans_html(Spans("to be", np.array([0, 3, 5])))
        True
    """
    pieces = spans.pieces[:_MOST]
    is_word = spans.is_word[:_MOST].tolist() if isinstance(spans, Words) else [True] * len(pieces)
    shown, colour = [], 0
    for piece, span, coloured in zip(pieces, spans, is_word, strict=False):
        name = f"ts-c{colour % len(PALETTE)}" if coloured else "ts-plain"
        colour += coloured
        title = escape(f"characters {span.start}–{span.end}")
        shown.append(
            (
                f'<wbr><span class="ts-token ts-fill {name}" title="{title}">'
                f"{_visible(piece)}</span>",
                piece.endswith("\n"),
            )
        )
    rest = f" … and {len(spans) - _MOST:,} more" if len(spans) > _MOST else ""
    size = f"{count_of(len(spans), 'piece')}, {count_of(len(spans.text), 'character')}"
    if isinstance(spans, Words):
        size = f"{count_of(int(spans.is_word.sum()), 'word')} in {size}"
    return running_text_html(lines_html(shown), rest, size)


def _visible(piece: str) -> str:
    """Return a piece in readable form, with the joiners that make one picture of several emoji.

    A line may break after each space.
    """
    shown = _JOINER.join(visible_html(utf8(part)) for part in piece.split(_JOINER))
    return shown.replace(SPACE, f"{SPACE}<wbr>")


shows(Spans, html=spans_html)
