"""Encoding on several threads: nothing leaks, and a fork can go on encoding."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import toksmith
from tests.processes import TASKS, holds_in_child, running_threads, threads_left

TEXT = "".join(f"The {i}th naïve lowest newest widest 最好的时代 {i * i}.\n" for i in range(40_000))


@pytest.fixture
def tok() -> toksmith.Tokenizer:
    """Return one of its own for each test: nothing is known to it."""
    return toksmith.train(texts=[TEXT[:20_000]], vocab_size=500)


@pytest.mark.skipif(not TASKS.is_dir(), reason="Linux tells a process's threads there")
def test_no_thread_is_left(tok: toksmith.Tokenizer) -> None:
    before = running_threads()
    tok.encode_array(TEXT, threads=4)
    tok.encode_batch(TEXT.splitlines(), threads=4)
    tok.count(TEXT)
    assert threads_left(before) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python 3.12: threads and fork
def test_fork_while_others_encode(tok: toksmith.Tokenizer) -> None:
    expected = tok.encode_array(TEXT, threads=1)
    enough = threading.Event()

    def encode() -> None:
        while not enough.is_set():
            tok.encode_array(TEXT, threads=3)
            tok.count(TEXT)
            tok.forget()

    def is_right() -> bool:
        same = np.array_equal(tok.encode_array(TEXT, threads=2), expected)
        return same and tok.count(TEXT) == expected.size

    other = threading.Thread(target=encode)
    other.start()
    try:
        for _ in range(20):
            assert holds_in_child(is_right)
    finally:
        enough.set()
        other.join()
    assert is_right()
