"""The kernel's word pieces against the reference's."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from typing import Any

import pytest

import toksmith
from toksmith.models import WordPiece
from toksmith.reference.wordpiece_training import alphabet, training_steps


def learn(words: Counter[str], merges: int, **options: Any) -> tuple[list[str], list[int]]:
    size = merges + 1 + len(alphabet(words))
    counts = toksmith.Counts.of({word.encode(): count for word, count in words.items()})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the text ran out")
        tok = toksmith.train(
            counts=counts, model="wordpiece", vocab_size=size, special_tokens=("[UNK]",),
            normalize=False, split=None, **options,
        )  # fmt: skip
    assert isinstance(tok.pipeline.model, WordPiece)
    assert tok.training is not None
    return [token.decode() for token in tok.pipeline.model.vocab[1:]], tok.training.counts.tolist()


@pytest.mark.parametrize("objective", ["likelihood", "frequency"])
@pytest.mark.parametrize("seed", range(150))
def test_random_words(objective: Any, seed: int) -> None:
    rng = random.Random(seed)
    letters = rng.choice(["ab", "aab", "abcd", "абв", "a#"])
    words: Counter[str] = Counter()
    for _ in range(rng.randint(1, 15)):
        words["".join(rng.choices(letters, k=rng.randint(1, 14)))] += rng.choice([1, 1, 2, 5])
    merges, least = rng.randint(1, 60), rng.choice([0, 1, 2, 3])
    vocab, counts = learn(words, merges, objective=objective, min_frequency=least)
    expected = dict.fromkeys(alphabet(words))
    expected_counts = []
    for step in training_steps(words, merges + 8, objective=objective, min_frequency=least):
        if len(expected) == len(alphabet(words)) + merges:
            break
        expected[step.piece] = None
        expected_counts.append(step.count)
    assert vocab == list(expected)
    assert counts == expected_counts
