"""What a decoder is: frozen data, one kind a file; how ids of text models become text again.

Byte-level models need none: their tokens are the bytes of the text. How each step works stands in
:mod:`toksmith.reference.decoding`.
"""

from __future__ import annotations

from typing import TypeAlias

from toksmith.decoders.bytes import ByteFallback, ByteLevelDecoder
from toksmith.decoders.ctc import CTC
from toksmith.decoders.marks import BPEDecoder, MetaspaceDecoder, WordPieceDecoder
from toksmith.decoders.rewriting import Fuse, Strip
from toksmith.decoders.sentencepiece import SentencePieceDecoder
from toksmith.normalizers.rewriting import Replace

Step: TypeAlias = (
    BPEDecoder
    | ByteFallback
    | ByteLevelDecoder
    | CTC
    | Fuse
    | MetaspaceDecoder
    | Replace
    | SentencePieceDecoder
    | Strip
    | WordPieceDecoder
)
"""One step, from a list of tokens to another."""

Decoder: TypeAlias = tuple[Step, ...]
"""Steps one after the other; the tokens that come out are joined."""

__all__ = [
    "CTC",
    "BPEDecoder",
    "ByteFallback",
    "ByteLevelDecoder",
    "Decoder",
    "Fuse",
    "MetaspaceDecoder",
    "Replace",
    "SentencePieceDecoder",
    "Step",
    "Strip",
    "WordPieceDecoder",
]
