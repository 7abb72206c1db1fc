"""The kernel's merges against the reference's."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import toksmith
from tests import engines, strategies

SPLITS = [None, "gpt2", "gpt4", "o200k", r"\w+|\s+"]
OPTIONS = [
    {},
    {"min_frequency": 3},
    {"max_token_length": 4},
    {"min_frequency": 2, "max_token_length": 3},
]


def check(texts: list[str], vocab_size: int, split: str | None, **options: Any) -> None:
    steps = engines.reference_steps(texts, vocab_size, split, **options)
    for threads in (1, 2):
        model = engines.train("kernel", texts, vocab_size, split, threads=threads, **options).model
        assert [tuple(row) for row in model.merges.tolist()] == [
            (*pair, new) for pair, _, new, _ in steps
        ]
        assert list(model.vocab[256:]) == [token for *_, token in steps]


@pytest.mark.parametrize("ties", ["first-seen", "smallest-pair"])
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_random_texts(ties: str, split: str | None, options: dict[str, int]) -> None:
    check(strategies.random_texts(31, 120), 600, split, ties=ties, **options)


@pytest.mark.parametrize("ties", ["first-seen", "smallest-pair"])
@pytest.mark.parametrize("split", [None, "gpt2"])
def test_few_letters(ties: str, split: str | None) -> None:
    """Runs and ties everywhere."""
    for seed in range(80):
        rng = random.Random(seed)
        alphabet = rng.choice(["a", "ab", "aab ", "abc", "a \n"])
        texts = [
            "".join(rng.choices(alphabet, k=rng.randint(1, 90))) for _ in range(rng.randint(1, 6))
        ]
        options = rng.choice(OPTIONS)
        check(texts, 256 + rng.randint(1, 120), split, ties=ties, **options)


@pytest.mark.parametrize("ties", ["first-seen", "smallest-pair"])
def test_split_corpus(ties: str, corpus: Callable[..., bytes]) -> None:
    for name in ("taylorswift", "multilingual"):
        text = corpus(f"{name}.txt", 150_000).decode()
        check([text], 256 + 1024, "gpt4", ties=ties)


def test_one_chunk(corpus: Callable[..., bytes]) -> None:
    """One chunk of the whole text, as minbpe's BasicTokenizer trains."""
    check([corpus("taylorswift.txt", 24_000).decode()], 256 + 1024, None)
    check([corpus("taylorswift.txt", 80_000).decode()], 256 + 64, None)


def test_one_chunk_smallest_pair(corpus: Callable[..., bytes]) -> None:
    check([corpus("taylorswift.txt", 40_000).decode()], 256 + 300, None, ties="smallest-pair")


def test_counts_of_merges(corpus: Callable[..., bytes]) -> None:
    text = corpus("taylorswift.txt", 60_000).decode()
    steps = engines.reference_steps([text], 512, "gpt4")
    training = toksmith.train(texts=[text], vocab_size=512, split="gpt4").training
    assert training is not None
    assert training.counts.tolist() == [count for _, count, *_ in steps]
