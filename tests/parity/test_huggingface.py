"""The same ids, and the same merges, as Hugging Face's tokenizers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.strategies import random_texts
from toksmith import Tokenizer

tokenizers = pytest.importorskip("tokenizers")

SEPARATOR = "<|endoftext|>"
SAMPLE = 1_000_000
CORPORA = ("english.txt", "code.txt", "multilingual.txt", "cjk.txt")


@pytest.fixture(scope="module")
def pair(shared: Path) -> tuple[Tokenizer, Any]:
    """GPT-2's tokenizer.json, loaded by us and by them."""
    path = shared / "data/vocab/gpt2_tokenizer.json"
    return toksmith.load(path), tokenizers.Tokenizer.from_file(str(path))


@pytest.mark.parametrize("corpus_name", CORPORA)
def test_corpus(
    corpus_name: str, pair: tuple[Tokenizer, Any], corpus: Callable[..., bytes]
) -> None:
    texts = corpus(corpus_name, SAMPLE).decode().split(SEPARATOR)
    assert_equal_batches(texts, *pair)


def test_random_strings(pair: tuple[Tokenizer, Any]) -> None:
    # Special tokens inside a text are always found there; here they are not looked for.
    texts = [text for text in random_texts(seed=1, count=15_000) if SEPARATOR not in text]
    assert len(texts) > 11_000
    assert_equal_batches(texts, *pair)


def test_special_tokens(pair: tuple[Tokenizer, Any]) -> None:
    ours, theirs = pair
    for text in random_texts(seed=2, count=2_000):
        framed = f"{text}{SEPARATOR}{SEPARATOR} {text[::-1]}"
        assert ours.encode(framed, special="encode") == theirs.encode(framed).ids, repr(framed)


def assert_equal_batches(texts: list[str], ours: Tokenizer, theirs: Any) -> None:
    batch = ours.encode_batch(texts)
    expected = theirs.encode_batch_fast(texts, add_special_tokens=False)
    for text, found, encoding in zip(texts, batch, expected, strict=True):
        if not np.array_equal(found, encoding.ids):
            pytest.fail(f"{found.tolist()[:50]} should be {encoding.ids[:50]} for {text[:200]!r}")


# Training


def test_merges_32k(tmp_path: Path, corpus: Callable[..., bytes]) -> None:
    """From files and from an iterator, with one thread and with two."""
    text = corpus("english.txt", 3_000_000)
    documents = text.decode().split(SEPARATOR)
    expected = trained_there(documents, 32_000)
    assert len(expected) == 32_000 - 256
    options: dict[str, Any] = {"vocab_size": 32_000, "split": "gpt2", "ties": "smallest-pair"}
    path = tmp_path / "english.txt"
    path.write_bytes(text)
    for threads in (1, 2):
        from_file = toksmith.train(path, separator=SEPARATOR, threads=threads, **options)
        assert learned(from_file) == expected, f"from a file, {threads} threads"
        from_texts = toksmith.train(texts=iter(documents), threads=threads, **options)
        assert learned(from_texts) == expected, f"from an iterator, {threads} threads"


@pytest.mark.parametrize("corpus_name", ["cjk.txt", "code.txt", "multilingual.txt"])
def test_merges_of_other_scripts(corpus_name: str, corpus: Callable[..., bytes]) -> None:
    documents = corpus(corpus_name, 1_000_000).decode().split(SEPARATOR)
    ours = toksmith.train(texts=documents, vocab_size=3_000, split="gpt2", ties="smallest-pair")
    assert learned(ours) == trained_there(documents, 3_000)


def test_min_frequency(corpus: Callable[..., bytes]) -> None:
    documents = corpus("english.txt", 200_000).decode().split(SEPARATOR)
    with pytest.warns(UserWarning, match="ran out of pairs"):
        ours = toksmith.train(
            texts=documents, vocab_size=20_000, split="gpt2", ties="smallest-pair", min_frequency=4
        )
    expected = trained_there(documents, 20_000, min_frequency=4)
    assert len(expected) < 20_000 - 256, "the text must run out of frequent pairs"
    assert learned(ours) == expected


def learned(tokenizer: Tokenizer) -> list[tuple[bytes, bytes]]:
    """Return the merges as the bytes that each joins."""
    token = tokenizer.token_bytes
    return [(token(left), token(right)) for left, right in tokenizer.merges]


def trained_there(
    documents: list[str], vocab_size: int, **options: Any
) -> list[tuple[bytes, bytes]]:
    """Return the merges that BpeTrainer learns from the same documents, as bytes."""
    byte_level = tokenizers.pre_tokenizers.ByteLevel
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = byte_level(add_prefix_space=False)
    alphabet = byte_level.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False, **options
    )
    tokenizer.train_from_iterator(_each(documents), trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(_bytes(left), _bytes(right)) for left, right in merges]


def _each(documents: list[str]) -> Iterator[str]:
    yield from documents


def _bytes(shown: str) -> bytes:
    return bytes(_BYTES[character] for character in shown)


def _printable_bytes() -> dict[str, int]:
    """GPT-2's printable alphabet: bytes that show are themselves, the rest follow from U+0100."""
    shows = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in shows]
    return {chr(byte): byte for byte in shows} | {chr(256 + i): b for i, b in enumerate(rest)}


_BYTES = _printable_bytes()
