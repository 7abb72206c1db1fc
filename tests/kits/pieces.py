"""Unigram and SentencePiece BPE: models from lists of pieces, random models, and texts for them."""

from __future__ import annotations

import random
from dataclasses import fields
from typing import NamedTuple, TypeVar

import numpy as np

from toksmith.models import Pieces, PieceType, SentencePieceBPE, Unigram
from toksmith.reference.piece_rules import PieceRules

ALPHABETS = ("ab", "abc", "abé", "ab日c", "abcd😄")
BYTE_PIECES = tuple(f"<0x{byte:02X}>" for byte in range(256))

AnyPieces = TypeVar("AnyPieces", bound=Pieces)


class Piece(NamedTuple):
    text: str
    score: float
    type: int = 1


def model_of(kind: type[AnyPieces], pieces: list[Piece]) -> AnyPieces:
    """Build a model; byte fallback and the unknown id follow from the types of its pieces."""
    types = [piece.type for piece in pieces]
    return kind(
        tuple(piece.text.encode() for piece in pieces),
        np.array([piece.score for piece in pieces]),
        np.array(types, np.uint8),
        types.index(PieceType.UNKNOWN) if PieceType.UNKNOWN in types else None,
        PieceType.BYTE in types,
    )


def random_pieces(rng: random.Random) -> tuple[list[Piece], str]:
    """Return a SentencePiece vocabulary of all types of pieces, and its alphabet."""
    alphabet = rng.choice(ALPHABETS)
    texts = {character: None for character in alphabet if rng.random() < 0.8}
    for _ in range(rng.randint(1, 25)):
        texts["".join(rng.choices(alphabet, k=rng.randint(1, 5)))] = None
    score = rng.choice(
        (
            lambda: float(-rng.randint(0, 5)),  # many ties
            lambda: float(np.float32(rng.uniform(-10, 0))),
            lambda: float(np.float32(rng.uniform(-5, 5))),
            lambda: -1.0,
        )
    )
    weights = rng.choice([(1, 0, 0), (1, 0, 0), (6, 1, 1), (3, 1, 2)])
    types = (PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED)
    pieces = [Piece("<unk>", 0, PieceType.UNKNOWN), Piece("z", 0, PieceType.CONTROL)]
    if rng.random() < 0.3:
        pieces += [Piece(text, 0, PieceType.BYTE) for text in BYTE_PIECES]
    pieces += [Piece(text, score(), rng.choices(types, weights)[0]) for text in texts]
    if rng.random() < 0.3:
        rng.shuffle(pieces)
    return pieces, alphabet


def random_sentencepiece_bpe(rng: random.Random) -> tuple[SentencePieceBPE, str]:
    pieces, alphabet = random_pieces(rng)
    return model_of(SentencePieceBPE, pieces), alphabet


def random_unigram(rng: random.Random) -> tuple[Unigram, str]:
    """Return a model with the rules of SentencePiece."""
    pieces, alphabet = random_pieces(rng)
    return model_of(Unigram, pieces), alphabet


def random_double_unigram(rng: random.Random) -> tuple[Unigram, str]:
    """Return a model with the rules of tokenizers; some scores are tied, some are positive."""
    alphabet = rng.choice(ALPHABETS) + "<"
    texts = {character: None for character in alphabet if rng.random() < 0.8}
    for _ in range(rng.randint(1, 25)):
        texts["".join(rng.choices(alphabet, k=rng.randint(1, 5)))] = None
    score = rng.choice(
        (
            lambda: float(-rng.randint(0, 5)),
            lambda: rng.uniform(-10, 0),
            lambda: rng.uniform(-5, 25),
            lambda: -1.0,
        )
    )
    byte_fallback = rng.random() < 0.4
    vocab = ["<unk>", *texts, *(BYTE_PIECES if byte_fallback else ())]
    scores = [score() for _ in vocab]
    unk_id = 0 if rng.random() < 0.8 else None
    types = np.ones(len(vocab), np.uint8)
    tokens = tuple(token.encode() for token in vocab)
    return Unigram(tokens, np.array(scores), types, unk_id, byte_fallback, single=False), alphabet


def random_chunk(rng: random.Random, alphabet: str, most: int = 14) -> str:
    """Return a text of the alphabet; some hold characters that no piece covers."""
    letters = alphabet + rng.choice(("", "", "xyz", "ü"))
    text = "".join(rng.choices(letters, k=rng.randint(1, most)))
    return text + "<unk>" + text if rng.random() < 0.1 else text


def random_piece_rules(rng: random.Random, lengths: tuple[int, ...]) -> PieceRules:
    """Return rules of which each flag is random, and the greatest length is one of these."""
    flags = {f.name: rng.random() < 0.5 for f in fields(PieceRules) if f.type == "bool"}
    return PieceRules(max_sentencepiece_length=rng.choice(lengths), **flags)
