"""SentencePiece's way from pieces to text."""

from __future__ import annotations

from itertools import groupby

from toksmith.decoders import SentencePieceDecoder
from toksmith.models import Model, Pieces, PieceType
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.reference.aligned import edited
from toksmith.reference.normalizing_sentencepiece import SPACE, sentencepiece_edits


def sentencepiece_text(step: SentencePieceDecoder, tokens: list[str], model: Model) -> list[str]:
    """Return the text of pieces, as the only token.

    What is no piece of the model is an added token, and becomes nothing, as control pieces do.
    """
    strips = step.add_dummy_prefix or step.remove_extra_whitespaces
    text = ""
    for is_byte, run in groupby(tokens, key=lambda token: _type(model, token) is PieceType.BYTE):
        if is_byte:
            text += _characters(list(run))
            continue
        for token in run:
            kind = _type(model, token)
            if kind is PieceType.UNKNOWN:
                text += step.unk_surface
            elif kind is not PieceType.CONTROL:
                # The first mark is the dummy's. A second one is text, if normalizing kept it.
                if strips and not text and token.startswith(SPACE):
                    token = token.removeprefix(SPACE)
                    strips = step.remove_extra_whitespaces
                text += token.replace(SPACE, " ")
    if step.charsmap:
        plain = SentencePieceNormalizer(step.charsmap, False, False, False)
        text = edited(text, sentencepiece_edits(plain, text))
    return [text]


def _type(model: Model, token: str) -> PieceType:
    token_id = model.ids.get(token.encode())
    if token_id is None:
        return PieceType.CONTROL
    if isinstance(model, Pieces):
        return PieceType(int(model.types[token_id]))
    unknown = token_id == getattr(model, "unk_id", None)
    return PieceType.UNKNOWN if unknown else PieceType.NORMAL


def _characters(tokens: list[str]) -> str:
    """Return the text of byte pieces; each byte that is no UTF-8 is one U+FFFD."""
    data = bytes(int(token[3:5], 16) for token in tokens)
    text = data.decode("utf-8", "surrogateescape")
    return "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text)
