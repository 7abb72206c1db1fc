"""A SentencePiece map of characters, applied as ``tokenizers`` applies it."""

from __future__ import annotations

from dataclasses import dataclass, field

from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class Precompiled:
    """``Precompiled`` of tokenizer.json: the map is tried on grapheme clusters, then characters.

    Attributes:
        charsmap: the map as SentencePiece writes it (``precompiled_charsmap``).
    """

    charsmap: bytes = field(repr=False)
