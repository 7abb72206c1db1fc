"""The details of a token as HTML: facts, parts, origin, characters, and longer tokens."""

from __future__ import annotations

import unicodedata
from html import escape

from toksmith._base.visible import count_of, visible
from toksmith.errors import UnknownTokenError
from toksmith.explorer.token_html import colour_class, one_line_html
from toksmith.explorer.token_origin import TokenPlace, find_origin, origin_html
from toksmith.explorer.vocabulary import Vocabulary

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
        parts.append(f'<section class="origin">{origin_html(found, colour)}</section>')
    parts += [_characters(token), _longer(vocabulary, token_id)]
    return "".join(parts)


def token_link(vocabulary: Vocabulary, token_id: int) -> str:
    """Return a token that can be clicked to see its details."""
    return (
        f'<button type="button" class="sym {colour_class(token_id)}" data-token="{token_id}" '
        f'title="id {token_id}">{one_line_html(vocabulary.tokens[token_id])}</button>'
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
