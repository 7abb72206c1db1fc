"""n-best segmentations and samples: probabilities against enumeration on short texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.kits.pieces import Piece, model_of
from tests.kits.pipelines import MODELS
from toksmith import Tokenizer
from toksmith.errors import OptionError, UnsupportedError
from toksmith.framing import AddedToken, Framing
from toksmith.models import BPE, CharacterBPE, PieceType, SentencePieceBPE, Unigram
from toksmith.pipeline import Pipeline
from toksmith.reference import (
    bpe,
    character_bpe,
    sentencepiece_bpe,
    unigram,
    unigram_sampling,
)
from toksmith.reference.distinct_samples import distinct_samples, log_inclusion
from toksmith.splitters import PatternSplitter

UNK = Piece("<unk>", 0, PieceType.UNKNOWN)
SCORES = {"a": -1.5, "b": -2.0, "ab": -2.5, "ba": -3.0, "aa": -2.25, "aba": -4.0, "bb": -3.75}
MODEL = model_of(Unigram, [UNK, *(Piece(text, score) for text, score in SCORES.items())])
IDS = {text: number for number, text in enumerate(SCORES, 1)}
TOKENIZER = Tokenizer(Pipeline(MODEL))
DRAWS = 4000


def segmentations(text: str) -> Iterator[list[str]]:
    """Yield every way to put a text together from pieces."""
    if not text:
        yield []
    for size in range(1, len(text) + 1):
        if text[:size] in SCORES:
            yield from ([text[:size], *rest] for rest in segmentations(text[size:]))


def score(pieces: list[str]) -> float:
    return sum(SCORES[piece] for piece in pieces)


def ids(pieces: list[str]) -> tuple[int, ...]:
    return tuple(IDS[piece] for piece in pieces)


def assert_drawn(drawn: Counter[tuple[int, ...]], probabilities: dict[tuple[int, ...], float]):
    """Pearson's test: what was drawn does not differ from the probabilities by more than chance."""
    assert math.isclose(sum(probabilities.values()), 1)
    assert drawn.keys() <= probabilities.keys()
    total = sum(drawn.values())
    expected = {way: total * p for way, p in probabilities.items()}
    frequent = [way for way, count in expected.items() if count >= 5]
    rest = total - sum(drawn[way] for way in frequent)
    expected_rest = total - sum(expected[way] for way in frequent)
    chi2 = sum((drawn[way] - expected[way]) ** 2 / expected[way] for way in frequent)
    if expected_rest >= 1:
        chi2 += (rest - expected_rest) ** 2 / expected_rest
    freedom = max(len(frequent) - 1, 1)
    assert chi2 < freedom + 4 * math.sqrt(2 * freedom) + 4, (chi2, freedom)


def draw(run: Callable[[Random], list[int]], seed: int) -> Counter[tuple[int, ...]]:
    rng = Random(seed)
    return Counter(tuple(run(rng)) for _ in range(DRAWS))


