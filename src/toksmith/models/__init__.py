"""Models as frozen data: the vocabulary and the parameters of the algorithm.

Every model has ``vocab``, the token of each id as bytes (``b""`` where an id is not used), and
``ids``, the way back. Models of text spell tokens as their files do: ``▁the``, ``##ing``,
``<0x0A>``.
"""

from __future__ import annotations

from typing import TypeAlias

from toksmith.models.bpe import BPE, CharacterBPE
from toksmith.models.pieces import Pieces, PieceType, SentencePieceBPE, Unigram
from toksmith.models.words import LongestMatch, WordLevel, WordPiece

Model: TypeAlias = (
    BPE | CharacterBPE | SentencePieceBPE | Unigram | WordPiece | WordLevel | LongestMatch
)


def is_of_bytes(model: Model) -> bool:
    """Return whether tokens are bytes of the text: invalid UTF-8 is kept, and nothing is unknown.

    All other models see U+FFFD for invalid bytes.

    Args:
        model: any model of this module.

    Example:
        >>> from toksmith import train
        >>> tok = train(texts=["low low"], vocab_size=258)
        >>> is_of_bytes(tok.pipeline.model), is_of_bytes(WordLevel((b"low",)))
        (True, False)
    """
    return isinstance(model, BPE) or (isinstance(model, LongestMatch) and model.unit == "bytes")


__all__ = [
    "BPE",
    "CharacterBPE",
    "LongestMatch",
    "Model",
    "PieceType",
    "Pieces",
    "SentencePieceBPE",
    "Unigram",
    "WordLevel",
    "WordPiece",
    "is_of_bytes",
]
