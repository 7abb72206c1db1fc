"""SentencePiece models written as tokenizer.json: `tokenizers` makes the same tokens."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.strategies import random_texts
from toksmith import Tokenizer
from toksmith.models import Unigram
from toksmith.normalizers import SentencePieceNormalizer

tokenizers = pytest.importorskip("tokenizers")

NAMES = ("llama2", "spm_toy400_bpe", "english8k_unigram", "spm_test_unigram")


@pytest.fixture(scope="module", params=NAMES)
def pair(
    request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Tokenizer, Any]:
    """A model without its map of characters, and tokenizers' reading of what we write of it."""
    pipeline = toksmith.load(shared / f"data/vocab/{request.param}.model").pipeline
    steps = tuple(
        replace(step, charsmap=b"") if isinstance(step, SentencePieceNormalizer) else step
        for step in pipeline.normalizer
    )
    ours = Tokenizer(replace(pipeline, normalizer=steps))
    path = tmp_path_factory.mktemp("converted") / "tokenizer.json"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "in a tokenizer.json, every piece of a Unigram")
        ours.save(path)
    return ours, tokenizers.Tokenizer.from_file(str(path))


def check(pair: tuple[Tokenizer, Any], texts: list[str]) -> None:
    ours, theirs = pair
    found = ours.encode_batch(texts, special="encode").to_lists()
    expected = theirs.encode_batch(texts, add_special_tokens=False)
    for text, ids, other in zip(texts, found, expected, strict=True):
        if ids != other.ids:
            assert isinstance(ours.pipeline.model, Unigram), repr(text)
            # SentencePiece sums up in float32: in a long text it takes a way that is as good but
            # for the last digits of the sum.
            total = score(ours, ids)
            assert 0 <= score(ours, other.ids) - total < abs(total) * 2**-22, repr(text)


def score(tokenizer: Tokenizer, ids: list[int]) -> float:
    """Return the sum of scores; the unknown ones are as many in all ways."""
    assert isinstance(tokenizer.pipeline.model, Unigram)
    return float(tokenizer.pipeline.model.scores[ids].sum())


@pytest.mark.parametrize("name", ["english", "code", "multilingual", "cjk"])
def test_corpus(name: str, pair: tuple[Tokenizer, Any], corpus: Callable[..., bytes]) -> None:
    data = corpus(f"{name}.txt", 150_000, start=6_000_003).decode()
    check(pair, data.split("<|endoftext|>"))


def test_random_strings(pair: tuple[Tokenizer, Any]) -> None:
    check(pair, random_texts(61, 1500))
