"""SentencePiece's BPE: pairs merge where they make a piece, the best score first."""

from __future__ import annotations

from dataclasses import dataclass

from toksmith.models.pieces import Pieces
from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True, eq=False)
class SentencePieceBPE(Pieces):
    """SentencePiece's BPE (Kudo & Richardson 2018), on the characters of normalized text.

    Any two neighbours whose *concatenation is a piece* may merge, not only pairs that training
    merged; the highest score goes first, then the leftmost. User-defined pieces are found first,
    the longest at each place, and never merge; a piece of type UNUSED that comes out is taken
    apart again. What is left and is no piece is unknown: its bytes with ``byte_fallback``, else
    the unknown piece, one for all that stand side by side.
    """
