"""The teaching pages of WordPiece, SentencePiece's BPE and Unigram: the tokens of the kernel."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import toksmith
from toksmith.models import PieceType, Unigram
from toksmith.reference import (
    minimal_sentencepiece,
    minimal_unigram,
    minimal_wordpiece,
    unigram_training,
)

WORDS = [
    *("low", "lower", "lowest", "slow", "new", "newest", "hug", "hugs", "pug", "bun", "a"),
    *("naïve", "1", "23", "日本語", "aaaa", "!"),
]


def random_text(rng: random.Random, *more: str) -> str:
    return " ".join(rng.choices([*WORDS, *more], k=rng.randint(1, 60)))


@pytest.mark.parametrize("seed", range(60))
def test_wordpiece_is_that_of_the_kernel(seed: int) -> None:
    rng = random.Random(seed)
    text = random_text(rng)
    base = len(minimal_wordpiece.train(text, 0))
    size = base + rng.randrange(40)
    vocab = minimal_wordpiece.train(text, size)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the text ran out")
        tok = toksmith.train(
            texts=[text], model="wordpiece", vocab_size=size, special_tokens=("[UNK]",),
            min_frequency=1, normalize=False,
        )  # fmt: skip
    assert vocab == [token.decode() for token in tok.tokens]
    other = random_text(rng, "slower", "hugest", "Ωmega", "?")
    ids = minimal_wordpiece.encode(other, vocab)
    assert ids == tok.encode(other)
    assert minimal_wordpiece.decode(minimal_wordpiece.encode(text, vocab), vocab) == text


@pytest.mark.parametrize("seed", range(60))
def test_sentencepiece_bpe_is_that_of_the_kernel(seed: int) -> None:
    rng = random.Random(seed)
    text = "\n".join(random_text(rng) for _ in range(3))
    base = len(minimal_sentencepiece.train(text, 0))
    size = base + rng.randrange(40)
    vocab = minimal_sentencepiece.train(text, size)
    tok = toksmith.train(
        texts=[text], model="sentencepiece-bpe", vocab_size=len(vocab), byte_fallback=True,
        character_coverage=1.0, normalization_rule_name="identity", remove_extra_whitespaces=False,
        split_by_unicode_script=False, split_by_number=False,
    )  # fmt: skip
    assert list(vocab) == [token.decode() for token in tok.tokens]
    for other in (random_text(rng, "slower", "", "Ω 🙂", "hugest"), "", " ", "  low"):
        ids = minimal_sentencepiece.encode(other, vocab)
        assert ids == tok.encode(other)
        assert minimal_sentencepiece.decode(ids, vocab) == other


@pytest.mark.parametrize("seed", range(60))
def test_unigram_encodes_as_the_kernel(seed: int) -> None:
    rng = random.Random(seed)
    text = random_text(rng)
    base = len(minimal_unigram.train(text, 0))
    size = base + rng.randrange(20)
    scores = minimal_unigram.train(text, size)
    assert len(scores) <= size
    model = Unigram(
        tuple(piece.encode() for piece in scores),
        np.array(list(scores.values())),
        np.array([PieceType.NORMAL] * (len(scores) - 1) + [PieceType.UNKNOWN], np.uint8),
        unk_id=len(scores) - 1,
        single=False,
        fuse_unk=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trained = toksmith.train(texts=[text], model="unigram", vocab_size=200)
    tok = toksmith.Tokenizer(replace(trained.pipeline, model=model))
    other = random_text(rng, "slower", "hugest", "Ωx")
    assert minimal_unigram.encode(other, scores) == tok.encode(other)
    ids = minimal_unigram.encode(text, scores)
    assert minimal_unigram.decode(ids, scores) == text


@pytest.mark.parametrize("seed", range(30))
def test_expected_counts_are_those_of_the_reference(seed: int) -> None:
    rng = random.Random(seed)
    counts = Counter(minimal_unigram.words(random_text(rng)))
    scores = minimal_unigram.train(random_text(rng) + " " + " ".join(WORDS), 60)
    del scores[minimal_unigram.UNKNOWN]
    expected, _ = unigram_training.expected_counts(counts, scores)
    found = minimal_unigram.expected_counts(counts, scores)
    assert max(found.values()) >= 1
    assert [found[p] for p in scores] == pytest.approx([expected[p] for p in scores], abs=1e-9)


def test_unigram_training_comes_close_to_that_of_the_kernel() -> None:
    text = (Path(__file__).parents[2] / "docs/course/data/bose.txt").read_text(encoding="utf-8")
    tok = toksmith.train(texts=[text], model="unigram", vocab_size=300)
    scores = minimal_unigram.train(text, 300)
    assert len(scores) == 300
    assert len(scores.keys() & {token.decode() for token in tok.tokens}) > 250
    assert len(minimal_unigram.encode(text, scores)) == pytest.approx(tok.count(text), rel=0.02)
