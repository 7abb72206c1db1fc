"""The page of a vocabulary, and the details of its tokens."""

from __future__ import annotations

from html import escape

from toksmith._base.visible import visible
from toksmith.explorer.details import details_html
from toksmith.explorer.excerpts import Stretch, shown_tokens, special_of
from toksmith.explorer.loaded import Shelf
from toksmith.explorer.requests import Answer, Asked
from toksmith.explorer.text_page import kind_of
from toksmith.explorer.token_html import colour_of, one_line
from toksmith.explorer.token_origin import Place
from toksmith.explorer.vocabulary import Vocabulary

MOST_ROWS = 400
"""How many rows are given at once."""

_MOST_SHOWN, _MOST_HEX = 60, 12


class VocabularyPage:
    """What the page asks.

    Args:
        shelf: the tokenizers.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def rows(self, asked: Asked) -> Answer:
        """Return some rows of what a search finds."""
        entry = self._shelf[asked.text("tokenizer")]
        vocabulary = entry.vocabulary
        found = vocabulary.search(
            asked.text("query"),
            asked.text("how", "text"),
            asked.text("kind", "all"),
            asked.text("sort", "id"),
        )
        first = max(asked.number("from"), 0)
        ids = found[first : first + min(max(asked.number("rows", 100), 0), MOST_ROWS)].tolist()
        return {
            "found": len(found),
            "total": len(vocabulary),
            "kind": kind_of(entry.tokenizer),
            "from": first,
            "ids": ids,
            "rows": [row_html(vocabulary, token_id) for token_id in ids],
        }

    def token(self, asked: Asked) -> Answer:
        """Return the details of a token, alone or where it stands in a text."""
        vocabulary = self._shelf[asked.text("tokenizer")].vocabulary
        token_id, text = asked.number("id"), asked.text("text")
        place = None
        if text:
            first, end = (min(max(asked.number(name), 0), len(text)) for name in ("start", "end"))
            stretch = Stretch(text, first, max(first, end))
            shown = shown_tokens(vocabulary.tok, stretch, special_of(asked.text("special", "text")))
            start = len(text[: stretch.start].encode()) + asked.number("at")
            place = Place(text.encode(), start, shown.encoding.ids)
        return {
            "title": f"Token {token_id:,}",
            "html": details_html(vocabulary, token_id, place, asked.number("colour")),
        }


def row_html(vocabulary: Vocabulary, token_id: int) -> str:
    """Return a token as a row of the list."""
    token = vocabulary.tokens[token_id]
    kind = vocabulary.kind(token_id)
    shown = one_line(token[:_MOST_SHOWN]) + ("…" if len(token) > _MOST_SHOWN else "")
    raw = token[:_MOST_HEX].hex(" ").upper() + (" …" if len(token) > _MOST_HEX else "")
    label = escape(visible(token[:_MOST_SHOWN]), quote=True)
    return (
        f'<span class="n">{token_id}</span>'
        f'<span class="w"><span class="sym {colour_of(token_id, kind == "special")}" '
        f'title="{label}">{shown}</span></span>'
        f'<span class="k">{kind}</span><span class="r">{vocabulary.rank(token_id)}</span>'
        f'<span class="b">{len(token)}</span><span class="h">{raw}</span>'
    )
