"""BPE on the characters of one chunk, with a list of merges, as ``tokenizers`` runs it.

Merging is the same as on bytes (:mod:`~toksmith.reference.bpe`). The initial symbols differ: a
vocabulary need not hold every character, and the spelling of a character may depend on its place in
the chunk: ``##`` before all but the first, ``</w>`` after the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from toksmith.models import CharacterBPE
from toksmith.reference import Token
from toksmith.reference.bpe import Merge, Pair, draw_merge, earliest_merge


def symbols(model: CharacterBPE, chunk: bytes) -> list[Token]:
    """Return the initial symbols of a chunk, each with its byte span.

    Example:
        >>> model = CharacterBPE((b"<unk>", b"a", b"a</w>"), [], unk_id=0, word_suffix="</w>")
        >>> symbols(model, b"aba")
        [Token(id=1, start=0, end=1), Token(id=0, start=1, end=2), Token(id=2, start=2, end=3)]
    """
    text = chunk.decode()
    prefix, suffix = model.continuing_prefix.encode(), model.word_suffix.encode()
    found: list[Token] = []
    unknown: Token | None = None
    end = 0
    for place, character in enumerate(text):
        before = prefix if place > 0 else b""
        after = suffix if place == len(text) - 1 else b""
        spelled = before + character.encode() + after
        start, end = end, end + len(character.encode())
        if spelled in model.ids:
            # An unknown character is held back, because the next one may fuse with it.
            found += [unknown] if unknown else []
            unknown = None
            found.append(Token(model.ids[spelled], start, end))
        elif model.byte_fallback and (fallback := byte_tokens(model, spelled)):
            # The bytes of the prefix and of the suffix cover no text.
            first, last = len(before), len(spelled) - len(after)
            for byte, token_id in enumerate(fallback):
                at, to = (start + min(max(i - first, 0), last - first) for i in (byte, byte + 1))
                found.append(Token(token_id, at, to))
        elif model.unk_id is not None:
            if unknown and model.fuse_unk:
                unknown = unknown._replace(end=end)
            else:
                found += [unknown] if unknown else []
                unknown = Token(model.unk_id, start, end)
    return [*found, unknown] if unknown else found


def byte_tokens(model: CharacterBPE, spelled: bytes) -> list[int] | None:
    """Return the ids of ``<0x00>`` … ``<0xFF>`` for some bytes, if the model has all of them."""
    ids = [model.ids.get(b"<0x%02X>" % byte) for byte in spelled]
    known = [token_id for token_id in ids if token_id is not None]
    return known if len(known) == len(ids) else None


def encode_chunk(
    model: CharacterBPE,
    table: Mapping[Pair, Merge],
    chunk: bytes,
    dropout: float = 0.0,
    rng: Random | None = None,
) -> list[Token]:
    """Return the tokens of one chunk.

    Args:
        model: the vocabulary.
        table: its merges, from :func:`~toksmith.reference.bpe.merge_table`.
        chunk: UTF-8.
        dropout: see :func:`~toksmith.reference.bpe.draw_merge`.
        rng: the source of randomness; ``None`` for no dropout.
    """
    if rng is None and model.whole_chunk_first and chunk in model.ids:
        return [Token(model.ids[chunk], 0, len(chunk))]
    found = symbols(model, chunk)
    while True:
        ids = [token.id for token in found]
        position = (
            earliest_merge(table, ids) if rng is None else draw_merge(table, ids, dropout, rng)
        )
        if position is None:
            return found
        left, right = found[position : position + 2]
        merge = table[left.id, right.id]
        found[position : position + 2] = [Token(merge.new, left.start, right.end)]
