"""The same ids as tiktoken: on 4 MB of each corpus, and on 40,000 strings made to be hard."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.strategies import random_texts
from toksmith import Tokenizer
from toksmith.errors import SpecialTokenError

NAMES = ("gpt2", "cl100k_base", "o200k_base")
CORPORA = ("english.txt", "code.txt", "multilingual.txt", "cjk.txt")
STRINGS = 40_000
AT_ONCE = 20_000

Build = Callable[[str], Any]


@pytest.mark.parametrize("corpus_name", CORPORA)
@pytest.mark.parametrize("name", NAMES)
def test_corpus(
    name: str,
    corpus_name: str,
    ours: Callable[[str], Tokenizer],
    tiktoken_encoding: Build,
    corpus: Callable[..., bytes],
) -> None:
    data = corpus(corpus_name, 4_000_000)
    expected = tiktoken_encoding(name).encode_to_numpy(data.decode(), disallowed_special=())
    assert_equal_ids(ours(name).encode_array(data, threads=2), expected, ours(name))


@pytest.mark.parametrize("name", NAMES)
def test_random_strings(
    name: str, ours: Callable[[str], Tokenizer], tiktoken_encoding: Build
) -> None:
    tokenizer, theirs = ours(name), tiktoken_encoding(name)
    seen = 0
    for seed in range(STRINGS // AT_ONCE):
        texts = random_texts(seed, AT_ONCE, surrogates=True)
        batch = tokenizer.encode_batch(texts, threads=1 + seed % 2)
        expected = [theirs.encode_ordinary(text) for text in texts]
        if batch.to_lists() != expected:
            found = [list(map(int, ids)) for ids in batch]
            wrong = [t for t, a, b in zip(texts, found, expected, strict=True) if a != b]
            shortest = min(wrong, key=len)
            assert tokenizer.encode(shortest) == theirs.encode_ordinary(shortest), repr(shortest)
            pytest.fail(f"{len(wrong)} texts differ in a batch, but not alone: {shortest!r}")
        seen += len(texts)
    assert seen == STRINGS


@pytest.mark.parametrize("name", NAMES)
def test_each_call_gives_the_same(
    name: str, ours: Callable[[str], Tokenizer], tiktoken_encoding: Build
) -> None:
    tokenizer, theirs = ours(name), tiktoken_encoding(name)
    for text in random_texts(seed=99, count=2_000, surrogates=True):
        ids = theirs.encode_ordinary(text)
        assert tokenizer.encode(text) == ids, repr(text)
        assert tokenizer.encode_array(text).tolist() == ids, repr(text)
        assert tokenizer.encoding(text).ids == ids, repr(text)
        assert tokenizer.count(text) == len(ids), repr(text)
        assert tokenizer.decode(ids) == theirs.decode(ids), repr(text)


@pytest.mark.parametrize("name", NAMES)
def test_special_tokens(
    name: str, ours: Callable[[str], Tokenizer], tiktoken_encoding: Build
) -> None:
    tokenizer, theirs = ours(name), tiktoken_encoding(name)
    literals = sorted(theirs.special_tokens_set)
    assert tokenizer.special_tokens == theirs._special_tokens
    assert tokenizer.vocab_size == theirs.n_vocab
    texts = random_texts(seed=7, count=3_000)
    encoded = 0
    for i, plain in enumerate(texts):
        literal = literals[i % len(literals)]
        text = f"{plain}{literal}{plain[::-1]}{literal}{literal} {plain[:3]}"
        ids = theirs.encode(text, allowed_special="all")
        assert tokenizer.encode(text, special="encode") == ids, repr(text)
        some = {literal}
        ids_of_some = theirs.encode(text, allowed_special=some, disallowed_special=())
        assert tokenizer.encode(text, special=some) == ids_of_some, repr(text)
        assert tokenizer.encode(text) == theirs.encode_ordinary(text), repr(text)
        encoded += ids.count(tokenizer.special_tokens[literal])
    assert encoded >= 3 * len(texts)
    with pytest.raises(ValueError, match=r"<\|endoftext\|>") as raised:
        tokenizer.encode("a<|endoftext|>b", special="raise")
    assert isinstance(raised.value, SpecialTokenError)


@pytest.mark.parametrize("name", NAMES)
def test_every_token_decodes_alike(
    name: str, ours: Callable[[str], Tokenizer], tiktoken_encoding: Build
) -> None:
    tokenizer, theirs = ours(name), tiktoken_encoding(name)
    for token_id in (*range(len(theirs._mergeable_ranks)), *theirs._special_tokens.values()):
        assert tokenizer.token_bytes(token_id) == theirs.decode_single_token_bytes(token_id)


@pytest.mark.parametrize("name", NAMES)
def test_the_published_name_gives_the_same(
    name: str,
    shared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ours: Callable[[str], Tokenizer],
) -> None:
    file = {"gpt2": "r50k_base"}.get(name, name)
    (tmp_path / f"{file}.tiktoken").symlink_to(shared / f"data/vocab/{name}.tiktoken")
    monkeypatch.setenv("TOKSMITH_CACHE_DIR", str(tmp_path))
    by_name, by_file = toksmith.get(name), ours(name)
    assert by_name.name == name
    assert by_name.pipeline.model == by_file.pipeline.model
    assert by_name.special_tokens == by_file.special_tokens
    family, split = by_name.pipeline.splitter.family, by_file.pipeline.splitter.family
    assert family is not None
    assert family == split


def assert_equal_ids(found: np.ndarray, expected: np.ndarray, tokenizer: Tokenizer) -> None:
    """Compare long arrays; on a difference, show where it begins instead of millions of ids."""
    if np.array_equal(found, expected):
        return
    length = min(len(found), len(expected))
    at = int(np.argmax(found[:length] != expected[:length])) if length else 0
    near = slice(max(at - 5, 0), at + 5)
    shown = [
        [tokenizer.token_bytes(token) for token in ids[near].tolist()] for ids in (found, expected)
    ]
    pytest.fail(
        f"{len(found)} ids, but should be {len(expected)}; from id {at} on they are\n"
        f"{shown[0]}, but should be\n{shown[1]}"
    )


def test_an_empty_token_as_in_whisper(tmp_path: Path, shared: Path) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    path = tmp_path / "whisper.tiktoken"
    path.write_bytes((shared / "data/vocab/gpt2.tiktoken").read_bytes() + b"= 50256\n")
    special = {"<|endoftext|>": 50257, "<|startoftranscript|>": 50258}
    tok = toksmith.load(path, split="gpt2", special_tokens=special)
    ranks = dict(importlib.import_module("tiktoken.load").load_tiktoken_bpe(str(path)))
    assert ranks[b""] == 50256
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    theirs = tiktoken.Encoding("whisper", pat_str=pattern, mergeable_ranks=ranks,
                               special_tokens=special, explicit_n_vocab=50259)  # fmt: skip
    for text in random_texts(7, 2000):
        assert tok.encode(text) == theirs.encode_ordinary(text), repr(text)
    assert tok.vocab_size == theirs.n_vocab
