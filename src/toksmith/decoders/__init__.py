"""What a decoder is: frozen data; how ids of text models become text again.

Byte-level models need none: their tokens are the bytes of the text. How each step works stands in
:mod:`toksmith.reference.decoding`.
"""

from __future__ import annotations

from typing import TypeAlias

from toksmith.decoders.sentencepiece import SentencePieceDecoder

Step: TypeAlias = SentencePieceDecoder
"""One step, from a list of tokens to another."""

Decoder: TypeAlias = tuple[Step, ...]
"""Steps one after the other; the tokens that come out are joined."""

__all__ = ["Decoder", "SentencePieceDecoder", "Step"]
