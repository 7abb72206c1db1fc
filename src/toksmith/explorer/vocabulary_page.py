"""The requests of the page of a vocabulary, and of the details of its tokens.

The details of a token are facts, parts, origin, characters, and longer tokens.
"""

from __future__ import annotations

import unicodedata
from html import escape

from toksmith._base.visible import LONGEST_IN_LIST, count_of, cut, visible
from toksmith.errors import UnknownTokenError
from toksmith.explorer.excerpts import Excerpt, encode_excerpt, parse_special
from toksmith.explorer.loaded import LoadedTokenizers
from toksmith.explorer.requests import Fields, Reply
from toksmith.explorer.text_page import describe_kind
from toksmith.explorer.texts import Texts
from toksmith.explorer.token_html import colour_class, one_line_html
from toksmith.explorer.token_origin import TokenPlace, find_origin, origin_html
from toksmith.explorer.vocabulary import Vocabulary
from toksmith.show.diagram_choice import LONGEST_CHUNK

_MOST_CHARACTERS = 24
_MOST_LONGER = 24
_MOST_BYTES = 256


def details_html(
    vocabulary: Vocabulary, token_id: int, place: TokenPlace | None = None, colour: int = 0
) -> str:
    """Return the details of a token.

    Args:
        vocabulary: of its tokenizer.
        token_id: the token.
        place: its place in a text, if there is one.
        colour: the index of its colour in the palette.

    Raises:
        UnknownTokenError: there is no such token.
    """
    if not 0 <= token_id < len(vocabulary):
        raise UnknownTokenError(f"no token has id {token_id}; ids go up to {len(vocabulary) - 1}")
    token = vocabulary.tokens[token_id]
    kind = vocabulary.kind(token_id)
    big = colour_class(colour, kind == "special")
    parts = [
        f'<div class="bigtoken {big}">{one_line_html(token) or "&nbsp;"}</div>',
        _facts(vocabulary, token_id, kind),
        _made_of(vocabulary, token_id),
    ]
    if token and (found := find_origin(vocabulary.tok, token_id, place)):
        drawn = origin_html(found, colour)
        parts.append(f'<section class="origin" data-chosen="{found.place}">{drawn}</section>')
    elif len(token) > LONGEST_CHUNK:
        parts.append(
            f'<p class="soft">How its bytes come to it is drawn only for tokens of up to '
            f"{LONGEST_CHUNK:,} bytes.</p>"
        )
    parts += [_characters(token), _longer(vocabulary, token_id)]
    return "".join(parts)


def token_link(vocabulary: Vocabulary, token_id: int) -> str:
    """Return a token that can be clicked to see its details."""
    shown = one_line_html(vocabulary.tokens[token_id], LONGEST_IN_LIST)
    return (
        f'<button type="button" class="sym {colour_class(token_id)}" data-token="{token_id}" '
        f'title="id {token_id}">{shown}</button>'
    )


def _facts(vocabulary: Vocabulary, token_id: int, kind: str) -> str:
    token = vocabulary.tokens[token_id]
    kinds = {
        "special": "special token",
        "added": "added token",
        "partial": "part of a character, or invalid UTF-8",
        "unused": "an id without a token",
    }
    shown = token[:_MOST_BYTES].hex(" ").upper() + (" …" if len(token) > _MOST_BYTES else "")
    facts = [("id", f"{token_id:,}"), ("bytes", f"<code>{shown}</code>")]
    facts.append(("length", _lengths(token)))
    if kind:
        facts.append(("kind", kinds[kind]))
    if rank := vocabulary.rank(token_id):
        name, _, value = rank.partition(" ")
        facts.append(("rank" if name == "merge" else name, f"{rank if name == 'merge' else value}"))
    if surface := _decoded_text(vocabulary, token_id):
        facts.append(("decodes to", f'<span class="spelled mono">{surface}</span>'))
    rows = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts)
    return f'<dl class="facts">{rows}</dl>'


def _lengths(token: bytes) -> str:
    size = count_of(len(token), "byte")
    try:
        characters = len(token.decode())
    except UnicodeDecodeError:
        return size
    return f"{size}, {count_of(characters, 'character')}"


