"""The kernel's pieces against the reference's."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from tests.kits.pieces import random_piece_rules
from toksmith.reference.piece_rules import PieceRules
from toksmith.reference.sentencepiece_bpe_training import training_steps
from toksmith.trainers.counting.symbol_words import CharacterWords
from toksmith.trainers.sentencepiece.pieces import learn_pieces

ALPHABETS = ["ab", "aab▁", "aя▁", "カな漢一ーa▁", "a1２я▁", "e\u0301я▁\u0302", "a▁▁▁1"]


@pytest.mark.parametrize("seed", range(300))
def test_random_words(seed: int) -> None:
    rng = random.Random(seed)
    alphabet = rng.choice(ALPHABETS)
    words: Counter[str] = Counter()
    for _ in range(rng.randint(1, 12)):
        word = "".join(rng.choices(alphabet, k=rng.randint(1, 24)))
        words[word] += rng.choice([1, 1, 2, 3])
    rules = random_piece_rules(rng, (1, 2, 3, 5, 16)) if seed % 3 else PieceRules()
    pieces = rng.randint(1, 80)
    steps = list(training_steps(words, pieces, rules))
    learned = learn_pieces(CharacterWords.of(words), pieces, rules, progress=False)
    assert learned.pieces == [step.piece for step in steps]
    assert learned.counts.tolist() == [step.count for step in steps]
    if steps:
        left = sum(
            len(word) * count for word, count in zip(steps[-1].words, words.values(), strict=True)
        )
        assert learned.tokens_after[-1] == left
    assert learned.counts.dtype == np.uint64
