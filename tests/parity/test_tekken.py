"""tekken.json against tiktoken, which Mistral's reader uses: the same ranks and pattern.

No published file is at hand, so one is made of cl100k's tokens.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

import toksmith
from tests.kits.bpe import BYTES
from tests.strategies import random_texts
from toksmith import Tokenizer

tiktoken = pytest.importorskip("tiktoken")

SPECIAL = 1000
SIZE = 60_000
PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
Pair = tuple[Tokenizer, Any]


@pytest.fixture(scope="module")
def pair(
    ranks: Callable[[str], dict[bytes, int]], tmp_path_factory: pytest.TempPathFactory
) -> Pair:
    """The file, read by us, and tiktoken's encoding of what is in it."""
    longer = [token for token in ranks("cl100k_base") if len(token) > 1]
    tokens = [*BYTES, *longer]
    held = {
        "config": {
            "pattern": PATTERN,
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": SPECIAL + SIZE,
            "default_num_special_tokens": SPECIAL,
            "version": "v3",
        },
        "vocab": [
            {
                "rank": rank,
                "token_bytes": b64encode(token).decode(),
                "token_str": token.decode(errors="replace"),
            }
            for rank, token in enumerate(tokens)
        ],
    }
    path = tmp_path_factory.mktemp("tekken") / "tekken.json"
    path.write_text(json.dumps(held))
    used = {token: rank for rank, token in enumerate(tokens[:SIZE])}
    theirs = tiktoken.Encoding("x", pat_str=PATTERN, mergeable_ranks=used, special_tokens={})
    return toksmith.load(path), theirs


@pytest.mark.parametrize("name", ["english", "code", "multilingual", "cjk"])
def test_corpus(name: str, pair: Pair, corpus: Callable[..., bytes]) -> None:
    ours, theirs = pair
    for text in corpus(f"{name}.txt", 400_000, start=5_000_003).decode().split("<|endoftext|>"):
        assert ours.encode(text) == [SPECIAL + rank for rank in theirs.encode_ordinary(text)]


def test_random_strings(pair: Pair) -> None:
    ours, theirs = pair
    for text in random_texts(41, 4_000):
        ids = ours.encode(text)
        assert ids == [SPECIAL + rank for rank in theirs.encode_ordinary(text)], repr(text)
        assert ours.decode(ids) == text


def test_special_tokens(pair: Pair) -> None:
    ours, _ = pair
    assert ours.vocab_size == SPECIAL + SIZE
    assert ours.encode("[INST]", special="encode", add_special_tokens=True) == [1, 3]
    assert ours.special_tokens["<SPECIAL_999>"] == 999