def _decoded_text(vocabulary: Vocabulary, token_id: int) -> str:
    """Return the text that a token decodes to after others; empty if it is the token itself."""
    tok, token = vocabulary.tok, vocabulary.tokens[token_id]
    if not token or tok.pipeline.decoder is None:
        return ""
    try:
        text = tok.decode([token_id]).encode()
    except (UnknownTokenError, ValueError):
        return ""
    return one_line_html(text) if text and text != token else ""


def _made_of(vocabulary: Vocabulary, token_id: int) -> str:
    parts = vocabulary.made_of(token_id)
    if parts is None:
        return ""
    left, right = (token_link(vocabulary, part) for part in parts)
    return f'<p class="sum">merged from {left} + {right}</p>'


def _characters(token: bytes) -> str:
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return ""
    rows = "".join(map(_character, text[:_MOST_CHARACTERS]))
    rest = len(text) - _MOST_CHARACTERS
    more = f'<p class="soft">… and {rest:,} more characters</p>' if rest > 0 else ""
    head = "<tr><th>character</th><th>code point</th><th>name</th><th>UTF-8</th></tr>"
    return f'<h3>Characters</h3><table class="plain">{head}{rows}</table>{more}' if rows else ""


def _character(character: str) -> str:
    name = unicodedata.name(character, unicodedata.category(character)).capitalize()
    data = character.encode()
    cells = (visible(data), f"U+{ord(character):04X}", name, data.hex(" ").upper())
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _longer(vocabulary: Vocabulary, token_id: int) -> str:
    found = vocabulary.made_into(token_id)
    if not len(found):
        return ""
    links = " ".join(token_link(vocabulary, i) for i in found[:_MOST_LONGER].tolist())
    rest = len(found) - _MOST_LONGER
    more = f' <span class="soft">… and {rest:,} more</span>' if rest > 0 else ""
    return f'<h3>It is merged into</h3><p class="links">{links}{more}</p>'


MOST_ROWS = 400
"""The largest number of rows in one response."""

_MOST_HEX = 32


class VocabularyPage:
    """The requests of the page.

    Args:
        loaded: the tokenizers.
        texts: the texts that were sent once.
    """

    def __init__(self, loaded: LoadedTokenizers, texts: Texts) -> None:
        self._loaded = loaded
        self._texts = texts

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
        first = fields.number("from")
        ids = found[first : first + min(fields.number("rows", 100), MOST_ROWS)].tolist()
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
        token_id, text = fields.number("id"), self._texts.of(fields)
        place = None
        if text:
            first, end = (min(fields.number(name), len(text)) for name in ("start", "end"))
            excerpt = Excerpt(text, first, max(first, end))
            shown = encode_excerpt(
                vocabulary.tok, excerpt, parse_special(fields.text("special", "text"))
            )
            start = len(text[: excerpt.start].encode()) + fields.number("at")
            place = TokenPlace(text.encode(), start, shown.encoding.ids)
        return {
            "title": f"Token {token_id:,}",
            "html": details_html(vocabulary, token_id, place, fields.number("colour", token_id)),
        }


def row_html(vocabulary: Vocabulary, token_id: int) -> str:
    """Return a token as a row of the list."""
    token = vocabulary.tokens[token_id]
    kind = vocabulary.kind(token_id)
    start, rest = cut(token, LONGEST_IN_LIST)
    shown = one_line_html(start) + ("…" if rest else "")
    raw = token[:_MOST_HEX].hex(" ").upper() + (" …" if len(token) > _MOST_HEX else "")
    label = escape(visible(start), quote=True)
    return (
        f'<span class="n">{token_id}</span>'
        f'<span class="w"><span class="sym {colour_class(token_id, kind == "special")}" '
        f'title="{label}">{shown}</span></span>'
        f'<span class="k">{kind}</span><span class="r">{vocabulary.rank(token_id)}</span>'
        f'<span class="b">{len(token)}</span><span class="h">{raw}</span>'
    )