class TestNBest:
    @pytest.mark.parametrize("text", ["a", "ab", "abab", "aabbaba"])
    def test_all_segmentations_in_order(self, text: str) -> None:
        expected = sorted(segmentations(text), key=score, reverse=True)
        found = TOKENIZER.nbest(text, 1000)
        assert len(found) == len(expected)
        assert {tuple(way) for way, _ in found} == {ids(way) for way in expected}
        assert [total for _, total in found] == pytest.approx([score(way) for way in expected])
        for size in (1, 2, 7):
            assert TOKENIZER.nbest(text, size) == found[:size]
        assert found[0][0] == TOKENIZER.encode(text)

    def test_of_a_text_in_chunks(self) -> None:
        # Every chunk has its own ways; the best of all their combinations are wanted.
        tokenizer = Tokenizer(Pipeline(MODEL, PatternSplitter(r"\S+", gaps="drop")))
        found = tokenizer.nbest("ab ba aab", 1000)
        words = [list(segmentations(word)) for word in ("ab", "ba", "aab")]
        ways = [one + two + three for one in words[0] for two in words[1] for three in words[2]]
        assert sorted(total for _, total in found) == pytest.approx(sorted(map(score, ways)))
        assert {tuple(way) for way, _ in found} == {ids(way) for way in ways}
        assert tokenizer.nbest("ab ba aab", 3) == found[:3]

    def test_around_added_tokens(self) -> None:
        framing = Framing((AddedToken("<x>", 50, special=True),))
        tokenizer = Tokenizer(Pipeline(MODEL, framing=framing))
        found = tokenizer.nbest("ab<x>b", 2, special="encode")
        assert found == [([IDS["ab"], 50, IDS["b"]], -4.5), ([1, 2, 50, 2], -5.5)]

    def test_nothing(self) -> None:
        assert TOKENIZER.nbest("", 5) == [([], 0.0)]

    def test_unknown_characters(self) -> None:
        assert TOKENIZER.nbest("axyb", 3) == [([1, 0, 2], pytest.approx(-3.5 - 2 * 14.0))]

    @pytest.mark.parametrize("name", sorted(MODELS.keys() - {"unigram"}))
    def test_other_models_have_none(self, name: str) -> None:
        with pytest.raises(UnsupportedError, match="does not score segmentations"):
            Tokenizer(MODELS[name]).nbest("low", 2)

    @pytest.mark.parametrize("size", [0, -1, 1025, 1.5, "2"])
    def test_sizes(self, size: int) -> None:
        with pytest.raises(OptionError):
            TOKENIZER.nbest("ab", size)


class TestUnigramSampling:
    @pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0, 2.5])
    def test_probabilities(self, alpha: float) -> None:
        lattice = unigram.Lattice(MODEL)
        weights = {ids(way): math.exp(alpha * score(way)) for way in segmentations("aabbaba")}
        total = sum(weights.values())
        drawn = draw(
            lambda rng: [t.id for t in unigram_sampling.sample(lattice, b"aabbaba", alpha, rng)],
            seed=1,
        )
        assert_drawn(drawn, {way: weight / total for way, weight in weights.items()})

    def test_of_the_best(self) -> None:
        best = TOKENIZER.nbest("abab", 4)
        weights = {tuple(way): math.exp(0.7 * total) for way, total in best}
        total = sum(weights.values())
        drawn = Counter(
            tuple(TOKENIZER.sample("abab", seed=seed, alpha=0.7, nbest_size=4))
            for seed in range(1000)
        )
        assert_drawn(drawn, {way: weight / total for way, weight in weights.items()})

    def test_through_the_tokenizer(self) -> None:
        weights = {ids(way): math.exp(0.5 * score(way)) for way in segmentations("aab")}
        total = sum(weights.values())
        drawn = Counter(
            tuple(TOKENIZER.sample("aab", seed=seed, alpha=0.5)) for seed in range(1000)
        )
        assert_drawn(drawn, {way: weight / total for way, weight in weights.items()})

    def test_extremes(self) -> None:
        for text in ("abb", "aa", "axyb" * 20, ""):  # each with one best segmentation
            best = TOKENIZER.encode(text)
            assert TOKENIZER.sample(text, seed=1, nbest_size=1) == best
            assert TOKENIZER.sample(text, seed=1, alpha=1000) == best
            assert TOKENIZER.sample(text, seed=7) == TOKENIZER.sample(text, seed=7)
        assert len({tuple(TOKENIZER.sample("ab" * 99)) for _ in range(5)}) > 1, "without a seed"


