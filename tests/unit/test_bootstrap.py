"""Bootstrap intervals: against a plain computation with the same draws, and their coverage."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith.errors import OptionError
from toksmith.measure import METRICS
from toksmith.measure.bootstrap import (
    RESAMPLES,
    percentile_interval,
    resampled_sums,
)
from toksmith.tokenizer import Tokenizer

WORDS = ["low", "lower", "lowest", "wide,", "naïve", "Я", "x1"]


@pytest.fixture(scope="module")
def low() -> Tokenizer:
    return toksmith.train(texts=["low lower lowest"], vocab_size=259)


@pytest.fixture(scope="module")
def pieces() -> Tokenizer:
    texts = ["low lower lowest"] * 9
    return toksmith.train(texts=texts, model="wordpiece", vocab_size=25)


def documents(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(1, 9))) for _ in range(count)]


def draws(seed: list[int], rows: int) -> list[list[int]]:
    """What is drawn, as NumPy's documentation has it: PCG64 of a SeedSequence, modulo the rows."""
    numbers = np.random.PCG64(np.random.SeedSequence(seed))
    return [[int(number) % rows for number in numbers.random_raw(rows)] for _ in range(RESAMPLES)]


def between(values: list[float], level: float) -> tuple[float, float]:
    """The percentiles by linear interpolation, in plain Python."""
    ordered = sorted(values)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        first = int(place)
        last = min(first + 1, len(ordered) - 1)
        return ordered[first] + (ordered[last] - ordered[first]) * (place - first)

    return at((1 - level) / 2), at((1 + level) / 2)


def test_one_text_by_hand(low: Tokenizer, pieces: Tokenizer) -> None:
    texts = documents(40, seed=1)
    named = {"low": low, "pieces": pieces}
    found = toksmith.compare(named, texts=texts, intervals=0.9, seed=7, speed=False)
    drawn = draws([7, 0], len(texts))
    mine = found["pieces"].intervals

    def expected(above: list[float], below: list[float]) -> Any:
        values = [sum(above[i] for i in each) / sum(below[i] for i in each) for each in drawn]
        return pytest.approx(between(values, 0.9), rel=1e-12)

    size = [len(text.encode()) for text in texts]
    tokens, theirs = [[len(tok.encode(text)) for text in texts] for tok in (pieces, low)]
    assert mine["bytes_per_token"] == expected(size, tokens)
    assert mine["characters_per_token"] == expected(list(map(len, texts)), tokens)
    assert mine["normalized_sequence_length"] == expected(tokens, theirs)
    unk = pieces.token_id("[UNK]")
    assert mine["unknown_rate"] == expected([pieces.encode(t).count(unk) for t in texts], tokens)
    changed = [pieces.decode(pieces.encode(text)) != text for text in texts]
    assert 0 < sum(changed) < len(texts)
    assert mine["changed"] == expected(changed, [1] * len(texts))
    lost = [toksmith.measure.lost_bytes(t.encode(), pieces.decode_bytes(pieces.encode(t))) * n
            for t, n in zip(texts, size, strict=True)]  # fmt: skip
    assert mine["lost_bytes"] == expected(lost, size)
    assert found["low"].intervals["normalized_sequence_length"] == (1.0, 1.0)
    assert found["low"].intervals["changed"] == (0.0, 0.0)


def test_words_by_hand(low: Tokenizer) -> None:
    pytest.importorskip("icu4py")
    texts = [" ".join(random.Random(i).choices(WORDS[:3], k=1 + i % 4)) for i in range(30)]
    found = toksmith.compare({"low": low}, texts=texts, intervals=0.95, speed=False)
    words = [text.split() for text in texts]
    # low is one token, lower and lowest start with it: ␣ is a token of its own.
    parts = [[len(low.encode(word)) for word in line] for line in words]
    drawn = draws([0, 0], len(texts))

    def expected(above: list[float], below: list[float]) -> Any:
        values = [sum(above[i] for i in each) / sum(below[i] for i in each) for each in drawn]
        return pytest.approx(between(values, 0.95), rel=1e-12)

    mine, count = found["low"].intervals, [len(line) for line in words]
    touching = [sum(line) for line in parts]
    assert mine["fertility"] == expected([low.count(text) for text in texts], count)
    assert mine["split_words"] == expected([sum(n > 1 for n in line) for line in parts], count)
    rest = [sum(n - 1 for n in line) for line in parts]
    assert mine["continuation"] == expected(rest, touching)


