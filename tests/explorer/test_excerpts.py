"""An excerpt of a long text shows the tokens that the whole text has there."""

from __future__ import annotations

import random
from functools import cache

import pytest

import toksmith
from toksmith.explorer.excerpts import SIZE, cut_excerpt, encode_excerpt, parse_text
from toksmith.explorer.loaded import LoadedTokenizers
from toksmith.explorer.requests import Fields
from toksmith.explorer.text_page import TextPage
from toksmith.explorer.texts import Texts
from toksmith.explorer.vocabulary_page import VocabularyPage
from toksmith.tokenizer import Tokenizer

WORDS = (
    "low",
    "lower",
    "lowest",
    "newest",
    "wider",
    "東京",
    "都",
    "naïve",
    "👩‍👩‍👧",
    "1234",
    "don't",
)
SPACES = (" ", " ", " ", "  ", "\n", "\t")


@cache
def text() -> str:
    choose = random.Random(7)
    return "".join(choose.choice(WORDS) + choose.choice(SPACES) for _ in range(9_000))


@cache
def tokenizer(model: str) -> Tokenizer:
    size = {"bpe": 300, "wordpiece": 60, "sentencepiece-unigram": 42, "sentencepiece-bpe": 60}[
        model
    ]
    options = {"character_coverage": 1.0} if "sentencepiece" in model else {}
    return toksmith.train(texts=[text()[:20_000]], model=model, vocab_size=size, **options)


@pytest.mark.parametrize(
    "model", ["bpe", "wordpiece", "sentencepiece-unigram", "sentencepiece-bpe"]
)
def test_stretches_are_the_whole(model: str) -> None:
    tok = tokenizer(model)
    ids = tok.encode(text())
    for place in (0, 5_000, 17_001, len(text()) - 1_000):
        excerpt = cut_excerpt(text(), place)
        found = encode_excerpt(tok, excerpt)
        shown = found.encoding
        assert found.total == len(ids)
        assert len(shown.ids) > 200
        assert shown.ids == ids[found.first : found.first + len(shown.ids)]
        data = excerpt.shown.encode()
        for i, (start, end) in enumerate(shown.byte_spans):
            assert 0 <= start <= end <= len(data)
            if model == "bpe" and 0 < i < len(shown.ids) - 1:
                assert data[start:end] == shown.tokens[i]


def test_text_without_a_place_to_cut() -> None:
    tok = tokenizer("sentencepiece-bpe")
    long = "lowest" * 4_000
    found = encode_excerpt(tok, cut_excerpt(long, 9_000))
    shown = found.encoding
    ids = tok.encode(long)
    assert shown.ids == ids[found.first : found.first + len(shown.ids)]


def test_template_and_special_tokens() -> None:
    tok = toksmith.train(texts=["abab"], vocab_size=258, special_tokens=["<|end|>"])
    excerpt = cut_excerpt("ab<|end|>ab", 0)
    assert any(encode_excerpt(tok, excerpt, "encode").encoding.special)
    assert not any(encode_excerpt(tok, excerpt).encoding.special)


def test_stretch_ends_at_white_space() -> None:
    excerpt = cut_excerpt(text(), 10_000)
    assert text()[excerpt.start - 1].isspace()
    assert text()[excerpt.end].isspace()
    assert cut_excerpt("", 5).shown == ""
    assert cut_excerpt("short", 99).shown == "short"


def test_text_of_surrogates() -> None:
    assert parse_text("\ud83d\ude00\ud83d") == "😀\ufffd"


def test_the_end_of_a_text_is_a_whole_stretch() -> None:
    for place in (len(text()) - 100, len(text()), len(text()) + 9_000):
        excerpt = cut_excerpt(text(), place)
        assert excerpt.end == len(text())
        assert len(excerpt.shown) >= SIZE
    assert cut_excerpt("a b " * 100, 390).shown == "a b " * 100


def test_details_are_of_the_stretch_that_is_shown() -> None:
    loaded = LoadedTokenizers()
    key = loaded.put("mine", tokenizer("bpe"))
    # The excerpt starts behind a space, since no line break is near; from there one is.
    long = "low\n" + "lower" * 24 + " " + "newest" * 30 + " wider" * 2_000
    fields = {"text": long, "tokenizers": [key], "start": 300}
    found = TextPage(loaded, Texts()).tokens(Fields(fields))
    assert long[: found["start"]].endswith("lower ")
    of_token = {"tokenizer": key, "id": found["panels"][0]["ids"][0], "text": long}
    where = {"start": found["start"], "end": found["end"], "at": 0}
    html = VocabularyPage(loaded, Texts()).token(Fields({**of_token, **where}))["html"]
    assert "How it came about in the text" in html
    word = "newest" * 30
    assert html.count("ts-node") >= len(word)
