"""Strings of every width are encoded correctly and stay unchanged."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import toksmith
from toksmith import Tokenizer
from toksmith.errors import SpecialTokenError

# The widest character says how Python keeps a string: by one, two or four bytes a character.
PAGES = {
    "ascii": "The cat sat on the mat.\n",
    "latin": "Le café où l'été s'achève.\n",
    "two bytes": "Кошка “спит” – 猫は眠る。 The cat sleeps.\n",
    "four bytes": "The 🐈 cat “sleeps” – 𠮷野家 или нет.\n",
}


def trained(split: str | None) -> Tokenizer:
    return toksmith.train(texts=PAGES.values(), vocab_size=330, split=split)


@pytest.fixture(scope="module", params=["gpt2", "gpt4", None])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return trained(request.param)


def check(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode_array(text.encode(), threads=1)
    for threads in (1, 2, 3):
        assert np.array_equal(tokenizer.encode_array(text, threads=threads), ids)
        assert tokenizer.count(text, threads=threads) == len(ids)
    assert tokenizer.encode(text) == ids.tolist()
    assert tokenizer.decode(ids) == text


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
@pytest.mark.parametrize("size", [1, 60, 5_000])
def test_strings_and_their_bytes_get_the_same_ids(
    tokenizer: Tokenizer, page: str, size: int
) -> None:
    check(tokenizer, (page * (size // len(page) + 1))[:size])


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
@pytest.mark.parametrize("split", ["gpt2", "gpt4", "o200k"])
def test_long_strings(split: str, page: str) -> None:
    check(trained(split), page * (700_000 // len(page)))


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_strings_do_not_grow(page: str) -> None:
    tok = toksmith.train(texts=[page], vocab_size=260)
    text = page * 20_000
    before = sys.getsizeof(text)
    tok.encode(text), tok.encode_array(text), tok.encode_batch([text]), tok.count(text)
    assert sys.getsizeof(text) == before


def test_batches_of_all_widths(tokenizer: Tokenizer) -> None:
    texts = [page * times for times in (1, 0, 300) for page in PAGES.values()] * 20
    expected = [tokenizer.encode(text.encode()) for text in texts]
    for threads in (1, 2):
        assert tokenizer.encode_batch(texts, threads=threads).to_lists() == expected
    mixed = [text.encode() if i % 3 else text for i, text in enumerate(texts)]
    assert tokenizer.encode_batch(mixed, threads=2).to_lists() == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_a_surrogate_far_inside(threads: int) -> None:
    tok = toksmith.train(texts=PAGES.values(), vocab_size=330, split="gpt4")
    page = PAGES["two bytes"]
    text = page * 12_000
    broken = text + "\udc80" + text
    repaired = tok.encode_array((text + "\ufffd" + text).encode(), threads=1)
    assert np.array_equal(tok.encode_array(broken, threads=threads), repaired)
    assert tok.count(broken, threads=threads) == len(repaired)
    batch = tok.encode_batch([page, broken], threads=threads)
    assert np.array_equal(batch[1], repaired)


def test_special_tokens_in_wide_strings() -> None:
    tok = toksmith.train(texts=PAGES.values(), vocab_size=330, special_tokens=["<|end|>"])
    text = PAGES["four bytes"] + "<|end|>" + PAGES["latin"]
    assert tok.encode(text, special="encode") == tok.encode(text.encode(), special="encode")
    with pytest.raises(SpecialTokenError):
        tok.encode(text, special="raise")