def test_all_texts_together_by_hand(low: Tokenizer) -> None:
    """Texts are drawn apart from each other; measures of whole texts weigh them by their bytes."""
    texts = {"a": documents(25, seed=2), "b": ["wide"] * 3 + documents(9, seed=3)}
    found = toksmith.compare({"low": low}, texts=texts, intervals=0.8, seed=5, speed=False)
    ratios, changed = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
    total = sum(text.bytes for text in found.texts)
    for place, lines in enumerate(texts.values()):
        size = [len(line.encode()) for line in lines]
        tokens = [low.count(line) for line in lines]
        for number, each in enumerate(draws([5, place], len(lines))):
            per_byte = sum(tokens[i] for i in each) / sum(size[i] for i in each)
            ratios[number] += sum(size) * per_byte
            changed[number] += len(lines)
    values = (total / ratios).tolist()
    assert found["low"].intervals["bytes_per_token"] == pytest.approx(between(values, 0.8))
    assert found["low"].intervals["changed"] == (0.0, 0.0)


def test_intervals_are_where_they_can_be(low: Tokenizer) -> None:
    found = toksmith.compare({"low": low}, texts=documents(9, 1), intervals=0.95)
    assert set(found["low"].intervals) <= {
        name for name, metric in METRICS.items() if metric.interval
    }
    assert {"bytes_per_token", "changed"} <= found["low"].intervals.keys()
    assert found.level == 0.95
    # One passage says nothing of the spread; without intervals= there are none.
    one = toksmith.compare({"low": low}, texts="low lower", intervals=0.95, speed=False)
    assert one["low"].intervals == {}
    assert "No intervals: the sample of a text is a single passage" in str(one)
    assert "No intervals: " in one.to_html()
    some = toksmith.compare({"low": low}, texts=documents(9, 1), speed=False)
    assert (some["low"].intervals, some.level) == ({}, None)
    empty = toksmith.compare({"low": low}, texts=["", ""], intervals=0.95, speed=False)
    assert empty["low"].intervals == {}


def test_the_seed_decides(low: Tokenizer) -> None:
    def ends(seed: int) -> Any:
        given: dict[str, Any] = {"texts": documents(50, 4), "speed": False, "seed": seed}
        return toksmith.compare({"low": low}, intervals=0.95, **given)["low"].intervals

    assert ends(3) == ends(3)
    assert ends(3) != ends(4)


def test_coverage() -> None:
    """Of 200 samples of a known distribution, about 95 % have the true ratio in their interval."""
    rng = np.random.Generator(np.random.PCG64(1))
    covered = narrow = 0
    for trial in range(200):
        words = rng.integers(5, 40, 80)
        tokens = rng.binomial(words * 4, 0.4)  # 1.6 tokens a word
        sums = resampled_sums(np.stack([tokens, words], 1), [trial], 400)
        ratio = sums[:, 0] / sums[:, 1]
        found = [percentile_interval(ratio, level) for level in (0.95, 0.5)]
        assert found[0] is not None
        assert found[1] is not None
        covered += found[0][0] <= 1.6 <= found[0][1]
        narrow += found[1][0] <= 1.6 <= found[1][1]
        assert found[0][0] <= found[1][0] <= found[1][1] <= found[0][1]
    assert 180 <= covered <= 199
    assert 80 <= narrow <= 120


def test_more_text_makes_intervals_narrower(low: Tokenizer) -> None:
    widths = []
    for count in (30, 3000):
        found = toksmith.compare({"low": low}, texts=documents(count, 6), intervals=0.95)
        one, other = found["low"].intervals["bytes_per_token"]
        assert one < found["low"].bytes_per_token < other
        widths.append(other - one)
    # A hundredfold sample has a tenth of the width.
    assert 7 < widths[0] / widths[1] < 14


@pytest.mark.parametrize("level", [0, 1, -1, 95, "0.95", True, float("nan")])
def test_levels_that_cannot_be(low: Tokenizer, level: Any) -> None:
    with pytest.raises(OptionError, match=r"use a number between 0 and 1, such as 0\.95"):
        toksmith.compare({"low": low}, texts="low", intervals=level)
