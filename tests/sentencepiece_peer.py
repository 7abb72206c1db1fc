"""SentencePiece's own processors, made of files or pieces, and our models of the same."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from tests.kits.pieces import Piece
from toksmith.models import PieceType, SentencePieceBPE, Unigram

UNIGRAM, BPE = 1, 2


def processor(pieces: Iterable[Piece], kind: int) -> Any:
    """Return a processor of these pieces that changes no text before it encodes it."""
    import sentencepiece

    pieces = list(pieces)
    byte_fallback = any(piece.type == PieceType.BYTE for piece in pieces)
    model = b"".join(
        _message(
            1,
            _message(1, piece.text.encode())
            + _number(2, piece.score)
            + _number(3, int(piece.type)),
        )
        for piece in pieces
    )
    trainer = _number(3, kind) + _number(35, int(byte_fallback))
    # No dummy prefix, no white space removed, none escaped.
    normalizer = _message(1, b"identity") + b"".join(_number(field, 0) for field in (3, 4, 5))
    model += _message(2, trainer) + _message(3, normalizer)
    return sentencepiece.SentencePieceProcessor(model_proto=model)


def model_in(processor: Any, kind: int) -> Unigram | SentencePieceBPE:
    """Return our model of a processor's pieces."""
    ids = range(processor.get_piece_size())
    types = [_type(processor, token_id) for token_id in ids]
    return (Unigram if kind == UNIGRAM else SentencePieceBPE)(
        tuple(processor.id_to_piece(token_id).encode() for token_id in ids),
        [processor.get_score(token_id) for token_id in ids],
        types,
        processor.unk_id(),
        PieceType.BYTE in types,
    )


def _type(processor: Any, token_id: int) -> PieceType:
    """Return the type of a piece; user-defined ones cannot be told from normal ones."""
    questions = {
        PieceType.UNKNOWN: processor.is_unknown,
        PieceType.CONTROL: processor.is_control,
        PieceType.UNUSED: processor.is_unused,
        PieceType.BYTE: processor.is_byte,
    }
    return next((kind for kind, ask in questions.items() if ask(token_id)), PieceType.NORMAL)


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def _number(field: int, value: float) -> bytes:
    if isinstance(value, int) and field != 2:
        return _varint(field << 3) + _varint(value)
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def _message(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data
