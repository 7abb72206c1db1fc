"""Each metric against cases that were computed by hand."""

from __future__ import annotations

from itertools import pairwise
from math import inf, isnan, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toksmith.errors import OptionError
from toksmith.measure import (
    bytes_per_token,
    characters_per_token,
    common_bytes,
    continuation,
    fertility,
    gini,
    lost_bytes,
    normalized_sequence_length,
    parity,
    renyi_efficiency,
    renyi_entropy,
    single_token_words,
    split_words,
    type_token_ratio,
    unknown_rate,
    vocabulary_use,
)


def test_compression() -> None:
    # "naïve café" is 10 characters, 12 bytes; say 5 tokens.
    assert bytes_per_token(12, 5) == 2.4
    assert characters_per_token(10, 5) == 2.0
    assert normalized_sequence_length(5, 4) == 1.25


def test_words() -> None:
    # "the unhappiest dog" as the|·un|happi|est|·dog: 5 tokens, 3 words of 1, 3 and 1.
    assert fertility(5, 3) == 5 / 3
    assert split_words([1, 3, 1]) == 1 / 3
    assert continuation([1, 3, 1]) == 2 / 5
    assert single_token_words([1, 3, 1]) == 2 / 3
    # A word that became nothing is in no share of words in running text.
    assert split_words([0, 1, 2]) == 0.5
    assert continuation([0, 1, 2]) == 1 / 3
    assert single_token_words([0, 1, 2, 1]) == 0.5


def test_distribution() -> None:
    # Two tokens of four, each half the time: one bit of two.
    assert renyi_entropy([7, 7, 0, 0]) == 1.0
    assert renyi_efficiency([7, 7, 0, 0], vocab_size=4) == 0.5
    # p = 1/2, 1/4, 1/4 and α = 2: Σ p² = 3/8.
    assert renyi_entropy([2, 1, 1], alpha=2) == pytest.approx(log2(8 / 3))
    assert renyi_entropy([2, 1, 1], alpha=1) == 1.5
    assert renyi_entropy([2, 1, 1], alpha=inf) == 1.0
    assert renyi_entropy([2, 1, 1], alpha=0) == pytest.approx(log2(3))
    assert renyi_efficiency([9], vocab_size=4) == 0.0
    assert vocabulary_use(3, 12) == 0.25
    assert type_token_ratio(3, 12) == 0.25
    assert unknown_rate(3, 12) == 0.25
    with pytest.raises(OptionError, match="alpha is -1"):
        renyi_entropy([1], alpha=-1)


def test_fairness() -> None:
    assert parity(300, 200) == 1.5
    # |1−2| + |1−3| + |2−3| = 4, twice; n = 3, μ = 2: 8 / (2 · 9 · 2).
    assert gini([1, 2, 3]) == pytest.approx(8 / 36)
    assert gini([5, 5, 5]) == 0.0
    assert gini([0, 0, 0, 1]) == 0.75
    with pytest.raises(OptionError, match="costs holds -1"):
        gini([1, -1])


def test_round_trip() -> None:
    assert lost_bytes(b"same", b"same") == 0.0
    assert lost_bytes(b"Don't", b"don ' t") == 0.2
    assert lost_bytes("café".encode(), b"cafe") == 0.4
    assert lost_bytes(b"abcd", b"") == 1.0
    assert common_bytes(b"abcbdab", b"bdcaba") == 4
    assert common_bytes(b"xaxbxc", b"abc") == 3


def test_nothing_to_measure() -> None:
    empty = np.zeros(0, np.int64)
    ratios = (
        *(bytes_per_token, characters_per_token, normalized_sequence_length, fertility, parity),
        *(vocabulary_use, type_token_ratio, unknown_rate),
    )
    assert all(isnan(ratio(0, 0)) for ratio in ratios)
    shares = (split_words, continuation, single_token_words, renyi_entropy, gini)
    assert all(isnan(share(empty)) for share in shares)
    assert isnan(lost_bytes(b"", b"x"))
    assert isnan(renyi_efficiency([1], vocab_size=1))
    assert isnan(gini([0, 0]))


@given(st.binary(max_size=12), st.binary(max_size=12))
def test_common_bytes_is_the_longest_common_subsequence(one: bytes, other: bytes) -> None:
    one, other = (bytes(byte % 3 for byte in text) for text in (one, other))
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            longest = max(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else longest
    assert common_bytes(one, other) == table[-1][-1]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30).filter(any))
def test_renyi_entropy_falls_with_its_order(frequencies: list[int]) -> None:
    entropies = [renyi_entropy(frequencies, alpha) for alpha in (0, 0.5, 1, 2, 2.5, 10, inf)]
    assert all(a >= b - 1e-9 for a, b in pairwise(entropies))
    assert entropies[-1] >= 0
    assert entropies[0] == pytest.approx(log2(np.count_nonzero(frequencies)))


@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=20), st.floats(0.5, 4))
def test_gini_knows_no_unit(costs: list[float], factor: float) -> None:
    assert gini([cost * factor for cost in costs]) == pytest.approx(gini(costs))
    assert 0 <= gini(costs) <= 1 - 1 / len(costs) + 1e-9
