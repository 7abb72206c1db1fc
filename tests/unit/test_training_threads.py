"""Learning on several threads: the same result, and no leaks."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.interrupting import interrupted
from tests.processes import TASKS, holds_in_child, running_threads, threads_left
from toksmith.engine.training import ChunkStore, MergeRules, merge_symbols


def words(size: int) -> toksmith.Counts:
    """Return so many words; eight threads get work from 16,000 letters each."""
    rng = random.Random(5)
    letters = "aaabbcdefghijkl"
    found = {" " + "".join(rng.choices(letters, k=rng.randint(3, 15))) for _ in range(size)}
    return toksmith.Counts.of({word.encode(): rng.randint(1, 9) for word in sorted(found)})


@pytest.fixture(scope="module")
def counts() -> toksmith.Counts:
    return words(20_000)


@pytest.mark.parametrize(
    "options",
    [
        {"model": "bpe", "vocab_size": 3_000},
        {"model": "bpe", "vocab_size": 3_000, "ties": "smallest-pair"},
        {"model": "bpe", "vocab_size": 3_000, "unit": "characters"},
        {"model": "wordpiece", "vocab_size": 1_000, "objective": "frequency"},
        {"model": "wordpiece", "vocab_size": 1_000},
        {"model": "sentencepiece-bpe", "vocab_size": 1_000},
    ],
    ids=str,
)
def test_result_does_not_depend_on_threads(
    options: dict[str, Any], counts: toksmith.Counts
) -> None:
    alone = toksmith.train(counts=counts, threads=1, **options)
    assert alone.training is not None
    for threads in (2, 3, 8):
        found = toksmith.train(counts=counts, threads=threads, **options)
        assert found.training is not None
        assert found.pipeline == alone.pipeline
        assert np.array_equal(found.training.counts, alone.training.counts)
        assert np.array_equal(found.training.tokens_after, alone.training.tokens_after)


def stored(counts: toksmith.Counts) -> ChunkStore:
    store = ChunkStore()
    store.add_bytes(counts.chunks, counts.ends, counts.counts)
    return store


def learn(counts: toksmith.Counts, watch: Callable[[object], None]) -> None:
    merge_symbols(
        stored(counts),
        500_000, MergeRules("first-seen"), threads=3, watch=watch,
    )  # fmt: skip


@pytest.mark.skipif(not TASKS.is_dir(), reason="Linux tells a process's threads there")
def test_no_thread_is_left() -> None:
    counts = words(200_000)
    before = running_threads()
    at_work: list[int] = []

    def stop(_: object) -> None:
        at_work.append(running_threads())
        raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        learn(counts, stop)
    assert at_work == [before + 2]
    assert threads_left(before) == before

    with interrupted() as learning:
        learn(counts, lambda _: learning.set())
    assert threads_left(before) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python 3.12: threads and fork
def test_fork_while_learning(counts: toksmith.Counts) -> None:
    """The child has none of the threads, and may train itself."""
    held: list[bool] = []

    def trains() -> bool:
        return toksmith.train(counts=counts, vocab_size=400, threads=3).vocab_size == 400

    def fork(_: object) -> None:
        if not held:
            held.append(holds_in_child(trains))

    learn(words(60_000), fork)
    assert held == [True]
