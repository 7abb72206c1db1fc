"""The memory of a large result is used again once nothing refers to it, and not before."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import toksmith
from toksmith import Tokenizer

TEXT = "the cat sat on the mat.\n" * 200_000  # more ids than the least that is kept
OTHER = TEXT.replace("cat", "dog")


@pytest.fixture
def tokenizer() -> Tokenizer:
    return toksmith.train(texts=[TEXT[:1000]], vocab_size=268, split="gpt2")


def ids_of(tokenizer: Tokenizer, text: str) -> np.ndarray:
    short = np.asarray(tokenizer.encode(text[:24]), np.uint32)
    return np.tile(short, len(text) // 24)


@pytest.mark.parametrize("threads", [1, 2])
def test_results_in_use_are_left_alone(tokenizer: Tokenizer, threads: int) -> None:
    first = tokenizer.encode_array(TEXT, threads=threads)
    part = first[10:-10]
    del first
    gc.collect()
    other = tokenizer.encode_array(OTHER, threads=threads)
    assert np.array_equal(part, ids_of(tokenizer, TEXT)[10:-10])
    assert np.array_equal(other, ids_of(tokenizer, OTHER))
    del part
    again = tokenizer.encode_array(TEXT, threads=threads)
    assert np.array_equal(other, ids_of(tokenizer, OTHER))
    assert np.array_equal(again, ids_of(tokenizer, TEXT))


def test_memory_is_used_again(tokenizer: Tokenizer) -> None:
    first = tokenizer.encode_array(TEXT)
    place = first.ctypes.data
    del first
    assert tokenizer.encode_array(TEXT[:-24]).ctypes.data == place
    assert len(tokenizer.encode(TEXT)) > 0  # a list's ids were there only for a while
    assert tokenizer.encode_array(TEXT).ctypes.data == place


def test_results_outlive_the_tokenizer(tokenizer: Tokenizer) -> None:
    own = toksmith.train(texts=[TEXT[:1000]], vocab_size=268, split="gpt2")
    result = own.encode_array(TEXT)
    expected = ids_of(own, TEXT)
    own.forget()
    del own
    gc.collect()
    assert np.array_equal(result, expected)