def with_dropout(
    merges: dict[tuple[str, str], int], symbols: tuple[str, ...], dropout: float
) -> dict[tuple[str, ...], float]:
    """Return the probability of each outcome where at each step each pair may be left out."""
    pairs = [(merges[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in merges]
    outcomes = Counter({symbols: dropout ** len(pairs)})
    for number, (_, i) in enumerate(sorted(pairs)):
        joined = (*symbols[:i], symbols[i] + symbols[i + 1], *symbols[i + 2 :])
        chance = dropout**number * (1 - dropout)
        for outcome, more in with_dropout(merges, joined, dropout).items():
            outcomes[outcome] += chance * more
    return outcomes


RULES = {("a", "b"): 0, ("b", "a"): 1, ("ab", "a"): 2, ("a", "a"): 3, ("ab", "ab"): 4}


class TestDropout:
    @pytest.mark.parametrize("dropout", [0.0, 0.1, 0.5, 1.0])
    def test_bytes(self, dropout: float) -> None:
        vocab = {bytes([byte]).decode("latin-1"): byte for byte in range(256)}
        for left, right in RULES:
            vocab[left + right] = len(vocab)
        rows = [[vocab[left], vocab[right], vocab[left + right]] for left, right in RULES]
        model = BPE(tuple(token.encode("latin-1") for token in vocab), rows, whole_chunk_first=True)
        table = bpe.merge_table(model)
        drawn = draw(lambda rng: bpe.sample_chunk(model, table, b"abaab", dropout, rng), seed=2)
        expected = with_dropout(RULES, tuple("abaab"), dropout)
        assert_drawn(drawn, {tuple(vocab[s] for s in way): p for way, p in expected.items() if p})

    @pytest.mark.parametrize("dropout", [0.1, 0.5])
    def test_characters(self, dropout: float) -> None:
        vocab = {token: i for i, token in enumerate(["<unk>", "a", "b"])}
        for left, right in RULES:
            vocab[left + right] = len(vocab)
        rows = np.array([[vocab[l], vocab[r], vocab[l + r]] for l, r in RULES], np.uint32)  # noqa: E741
        model = CharacterBPE(tuple(token.encode() for token in vocab), rows, unk_id=0)
        table = bpe.merge_table(model)

        def run(rng: Random) -> list[int]:
            tokens = character_bpe.encode_chunk(model, table, b"abaab", dropout, rng)
            return [token.id for token in tokens]

        expected = with_dropout(RULES, tuple("abaab"), dropout)
        assert_drawn(
            draw(run, seed=3), {tuple(vocab[s] for s in way): p for way, p in expected.items()}
        )

    @pytest.mark.parametrize("dropout", [0.1, 0.5])
    def test_sentencepiece_gives_each_pair_one_chance(self, dropout: float) -> None:
        model = model_of(
            SentencePieceBPE,
            [UNK, Piece("a", -9), Piece("b", -9), Piece("ab", -1), Piece("aba", -2)],
        )
        merger = sentencepiece_bpe.Merger(model)
        drawn = draw(lambda rng: [t.id for t in merger.encode(b"aba", dropout, rng)], seed=4)
        a, b, ab, aba = range(1, 5)
        keep = 1 - dropout
        assert_drawn(
            drawn,
            {(a, b, a): dropout, (ab, a): keep * dropout, (aba,): keep**2},
        )

    def test_through_the_tokenizer(self) -> None:
        text = "lower low lower"
        tokenizers = {
            "bpe": toksmith.train(texts=[text], vocab_size=260),
            "character-bpe": Tokenizer(MODELS["character-bpe"]),
            "sentencepiece-bpe": Tokenizer(MODELS["sentencepiece-bpe"]),
        }
        for name, tokenizer in tokenizers.items():
            assert tokenizer.sample(text, dropout=0) == tokenizer.encode(text), name
            drawn = [tokenizer.sample(text, seed=seed, dropout=0.5) for seed in range(8)]
            assert len({tuple(way) for way in drawn}) > 1, name
            assert all(tokenizer.decode(way) == tokenizer.decode(drawn[0]) for way in drawn), name
            assert drawn[3] == tokenizer.sample(text, seed=3, dropout=0.5), name


class TestArguments:
    @pytest.mark.parametrize("name", ["wordpiece", "word", "longest-match"])
    def test_models_with_one_segmentation(self, name: str) -> None:
        with pytest.raises(UnsupportedError, match="sampling needs"):
            Tokenizer(MODELS[name]).sample("low", dropout=0.1)

    @pytest.mark.parametrize(
        ("model", "options", "message"),
        [
            ("unigram", {"dropout": 0.1}, "dropout is for BPE"),
            ("unigram", {"alpha": -1}, "alpha is -1.0: use 0 or more"),
            ("unigram", {"alpha": float("nan")}, "alpha is nan"),
            ("unigram", {"alpha": "x"}, "alpha is 'x': use a number"),
            ("unigram", {"nbest_size": 2000}, "2000 segmentations are too many"),
            ("unigram", {"nbest_size": "2"}, "nbest_size is '2'"),
            ("unigram", {"seed": "2"}, "seed is '2'"),
            ("bpe", {}, "dropout is missing"),
            ("bpe", {"dropout": 1.5}, "dropout is 1.5"),
            ("bpe", {"dropout": 0.1, "alpha": 1}, "alpha is for Unigram"),
            ("sentencepiece-bpe", {"dropout": 0.1, "nbest_size": 2}, "nbest_size is for Unigram"),
        ],
    )
    def test_wrong_ones(self, model: str, options: dict[str, object], message: str) -> None:
        with pytest.raises(OptionError, match=message):
            Tokenizer(MODELS[model]).sample("low", **options)

    def test_template(self) -> None:
        tokenizer = toksmith.train(texts=["abab"], vocab_size=257)
        assert tokenizer.sample("ab", dropout=0, add_special_tokens=True) == [256]


class TestSamples:
    def test_scores_are_log_probabilities(self) -> None:
        chances = probabilities_of("aabba", 0.5)
        found = TOKENIZER.samples("aabba", 300, alpha=0.5, seed=1)
        assert len(found) == 300
        for way, total in found:
            assert total == pytest.approx(math.log(chances[tuple(way)]))
        counted = Counter(tuple(way) for way, _ in TOKENIZER.samples("aabba", DRAWS, seed=2))
        assert_drawn(counted, probabilities_of("aabba", 1.0))
        assert TOKENIZER.samples("aabba", 300, alpha=0.5, seed=1) == found
        assert TOKENIZER.samples("", 2, seed=1) == [([], 0.0)] * 2

    def test_distinct(self) -> None:
        found = TOKENIZER.samples("aabba", 4, distinct=True, seed=3)
        assert len({tuple(way) for way, _ in found}) == 4
        assert all(total < 0 for _, total in found)
        best, *others = TOKENIZER.samples("aabba", 4, distinct=True, include_best=True, seed=3)
        assert best == (TOKENIZER.encode("aabba"), 0.0)
        assert len({tuple(way) for way, _ in others} | {tuple(best[0])}) == 4
        chances = probabilities_of("aabba", 1.0)
        every = TOKENIZER.samples("aabba", 1000, distinct=True, seed=1)
        assert {tuple(way) for way, _ in every} == chances.keys()
        assert {total for _, total in every} == {0.0}

    def test_of_a_text_in_chunks_and_around_added_tokens(self) -> None:
        framing = Framing((AddedToken("<x>", 50, special=True),), prefix=(7,))
        pipeline = Pipeline(MODEL, PatternSplitter(r"\S+", gaps="drop"), framing=framing)
        tokenizer = Tokenizer(pipeline)
        words = [probabilities_of(word, 0.7) for word in ("ab", "ba")]
        expected = {
            (7, *one, 50, *two): math.log(p * q)
            for one, p in words[0].items()
            for two, q in words[1].items()
        }
        found = tokenizer.samples(
            "ab <x> ba", 40, alpha=0.7, seed=1, special="encode", add_special_tokens=True
        )
        for way, total in found:
            assert total == pytest.approx(expected[tuple(way)])
        assert len({tuple(way) for way, _ in found}) > 2
        entropy = -sum(math.exp(each) * each for each in expected.values())
        assert tokenizer.segmentation_entropy(
            "ab <x> ba", alpha=0.7, special="encode"
        ) == pytest.approx(entropy)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"include_best": True}, "include_best is set, but distinct is not"),
            ({"distinct": "no"}, "distinct is 'no'"),
            ({"alpha": -1}, "alpha is -1"),
            ({"seed": "x"}, "seed is 'x'"),
        ],
    )
    def test_wrong_ones(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(OptionError, match=message):
            TOKENIZER.samples("ab", 2, **options)
        with pytest.raises(OptionError, match="count is 0"):
            TOKENIZER.samples("ab", 0)
        with pytest.raises(OptionError, match="alpha is nan"):
            TOKENIZER.segmentation_entropy("ab", alpha=float("nan"))

    def test_other_models_have_none(self) -> None:
        bpe = toksmith.train(texts=["abab"], vocab_size=257)
        for call in (lambda: bpe.samples("ab", 2), lambda: bpe.segmentation_entropy("ab")):
            with pytest.raises(UnsupportedError, match="BPE does not score segmentations"):
                call()


def edges_of(text: str) -> unigram_sampling.EdgesTo:
    return unigram_sampling.incoming(unigram.Lattice(MODEL), text.encode())


def probabilities_of(text: str, alpha: float) -> dict[tuple[int, ...], float]:
    """Return the probability of each segmentation of a text, by enumeration."""
    weights = {ids(way): math.exp(alpha * score(way)) for way in segmentations(text)}
    total = sum(weights.values())
    return {way: weight / total for way, weight in weights.items()}


def path_ids(edges: Sequence[unigram.Edge]) -> tuple[int, ...]:
    return tuple(edge.id for edge in edges if edge.id is not None)


class TestEntropy:
    @pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0, 4.0])
    @pytest.mark.parametrize("text", ["", "a", "abab", "aabbabab"])
    def test_against_enumeration(self, text: str, alpha: float) -> None:
        chances = probabilities_of(text, alpha).values()
        expected = -sum(chance * math.log(chance) for chance in chances)
        assert unigram_sampling.entropy(edges_of(text), alpha) == pytest.approx(expected)

    def test_scores_of_samples_are_log_probabilities(self) -> None:
        edges = edges_of("aabba")
        total = unigram_sampling.forward(edges, 0.5)
        chances = probabilities_of("aabba", 0.5)
        for seed in range(40):
            path, found = unigram_sampling.sample_path(edges, total, 0.5, Random(seed))
            assert found == pytest.approx(math.log(chances[path_ids(path)]))


