"""WordPiece, words and the longest match: the kernel's tokens and spans against the reference's."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import numpy as np
import pytest

from tests import strategies
from tests.kits.words import random_word_model
from toksmith.engine.kernel import KernelEncoder
from toksmith.engine.stepwise import ReferenceChunks
from toksmith.models import LongestMatch, Model, WordLevel, WordPiece

ALPHABETS = ("ab", "abc", "aéb", "日本語a", "#ab", "😀é日a")


def check(model: Model, chunks: list[bytes]) -> None:
    data = b"".join(chunks)
    ends = np.cumsum([len(chunk) for chunk in chunks])
    bounds = np.stack([ends - [len(chunk) for chunk in chunks], ends], axis=1)
    kernel, reference = KernelEncoder(model), ReferenceChunks(model)
    expected, places = reference.encode_chunks_with_spans(data, bounds)
    found, spans = kernel.encode_chunks_with_spans(data, bounds)
    cached = kernel.encode_chunks(data, bounds, 2)
    if found != expected or cached != expected or not np.array_equal(spans, places):
        for chunk in chunks:  # say which
            whole = np.array([[0, len(chunk)]])
            wanted, where = reference.encode_chunks_with_spans(chunk, whole)
            batch, at = kernel.encode_chunks_with_spans(chunk, whole)
            assert (batch[0].tolist(), at.tolist()) == (wanted[0].tolist(), where.tolist()), chunk
        raise AssertionError("the cache, or many chunks at once, change the tokens")


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_random_vocabularies(alphabet: str) -> None:
    for seed in range(150):
        rng = random.Random(f"{alphabet} {seed}")
        model = random_word_model(rng, alphabet)
        words = ["".join(rng.choices(alphabet + "x", k=rng.randint(1, 14))) for _ in range(60)]
        words += ["".join(rng.choices(alphabet, k=rng.randint(20, 150))) for _ in range(3)]
        words += [token.decode() for token in model.vocab if token]
        check(model, [word.encode() for word in words])


def test_random_texts() -> None:
    texts = strategies.random_texts(31, 400)
    pieces = sorted({text[i : i + 1 + i % 4] for text in texts[:80] for i in range(len(text))})
    vocab = ("<?>", *pieces, *("##" + piece for piece in pieces))
    tokens = tuple(token.encode() for token in vocab)
    chunks = [text.encode() for text in texts] + strategies.random_byte_texts(32, 400)
    for model in (
        *(WordPiece(tokens, 0), WordPiece(tokens, 0, max_characters=20), WordPiece(tokens, 0, "")),
        *(WordLevel(tokens), LongestMatch(tokens, 0), LongestMatch(tokens, 0, fuse_unk=True)),
        LongestMatch(tokens),
    ):
        check(model, chunks)


def test_vocabulary_of_bytes_that_are_no_text() -> None:
    """No text has them, so they are never found; nothing worse happens."""
    vocab = (b"<?>", b"a", b"\xff", b"\xe2\x82", b"a\xc3", b"\xed\xa0\x80")
    whole = np.array([[0, 6]])
    for model in (WordPiece(vocab, 0), LongestMatch(vocab, 0)):
        batch = KernelEncoder(model).encode_chunks(b"a\xe2\x82\xffaa", whole, 1)
        assert batch.ids.tolist() == ([0] if isinstance(model, WordPiece) else [1, 0, 0, 0, 1, 1])


@pytest.mark.parametrize("letter", ["a", "é"])
def test_time_is_linear_whatever_the_vocabulary(letter: str) -> None:
    """Trying the longest first would look at 200,000 characters at each of 200,000 places."""
    long = (letter * 200_000 + "b").encode()
    text = (letter * 200_000).encode()
    whole = np.array([[0, len(text)]])
    one = letter.encode()
    started = time.process_time()
    for model, count in (
        (LongestMatch((b"?", one, long), 0), 200_000),
        (LongestMatch((b"?", long), 0), 200_000),
        (LongestMatch((b"?", long), 0, fuse_unk=True), 1),
        (WordPiece((b"?", one, b"##" + one, b"##" + long), 0, max_characters=10**6), 200_000),
    ):
        batch = KernelEncoder(model).encode_chunks(text, whole, 1)
        assert len(batch.ids) == count
    assert time.process_time() - started < 5


def test_bert(corpus: Callable[..., bytes], bert_vocab: tuple[bytes, ...]) -> None:
    model = WordPiece(bert_vocab, bert_vocab.index(b"[UNK]"))
    for name in ("english", "code", "multilingual", "cjk"):
        check(model, corpus(f"{name}.txt", 60_000, start=1_000_003).lower().split())
