"""The teaching page of byte pair encoding makes the same tokens as the kernel."""

from __future__ import annotations

import random

import pytest

import toksmith
from toksmith.reference import minimal

WORDS = [
    "low",
    "lower",
    "lowest",
    "slow",
    "new",
    "newest",
    "naïve",
    "1,234",
    "it's",
    "日本語",
    "aaaa",
    "\n",
]


@pytest.mark.parametrize("seed", range(60))
def test_merges_and_ids_are_those_of_the_kernel(seed: int) -> None:
    rng = random.Random(seed)
    text = " ".join(rng.choices(WORDS, k=60))
    tok = toksmith.train(texts=[text], vocab_size=256 + rng.randrange(30), split="gpt2")
    merges = minimal.train(text, tok.vocab_size)
    assert list(merges) == list(tok.merges)
    other = "".join(rng.choices([*WORDS, " ", "!"], k=60))
    ids = minimal.encode(other, merges)
    assert ids == tok.encode(other)
    assert minimal.decode(ids, minimal.vocabulary(merges)) == other


def test_training_ends_when_nothing_is_left_to_merge() -> None:
    assert minimal.train("ab ab", 1000) == {(97, 98): 256, (32, 256): 257}


def test_bytes_that_are_no_text() -> None:
    assert minimal.decode([0xE6, 104, 105], minimal.vocabulary({})) == "\N{REPLACEMENT CHARACTER}hi"