class TestDistinctSamples:
    def test_the_first_is_a_sample_of_the_distribution(self) -> None:
        edges, rng = edges_of("aabba"), Random(1)
        drawn = Counter(
            path_ids(distinct_samples(edges, 1, 0.7, rng)[0].edges) for _ in range(DRAWS)
        )
        assert_drawn(drawn, probabilities_of("aabba", 0.7))

    def test_pairs_are_drawn_without_replacement(self) -> None:
        chances = probabilities_of("abab", 1.0)
        expected = {
            (*first, 0, *second): chances[first] * chances[second] / (1 - chances[first])
            for first in chances
            for second in chances
            if first != second
        }
        edges, rng = edges_of("abab"), Random(2)
        drawn: Counter[tuple[int, ...]] = Counter()
        for _ in range(DRAWS):
            first, second = distinct_samples(edges, 2, 1.0, rng)
            assert first.number >= second.number
            drawn[(*path_ids(first.edges), 0, *path_ids(second.edges))] += 1
        assert_drawn(drawn, expected)

    def test_all_ways_are_found_and_differ(self) -> None:
        found = distinct_samples(edges_of("aabba"), 100, 1.0, Random(3))
        chances = probabilities_of("aabba", 1.0)
        assert sorted(path_ids(each.edges) for each in found) == sorted(chances)
        for each in found:
            chance = chances[path_ids(each.edges)]
            assert each.log_probability == pytest.approx(math.log(chance))

    def test_inclusion_makes_estimates_unbiased(self) -> None:
        """The Horvitz-Thompson estimate of the sum of all probabilities is 1 on average."""
        edges, rng, total = edges_of("abab"), Random(4), 0.0
        for _ in range(DRAWS):
            *kept, left_out = distinct_samples(edges, 3, 1.0, rng)
            for each in kept:
                chance = log_inclusion(each.log_probability, left_out.number)
                total += math.exp(each.log_probability - chance)
        assert total / DRAWS == pytest.approx(1, abs=0.03)
