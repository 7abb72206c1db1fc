"""Small SentencePiece pipelines, made by hand."""

from __future__ import annotations

import numpy as np

from toksmith.formats.sentencepiece_pipeline import protected_symbols, sentencepiece_pipeline
from toksmith.models import PieceType, SentencePieceBPE, Unigram
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.pipeline import Pipeline
from toksmith.stages.charsmap_building import compile_charsmap

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = PieceType
CHARSMAP = compile_charsmap({"Ａ": "a", "e\u0301": "é", "㍿": "a b", "\t": " ", "\x01": ""})
META = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
BYTES = [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
WORDS = [("▁a", -1.0), ("▁", -2.0), ("a", -3.0), ("b", -4.0), ("ab", -3.5), ("é", -5.0)]
PIECES = [
    *META,
    ("<u>", 0.0, USER),
    ("off", -4.25, UNUSED),
    *((piece, score, NORMAL) for piece, score in WORDS),
]


def model(
    kind: type[SentencePieceBPE] | type[Unigram] = SentencePieceBPE, byte_fallback: bool = False
) -> SentencePieceBPE | Unigram:
    pieces = [*PIECES, *BYTES] if byte_fallback else PIECES
    return kind(
        tuple(piece.encode() for piece, _, _ in pieces),
        np.array([score for _, score, _ in pieces]),
        np.array([kind for _, _, kind in pieces], np.uint8),
        byte_fallback=byte_fallback,
        bos_id=1,
        eos_id=2,
    )


def sentencepiece(
    kind: type[SentencePieceBPE] | type[Unigram] = SentencePieceBPE,
    byte_fallback: bool = False,
    unk_surface: str = " ⁇ ",
    denormalizer: bytes = b"",
    **normalizer: object,
) -> Pipeline:
    pieces = model(kind, byte_fallback)
    options: dict[str, object] = {"charsmap": CHARSMAP, "protected": protected_symbols(pieces)}
    return sentencepiece_pipeline(
        pieces,
        SentencePieceNormalizer(**options | normalizer),  # type: ignore[arg-type]
        unk_surface=unk_surface,
        denormalizer=denormalizer,
    )
