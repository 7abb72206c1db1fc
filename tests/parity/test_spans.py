"""Spans of published vocabularies: against tokenizers' offsets and against the reference engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import toksmith
from tests import strategies
from tests.engines import assert_same_places
from toksmith import engine

tokenizers = pytest.importorskip("tokenizers")

FILES = ("gpt2_tokenizer.json", "bert_uncased_tokenizer.json", "t5_envit5_tokenizer.json")
MODELS = (*FILES, "llama2.model", "spm_test_unigram.model")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("texts", ["english", "code", "cjk", "multilingual"])
def test_offsets(shared: Path, corpus: Callable[..., bytes], name: str, texts: str) -> None:
    path = shared / "data" / "vocab" / name
    lines = corpus(f"{texts}.txt", 40_000, start=7_000_001).decode("utf-8", "replace").split("\n")
    theirs = tokenizers.Tokenizer.from_file(str(path))
    theirs.no_truncation()
    theirs.no_padding()
    expected = theirs.encode_batch(lines, add_special_tokens=False)
    tok = toksmith.load(path)
    for threads in (1, 2):
        for line, found, peer in zip(
            lines, tok.encodings(lines, special="encode", threads=threads), expected, strict=True
        ):
            assert found.ids == peer.ids
            assert list(map(tuple, found.spans.tolist())) == peer.offsets, line


@pytest.mark.parametrize("name", MODELS)
def test_the_reference_agrees(
    shared: Path,
    corpus: Callable[..., bytes],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    pipeline = toksmith.load(shared / "data" / "vocab" / name).pipeline
    kernel = engine.compile(pipeline)
    monkeypatch.setenv("TOKSMITH_ENGINE", "reference")
    reference = engine.compile(pipeline)
    texts: list[str | bytes] = [*strategies.random_texts(5, 40)]
    texts += strategies.random_texts(7, 40, surrogates=True)
    texts += strategies.random_byte_texts(6, 40)
    for corpus_name in ("multilingual", "cjk"):
        text = corpus(f"{corpus_name}.txt", 4_000, start=5_000_003)
        texts += [text, text.decode("utf-8", "replace"), *text.splitlines()]
    expected = reference.encode_with_spans(texts, 1)
    for threads in (1, 2):
        assert_same_places(kernel.encode_with_spans(texts, threads), expected)


@pytest.mark.parametrize("name", FILES[:2])
def test_added_tokens_between_texts(
    shared: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = shared / "data" / "vocab" / name
    tok = toksmith.load(path)
    monkeypatch.setenv("TOKSMITH_ENGINE", "reference")
    reference = toksmith.load(path)
    special = next(iter(tok.special_tokens))
    texts = [
        f"é{special}naïve {special}{special} 中",
        "",
        special,
        "plain é",
        f"\xff {special}".encode(),
    ]
    found = tok.encodings(texts, texts[::-1], special="encode", add_special_tokens=True)
    assert found == [
        reference.encoding(text, pair=pair, special="encode", add_special_tokens=True)
        for text, pair in zip(texts, reversed(texts), strict=True)
    ]


@pytest.mark.parametrize("name", FILES)
def test_offsets_of_any_text(shared: Path, name: str) -> None:
    path = shared / "data" / "vocab" / name
    theirs = tokenizers.Tokenizer.from_file(str(path))
    theirs.no_truncation()
    theirs.no_padding()
    tok = toksmith.load(path)

    @given(st.lists(st.text(max_size=30), max_size=5))
    @settings(max_examples=60)
    def check(texts: list[str]) -> None:
        expected = theirs.encode_batch(texts, add_special_tokens=False)
        for text, found, peer in zip(texts, tok.encodings(texts), expected, strict=True):
            assert found.ids == peer.ids
            assert list(map(tuple, found.spans.tolist())) == peer.offsets, text

    check()
