"""Unigram training, by hand."""

from __future__ import annotations

import math
from contextlib import nullcontext

import pytest

from toksmith.errors import OptionError
from toksmith.reference.piece_rules import PieceRules
from toksmith.reference.unigram_training import (
    Arc,
    UnigramOptions,
    arcs,
    best_path,
    digamma,
    expected_counts,
    finish,
    prune,
    reestimate,
    seed_pieces,
    training_steps,
)
from toksmith.trainers.counting.symbol_words import CharacterWords
from toksmith.trainers.unigram import train_unigram

EULER = 0.5772156649015329


@pytest.mark.parametrize(
    ("x", "value"),
    [
        (0.5, -EULER - 2 * math.log(2)),
        (1, -EULER),
        (2, 1 - EULER),
        (7, 1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5 + 1 / 6 - EULER),
        (1e9, math.log(1e9) - 0.5e-9),
    ],
)
def test_digamma(x: float, value: float) -> None:
    assert digamma(x) == pytest.approx(value, abs=1e-10)


def test_seeds_are_characters_and_substrings_by_coverage() -> None:
    # "ab" stands 5 times; "abc" 3 times, as "ab" with c; "bc" 3 times; "abx" and "bx" 2 times.
    seeds = seed_pieces({"abc": 3, "abx": 2}, PieceRules(), 10)
    total = (5 + 5 + 3 + 2) + (10 + 9 + 6 + 6 + 4)
    assert {piece: round(math.exp(score) * total) for piece, score in seeds.items()} == {
        "a": 5,
        "b": 5,
        "c": 3,
        "x": 2,
        "ab": 10,
        "abc": 9,
        "abx": 6,
        "bc": 6,
        "bx": 4,
    }
    assert list(seeds) == ["a", "b", "c", "x", "ab", "abc", "abx", "bc", "bx"]
    assert list(seed_pieces({"abc": 3, "abx": 2}, PieceRules(), 2))[4:] == ["ab", "abc"]


def test_a_substring_that_the_same_character_always_follows_is_no_seed() -> None:
    assert "ab" not in seed_pieces({"abc": 5}, PieceRules(), 10)
    assert "ab" in seed_pieces({"abc": 5, "ab": 1}, PieceRules(), 10)  # a word ends with it
    assert "ab" in seed_pieces({"abc": 5, "abx": 1}, PieceRules(), 10)


def test_a_substring_that_occurs_once_is_no_seed() -> None:
    assert list(seed_pieces({"abc": 1}, PieceRules(), 10)) == ["a", "b", "c"]


def test_seeds_are_valid_pieces() -> None:
    seeds = seed_pieces({"▁ab1": 4, "▁ab": 2}, PieceRules(max_sentencepiece_length=2), 10)
    assert {piece for piece in seeds if len(piece) > 1} == {"ab"}  # "▁a" is always before b


def test_arcs() -> None:
    assert list(arcs("abx", {"a": -1.0, "ab": -1.5, "b": -2.0})) == [
        Arc(0, 1, "a", -1.0),
        Arc(0, 2, "ab", -1.5),
        Arc(1, 2, "b", -2.0),
        Arc(2, 3, "", -12.0),
    ]


def test_expected_counts() -> None:
    # "ab" is [a, b] with probability 0.5 · 0.2, or [ab] with 0.3.
    scores = {piece: math.log(p) for piece, p in {"a": 0.5, "b": 0.2, "ab": 0.3}.items()}
    counts, log_likelihood = expected_counts({"ab": 8, "a": 2}, scores)
    assert counts == pytest.approx({"a": 8 * 0.25 + 2, "b": 8 * 0.25, "ab": 8 * 0.75})
    assert log_likelihood == pytest.approx(8 * math.log(0.4) + 2 * math.log(0.5))


def test_reestimated_scores() -> None:
    assert reestimate({"a": 1.0, "b": 0.4, "c": 2.0}) == pytest.approx(
        {"a": digamma(1) - digamma(3), "c": digamma(2) - digamma(3)}
    )


