"""Added tokens of a batch: found in the kernel, and in Python."""

from __future__ import annotations

import random
import warnings
from dataclasses import replace

import numpy as np
import pytest

import toksmith
from tests.strategies import random_bytes, random_text
from toksmith import Tokenizer, engine
from toksmith._base.text import Text
from toksmith.engine.around import encode_around, kernel_search, locate_around
from toksmith.framing import AddedSearch, AddedToken, Framing
from toksmith.splitters import Metaspace

CONTENTS = ("<s>", "</s>", "<", "ab", "abc", "é", "日本", "[M]", "😄", "x", "\ufffd")


def search(rng: random.Random, tok: Tokenizer) -> AddedSearch:
    def flag() -> bool:
        return rng.random() < 0.3

    tokens = [
        AddedToken(content, tok.vocab_size + i, flag(), False, flag(), flag(), flag())
        for i, content in enumerate(rng.sample(CONTENTS, rng.randint(1, len(CONTENTS))))
    ]
    framing = Framing(tuple(tokens))
    literals = frozenset(token.content for token in tokens)
    return AddedSearch(framing, literals, bool(tok.pipeline.normalizer))


def text(rng: random.Random) -> Text:
    parts: list[str] = []
    for _ in range(rng.randint(0, 5)):
        parts += (random_text(rng, 2, surrogates=rng.random() < 0.2), rng.choice(CONTENTS))
        parts.append(rng.choice(("", " ", "\u3000", "\ud83d\ude04", "_", "e")))
    found = "".join(parts)
    if rng.random() < 0.7:
        return found
    data = found.encode("utf-8", "replace")
    return data + random_bytes(rng, 2) + data


@pytest.fixture(scope="module", params=["bytes", "wordpiece", "unigram", "metaspace-first"])
def tok(request: pytest.FixtureRequest) -> Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the text yields fewer tokens
        return make_tokenizer(request.param)


def make_tokenizer(kind: str) -> Tokenizer:
    texts = ["low lower lowest ab abc é 日本 x xyz <s> e_"] * 3
    if kind == "bytes":
        return toksmith.train(texts=texts, vocab_size=280)
    if kind == "wordpiece":
        return toksmith.train(texts=texts, vocab_size=60, model="wordpiece")
    found = toksmith.train(texts=texts, vocab_size=40, model="unigram")
    if kind == "unigram":
        return found
    splitter = Metaspace(prepend="first")
    return Tokenizer(replace(found.pipeline, normalizer=(), splitter=splitter))


def test_kernel_and_python_find_the_same(tok: Tokenizer) -> None:
    rng = random.Random(3)
    encoder = engine.compile(tok.pipeline)
    in_kernel = 0
    for case in range(60):
        added = search(rng, tok)
        texts = [text(rng) for _ in range(rng.randint(0, 4))]
        in_kernel += kernel_search(added, False) is not None
        threads = 1 + case % 2
        ids = encoder.encode_around(texts, threads, added)
        assert ids == encode_around(encoder, texts, 1, added), (texts, added.tokens)
        found = encoder.locate_around(texts, threads, added)
        expected = locate_around(encoder, texts, 1, added)
        assert [each.tolist() for each in found] == [each.tolist() for each in expected]
        assert found.ids.tolist() == ids.ids.tolist()
    assert in_kernel > 30


def test_long_documents_are_cut_for_threads(tok: Tokenizer) -> None:
    added = AddedSearch(Framing.of({"<s>": tok.vocab_size}), frozenset({"<s>"}), True)
    texts = ["low é <s>lower " * 6_000, "<s>" * 9_000, "x"]
    encoder = engine.compile(tok.pipeline)
    one, two = (encoder.locate_around(texts, threads, added) for threads in (1, 2))
    assert all(map(np.array_equal, one, two))
    assert (one.ids == tok.vocab_size).sum() == 15_000
    assert np.array_equal(encoder.encode_around(texts, 2, added).ids, one.ids)


def test_the_first_text_with_a_literal() -> None:
    literals = frozenset({"<s>", "é"})
    assert engine.first_with(["a", "日本é", "<s>"], literals) == 1
    assert engine.first_with([b"\xc3", b"a<s"], literals) is None
    assert engine.first_with(["<s>"], frozenset()) is None
