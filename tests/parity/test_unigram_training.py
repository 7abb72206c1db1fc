"""Unigram pieces against those of SentencePiece's own trainer, with the same options."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import pytest

from toksmith.reference.unigram_training import expected_counts
from toksmith.trainers.counting.symbol_words import CharacterWords
from toksmith.trainers.unigram import train_unigram

spm = pytest.importorskip("sentencepiece")
proto = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")

WORSE = 1.005
"""Ours may need so many times the tokens, and lose as much likelihood."""


def trained_by_sentencepiece(lines: list[str], size: int, coverage: float) -> object:
    out = io.BytesIO()
    spm.SentencePieceTrainer.Train(
        sentence_iterator=iter(lines),
        model_writer=out,
        model_type="unigram",
        vocab_size=size,
        character_coverage=coverage,
        num_threads=2,
        minloglevel=2,
    )
    model = proto.ModelProto()
    model.ParseFromString(out.getvalue())
    return model


def with_pieces(model: object, pieces: list[tuple[str, float]]) -> object:
    """Return a model with other pieces, for words that are normalized."""
    new = proto.ModelProto()
    new.CopyFrom(model)
    for field in ("precompiled_charsmap", "add_dummy_prefix", "remove_extra_whitespaces"):
        new.normalizer_spec.ClearField(field)
    new.normalizer_spec.add_dummy_prefix = new.normalizer_spec.remove_extra_whitespaces = False
    del new.pieces[3:]
    for piece, score in pieces:
        new.pieces.add(piece=piece, score=score)
    return new


def judged(model: object, words: Counter[str]) -> tuple[int, float, float]:
    """Return tokens, log-likelihood of the best ways, and of all ways (of some words)."""
    processor = spm.SentencePieceProcessor(model_proto=model.SerializeToString())
    normal = {piece.piece: piece.score for piece in model.pieces[3:]}
    unknown = min(normal.values()) - 10
    tokens, best = 0, 0.0
    encoded = processor.Encode(list(words), out_type=str)
    for pieces, count in zip(encoded, words.values(), strict=True):
        tokens += len(pieces) * count
        best += sum(normal.get(piece, unknown) for piece in pieces) * count
    some = dict(list(words.items())[:1000])
    return tokens, best, expected_counts(some, normal)[1]


@pytest.mark.parametrize(
    ("corpus", "size", "coverage"), [("english.txt", 1500, 0.9995), ("cjk.txt", 4000, 0.995)]
)
def test_as_good_as_sentencepiece(shared: Path, corpus: str, size: int, coverage: float) -> None:
    with (shared / "data/corpus" / corpus).open("rb") as file:
        text = file.read(600_000 if corpus == "english.txt" else 400_000).decode(errors="ignore")
    lines = [line for line in text.split("\n") if 0 < len(line.encode()) <= 4192]
    theirs = trained_by_sentencepiece(lines, size, coverage)
    processor = spm.SentencePieceProcessor(model_proto=theirs.SerializeToString())
    words: Counter[str] = Counter()
    for line in processor.Normalize(lines):
        words.update("▁" + word for word in line[1:].split("▁"))

    known = "".join(piece.piece for piece in theirs.pieces if len(piece.piece) == 1)
    pieces = train_unigram(
        CharacterWords.of(words).only(known), size - 3, meta_pieces=3, progress=False
    )
    assert len(pieces) == size - 3
    ours = judged(with_pieces(theirs, pieces), words)
    normal = [(piece.piece, piece.score) for piece in theirs.pieces[3:]]
    peers = judged(with_pieces(theirs, normal), words)
    assert ours[0] <= peers[0] * WORSE
    assert ours[1] >= peers[1] * WORSE  # both are negative
    assert ours[2] >= peers[2] * WORSE
