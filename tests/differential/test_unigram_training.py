"""The kernel's Unigram pieces against the reference's."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from tests.kits.pieces import random_piece_rules
from toksmith.reference.piece_rules import PieceRules
from toksmith.reference.unigram_training import UnigramOptions, finish, training_steps
from toksmith.trainers.counting.symbol_words import CharacterWords
from toksmith.trainers.unigram import train_unigram

ALPHABETS = ["ab", "abcd▁", "aя▁", "カな漢一ーa▁", "a1２я▁", "e\u0301я▁\u0302", "a▁▁▁1"]


def random_words(rng: random.Random, distinct: int, longest: int) -> Counter[str]:
    alphabet = rng.choice(ALPHABETS)
    words: Counter[str] = Counter()
    for _ in range(distinct):
        word = "".join(rng.choices(alphabet, k=rng.randint(1, longest)))
        words[word] += rng.choice([1, 1, 2, 3, 50])
    return words


def by_reference(
    words: Counter[str], size: int, rules: PieceRules, options: UnigramOptions
) -> list[tuple[str, float]]:
    *_, last = training_steps(words, size, rules, options)
    characters: Counter[str] = Counter()
    for word, count in words.items():
        for character in word:
            characters[character] += count
    required = "".join(sorted(characters, key=lambda c: (-characters[c], c)))
    return finish({p: float(np.float32(s)) for p, s in last.scores.items()}, size, required)


@pytest.mark.parametrize("seed", range(200))
def test_random_words(seed: int) -> None:
    rng = random.Random(seed)
    words = random_words(rng, rng.randint(1, 40), 24)
    rules = random_piece_rules(rng, (1, 2, 3, 5, 16, 512)) if seed % 3 else PieceRules()
    options = UnigramOptions(
        rng.choice([1, 10, 1000]), rng.choice([0.5, 0.75, 0.9]), rng.randint(1, 3)
    )
    size = rng.randint(1, 60)
    expected = by_reference(words, size, rules, options)
    got = train_unigram(
        CharacterWords.of(words), size, rules=rules, options=options, progress=False
    )
    assert sorted(piece for piece, _ in got) == sorted(piece for piece, _ in expected)
    scores = dict(got)
    assert [scores[piece] for piece, _ in expected] == pytest.approx(
        [score for _, score in expected], abs=1e-4
    )


@pytest.mark.parametrize("seed", range(3))
def test_threads_make_no_difference(seed: int) -> None:
    rng = random.Random(seed)
    words = CharacterWords.of(random_words(rng, 4_000, 12))
    rules = PieceRules(split_by_unicode_script=False, split_by_whitespace=False)
    one, *others = (
        train_unigram(words, 100, rules=rules, threads=n, progress=False) for n in (1, 2, 3)
    )
    assert len(one) == 100
    assert others == [one, one]


def test_long_words_are_far_below_the_least_double() -> None:
    rng = random.Random(0)
    words = Counter({"".join(rng.choices("abcdefghijklmnop", k=3000)): 2, "ab": 5, "p" * 700: 3})
    options = UnigramOptions(seed_sentencepiece_size=300)
    expected = by_reference(words, 100, PieceRules(), options)
    got = train_unigram(CharacterWords.of(words), 100, options=options, progress=False)
    assert [p for p, _ in got[:50]] == [p for p, _ in expected[:50]]
    assert [s for _, s in got] == pytest.approx([s for _, s in expected], abs=1e-4)


def same_as_reference(words: Counter[str], size: int, options: UnigramOptions) -> None:
    expected = by_reference(words, size, PieceRules(), options)
    got = train_unigram(CharacterWords.of(words), size, options=options, progress=False)
    assert sorted(piece for piece, _ in got) == sorted(piece for piece, _ in expected)
    scores = dict(got)
    assert [scores[piece] for piece, _ in expected] == pytest.approx(
        [score for _, score in expected], abs=1e-4
    )


@pytest.mark.parametrize("seed", range(20))
def test_words_that_share_beginnings_and_ends(seed: int) -> None:
    rng = random.Random(seed)
    stems = ["".join(rng.choices("abc", k=rng.randint(1, 12))) for _ in range(4)]
    words: Counter[str] = Counter()
    for _ in range(60):
        parts = rng.choices(stems, k=rng.randint(1, 4))
        words["".join(parts)[: rng.randint(1, 40)]] += rng.randint(1, 9)
    options = UnigramOptions(rng.choice([30, 1000]), 0.6)
    same_as_reference(words, rng.randint(3, 40), options)


def test_each_word_is_a_prefix_of_the_next() -> None:
    words = Counter({"ab" * k + "c" * (k % 3): k for k in range(1, 25)})
    same_as_reference(words, 12, UnigramOptions(1000, 0.6))


def test_counts_beyond_32_bits() -> None:
    words = Counter({"abab": 3 << 31, "babc": 5 << 32, "ab": 7, "cab": 1 << 31})
    same_as_reference(words, 6, UnigramOptions(1000, 0.6))


def test_words_that_are_cut_into_the_same_parts() -> None:
    rules = PieceRules(split_digits=True)
    words = Counter({"ab1ab": 4, "ab2cd": 3, "cd1ab": 2, "ab": 1, "1": 5})
    expected = by_reference(words, 9, rules, UnigramOptions())
    got = train_unigram(CharacterWords.of(words), 9, rules=rules, progress=False)
    assert [piece for piece, _ in got] == [piece for piece, _ in expected]


def test_the_order_of_words_makes_no_difference() -> None:
    rng = random.Random(5)
    words = random_words(rng, 3_000, 14)
    shuffled = [*words.items()]
    rng.shuffle(shuffled)
    options = UnigramOptions(500)
    assert train_unigram(
        CharacterWords.of(words), 100, options=options, progress=False
    ) == train_unigram(CharacterWords.of(dict(shuffled)), 100, options=options, progress=False)


def test_long_words_that_differ_only_in_the_middle() -> None:
    words = Counter({"ab" * 5_000 + middle + "ba" * 5_000: 2 for middle in ("c", "d", "cd")})
    one, two = (
        train_unigram(CharacterWords.of(words), 20, threads=n, progress=False) for n in (1, 2)
    )
    assert one == two
    assert {piece for piece, _ in one} >= {"a", "b", "c", "d"}
