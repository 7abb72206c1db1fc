"""The requests of the page of a vocabulary, and of the details of its tokens."""

from __future__ import annotations

from html import escape

from toksmith._base.visible import visible
from toksmith.explorer.details import details_html
from toksmith.explorer.excerpts import Excerpt, encode_excerpt, parse_special
from toksmith.explorer.loaded import LoadedTokenizers
from toksmith.explorer.requests import Fields, Reply
from toksmith.explorer.text_page import describe_kind
from toksmith.explorer.token_html import colour_class, one_line_html
from toksmith.explorer.token_origin import TokenPlace
from toksmith.explorer.vocabulary import Vocabulary

MOST_ROWS = 400
"""The largest number of rows in one response."""

_MOST_SHOWN, _MOST_HEX = 60, 12


class VocabularyPage:
    """The requests of the page.

    Args:
        loaded: the tokenizers.
    """

    def __init__(self, loaded: LoadedTokenizers) -> None:
        self._loaded = loaded

    def rows(self, fields: Fields) -> Reply:
        """Return some rows of the result of a search."""
        entry = self._loaded[fields.text("tokenizer")]
        vocabulary = entry.vocabulary
        found = vocabulary.search(
            fields.text("query"),
            fields.text("how", "text"),
            fields.text("kind", "all"),
            fields.text("sort", "id"),
        )
        first = max(fields.number("from"), 0)
        ids = found[first : first + min(max(fields.number("rows", 100), 0), MOST_ROWS)].tolist()
        return {
            "found": len(found),
            "total": len(vocabulary),
            "kind": describe_kind(entry.tokenizer),
            "from": first,
            "ids": ids,
            "rows": [row_html(vocabulary, token_id) for token_id in ids],
        }

    def token(self, fields: Fields) -> Reply:
        """Return the details of a token, alone or at its place in a text."""
        vocabulary = self._loaded[fields.text("tokenizer")].vocabulary
        token_id, text = fields.number("id"), fields.text("text")
        place = None
        if text:
            first, end = (min(max(fields.number(name), 0), len(text)) for name in ("start", "end"))
            excerpt = Excerpt(text, first, max(first, end))
            shown = encode_excerpt(
                vocabulary.tok, excerpt, parse_special(fields.text("special", "text"))
            )
            start = len(text[: excerpt.start].encode()) + fields.number("at")
            place = TokenPlace(text.encode(), start, shown.encoding.ids)
        return {
            "title": f"Token {token_id:,}",
            "html": details_html(vocabulary, token_id, place, fields.number("colour")),
        }


def row_html(vocabulary: Vocabulary, token_id: int) -> str:
    """Return a token as a row of the list."""
    token = vocabulary.tokens[token_id]
    kind = vocabulary.kind(token_id)
    shown = one_line_html(token[:_MOST_SHOWN]) + ("…" if len(token) > _MOST_SHOWN else "")
    raw = token[:_MOST_HEX].hex(" ").upper() + (" …" if len(token) > _MOST_HEX else "")
    label = escape(visible(token[:_MOST_SHOWN]), quote=True)
    return (
        f'<span class="n">{token_id}</span>'
        f'<span class="w"><span class="sym {colour_class(token_id, kind == "special")}" '
        f'title="{label}">{shown}</span></span>'
        f'<span class="k">{kind}</span><span class="r">{vocabulary.rank(token_id)}</span>'
        f'<span class="b">{len(token)}</span><span class="h">{raw}</span>'
    )