def test_best_path() -> None:
    found = list(arcs("abc", {"a": -1.0, "ab": -4.0, "b": -2.0, "bc": -2.5, "c": -1.0}))
    assert best_path(found, 3) == ["a", "bc"]
    assert best_path(found[:1], 3) is None


def test_prune_drops_the_pieces_with_the_least_loss() -> None:
    words = {"ab": 100, "cd": 10, "a": 30, "b": 30, "c": 30, "d": 30}
    scores = {**dict.fromkeys("abcd", math.log(0.1)), "ab": math.log(0.4), "cd": math.log(0.2)}
    assert set(prune(words, scores, 5)) == {*"abcd", "ab"}
    assert set(prune(words, scores, 6)) == set(scores)
    assert set(prune(words, scores, 0)) == set("abcd")  # nothing else can write them


def test_prune_drops_pieces_that_are_likelier_as_several() -> None:
    scores = {"a": math.log(0.5), "b": math.log(0.4), "ab": math.log(0.1)}
    assert set(prune({"ab": 10}, scores, 3)) == {"a", "b"}


def test_finish_adds_required_characters() -> None:
    scores = {"ab": -1.0, "a": -3.0, "abc": -2.0}
    assert finish(scores, 4, "xay") == [("ab", -1.0), ("y", -2.9999), ("a", -3.0), ("x", -3.0)]
    assert [piece for piece, _ in finish(scores, 2, "xay")] == ["y", "a", "x"]


def test_rounds_between_prunings_make_the_text_likelier() -> None:
    words = {
        "▁" + "".join(c): 1 + i
        for i, c in enumerate(zip("abcabd", "cdbaca", "aabbcc", strict=True))
    }
    words |= {"▁abcab": 7, "▁abc": 9, "▁cab": 5, "▁cabd": 3}
    # The digamma function takes from rare pieces, so only the first rounds are sure to gain.
    first, second, *_ = training_steps(words, 100, options=UnigramOptions(num_sub_iterations=3))
    assert second.log_likelihood > first.log_likelihood


def test_training_on_words() -> None:
    words = CharacterWords.of({"▁low": 50, "▁lower": 20, "▁newer": 60, "▁wider": 30})
    pieces = train_unigram(words, 12, progress=False)
    assert {piece for piece, _ in pieces} == {*"▁loweridn", "▁low", "▁newer", "▁wider"}
    assert [score for _, score in pieces] == sorted((s for _, s in pieces), reverse=True)
    assert len(train_unigram(words, 1000, progress=False)) < 30
    assert len(train_unigram(words, 2, progress=False)) == 9  # each character is required


def test_required_characters_need_not_occur_in_the_words() -> None:
    words = CharacterWords.of({"▁low": 50})
    assert "z" in dict(train_unigram(words, 6, required="▁lowz", progress=False))


@pytest.mark.parametrize(
    "options",
    [
        UnigramOptions(seed_sentencepiece_size=0),
        UnigramOptions(shrinking_factor=1.0),
        UnigramOptions(shrinking_factor=0.0),
        UnigramOptions(num_sub_iterations=0),
    ],
)
def test_options_out_of_range(options: UnigramOptions) -> None:
    with pytest.raises(OptionError):
        train_unigram(CharacterWords.of({"a": 1}), 3, options=options, progress=False)


def test_no_words() -> None:
    with pytest.raises(OptionError, match="no words"):
        train_unigram(CharacterWords.of({}), 3, progress=False)


def test_an_exception_in_the_callback_stops_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = []

    def report(round_: int, pieces: int, log_likelihood: float) -> None:
        rounds.append((round_, pieces, log_likelihood < 0))
        if round_ == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(
        "toksmith.trainers.unigram.rounds_progress", lambda progress: nullcontext(report)
    )
    words = CharacterWords.of({"▁low": 50, "▁lower": 20, "▁newer": 60, "▁wider": 30})
    options = UnigramOptions(num_sub_iterations=3)
    with pytest.raises(KeyboardInterrupt):
        train_unigram(words, 1000, options=options)
    assert [(round_, negative) for round_, _, negative in rounds] == [(1, True), (2, True)]
