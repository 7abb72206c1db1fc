"""Vocabularies that no training makes, of any strings in any order, against tiktoken."""

from __future__ import annotations

import random

import pytest

from tests import engines
from tests.kits.bpe import BYTES
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.reference.bpe import recover_merges


@pytest.mark.parametrize("engine", engines.ENGINES)
def test_recovered_merges_encode_as_tiktoken(engine: str) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    rng = random.Random(12)
    for _ in range(60):
        words = {"".join(rng.choices("abc", k=rng.randint(2, 7))).encode() for _ in range(40)}
        vocab = (*BYTES, *rng.sample(sorted(words), len(words)))
        model = BPE(vocab, recover_merges(vocab), whole_chunk_first=True)
        encoder = engines.encoder(engine, Pipeline(model))
        theirs = tiktoken.Encoding(
            "odd",
            pat_str=r"(?s).+",
            mergeable_ranks={token: rank for rank, token in enumerate(vocab)},
            special_tokens={},
        )
        for _ in range(50):
            text = "".join(rng.choices("abc", k=rng.randint(1, 30)))
            assert encoder.encode_list(text, 1) == theirs.encode_ordinary(text), text
