"""BERT's tokenizer, loaded from tokenizer.json and from vocab.txt, against tokenizers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.strategies import random_texts
from toksmith import Tokenizer, formats

tokenizers = pytest.importorskip("tokenizers")

CORPORA = ("english", "code", "multilingual", "cjk")
SIZE = 250_000


@pytest.fixture(scope="module")
def theirs(shared: Path) -> Any:
    found = tokenizers.Tokenizer.from_file(str(shared / "data/vocab/bert_uncased_tokenizer.json"))
    found.no_truncation()
    found.no_padding()
    return found


@pytest.fixture(scope="module", params=["tokenizer.json", "vocab.txt", "written"])
def ours(
    request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Tokenizer:
    """Of either file, and of the tokenizer.json that we make of the vocab.txt."""
    vocab = toksmith.load(shared / "data/vocab/bert_uncased_vocab.txt")
    if request.param == "vocab.txt":
        return vocab
    if request.param == "tokenizer.json":
        return toksmith.load(shared / "data/vocab/bert_uncased_tokenizer.json")
    path = tmp_path_factory.mktemp("bert") / "tokenizer.json"
    formats.write(vocab.pipeline, path)
    return toksmith.load(path)


def check(ours: Tokenizer, theirs: Any, texts: list[str]) -> None:
    expected = theirs.encode_batch(texts)
    batch = ours.encode_batch(texts, special="encode", add_special_tokens=True)
    for text, ids, other in zip(texts, batch.to_lists(), expected, strict=True):
        assert ids == other.ids, repr(text)


@pytest.mark.parametrize("name", CORPORA)
def test_corpus(name: str, ours: Tokenizer, theirs: Any, corpus: Callable[..., bytes]) -> None:
    data = corpus(f"{name}.txt", SIZE, start=7_000_003).decode()
    check(ours, theirs, data.split("<|endoftext|>"))


def test_random_strings(ours: Tokenizer, theirs: Any) -> None:
    texts = random_texts(51, 3000)
    special = ("[CLS]", "[MASK]", " [UNK]x", "[SEP] ")
    texts += [f"{text}{special[i % 4]}{text[::-1]}" for i, text in enumerate(texts[:300])]
    check(ours, theirs, texts)


def test_offsets_and_tokens(ours: Tokenizer, theirs: Any, corpus: Callable[..., bytes]) -> None:
    texts = random_texts(52, 400)
    for name in CORPORA:
        texts += corpus(f"{name}.txt", 20_000, start=9_000_003).decode().split("<|endoftext|>")
    for text in texts:
        found = ours.encoding(text, special="encode", add_special_tokens=True)
        other = theirs.encode(text)
        assert found.ids == other.ids
        assert [token.decode() for token in found.tokens] == other.tokens
        middle = slice(1, -1)  # [CLS] and [SEP] have no place; theirs is (0, 0)
        assert list(map(tuple, found.spans[middle])) == other.offsets[middle], repr(text)


def test_decoding(ours: Tokenizer, theirs: Any, corpus: Callable[..., bytes]) -> None:
    texts = random_texts(53, 300) + corpus("english.txt", 50_000).decode().split("\n")
    for text in texts:
        ids = theirs.encode(text).ids
        for skip in (False, True):
            expected = theirs.decode(ids, skip_special_tokens=skip)
            assert ours.decode(ids, skip_special_tokens=skip) == expected, repr(text)
