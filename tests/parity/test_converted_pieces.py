"""SentencePiece models written as tokenizer.json: `tokenizers` makes the same tokens."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.strategies import random_texts
from toksmith import Tokenizer
from toksmith.engine import compile as compile_pipeline
from toksmith.engine.fused import FusedEncoder
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


REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
PREPEND = {"type": "Prepend", "prepend": "\u2581"}
METASPACE = {"type": "Metaspace", "replacement": "\u2581", "split": False}
SPELLINGS = {
    "legacy": ({"type": "Sequence", "normalizers": [PREPEND, REPLACE]}, None),
    "replaced first": ({"type": "Sequence", "normalizers": [REPLACE, PREPEND]}, None),
    "without a mark": (REPLACE, None),
    **{
        scheme: (None, METASPACE | {"prepend_scheme": scheme})
        for scheme in ("first", "always", "never")
    },
}


@pytest.fixture(scope="module")
def llama(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Llama 2 as tokenizer.json; with every pair that makes a piece, as transformers writes it."""
    pipeline = toksmith.load(shared / "data/vocab/llama2.model").pipeline
    path = tmp_path_factory.mktemp("llama") / "tokenizer.json"
    Tokenizer(pipeline).save(path)
    held: dict[str, Any] = json.loads(path.read_text())
    vocab = held["model"]["vocab"]
    held["model"]["merges"] = [
        [piece[:place], piece[place:]]
        for piece in vocab  # by id, and so by score
        for place in range(1, len(piece))
        if piece[:place] in vocab and piece[place:] in vocab
    ]
    return held


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_of_llama_run_in_the_kernel(
    spelling: str, llama: dict[str, Any], tmp_path: Path, corpus: Callable[..., bytes]
) -> None:
    normalizer, pre_tokenizer = SPELLINGS[spelling]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(llama | {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer}))
    ours = toksmith.load(path)
    assert isinstance(compile_pipeline(ours.pipeline), FusedEncoder)
    names = ("english", "code", "multilingual", "cjk")
    texts = [corpus(f"{name}.txt", 50_000, start=1_000_003).decode() for name in names]
    special = ["", " ", "  a", "<s>a b</s> c", "\u2581", "a\u2581 b"]
    check(
        (ours, tokenizers.Tokenizer.from_file(str(path))),
        [*texts, *special, *random_texts(62, 300)],
    )
