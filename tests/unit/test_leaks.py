"""Loading, encoding and dropping a tokenizer again and again takes no more and more memory."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

import toksmith
from tests.kits.pipelines import PIPELINES
from toksmith.engine.counting import ChunkCounter
from toksmith.splitters import splitter

TEXT = "low lower lowest new newer newest höher 12 " * 4
ROOT = Path(__file__).parents[2]
STATM = Path("/proc/self/statm")
SIZES = {"bpe": 265, "wordpiece": 39, "unigram": 24, "sentencepiece-bpe": 30}
ROUNDS, WARM_UP = 120, 40
MOST = 20 << 20
"""Bytes that allocators may take meanwhile; a leak of the smallest cache, 384 KiB, takes more."""


def resident() -> int:
    return int(STATM.read_text().split()[1]) * 4096


@pytest.fixture(scope="module", params=SIZES)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("leaks") / (
        "t.model" if request.param.startswith("sentencepiece") else "t.json"
    )
    tok = toksmith.train(
        texts=[TEXT] * 9, model=request.param, progress=False,
        vocab_size=SIZES[request.param],
    )  # fmt: skip
    tok.save(path)
    return path


def check(work: Callable[[], object]) -> None:
    """Check that neither the process nor Python's objects grow, after a warm-up."""
    for _ in range(WARM_UP):
        work()
    gc.collect()
    before = resident()
    for _ in range(ROUNDS):
        work()
    gc.collect()
    assert resident() - before < MOST

    tracemalloc.start()  # takes memory itself
    try:
        work()
        objects = tracemalloc.get_traced_memory()[0]
        for _ in range(ROUNDS // 10):
            work()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - objects < 1 << 19
    finally:
        tracemalloc.stop()


def use_tokenizer(path: str) -> None:
    tok = toksmith.load(path)
    ids = tok.encode(TEXT)
    assert tok.decode(ids)
    tok.encode_batch([TEXT, TEXT[:9]])
    tok.encoding(TEXT)


def use_counter() -> None:
    counter = ChunkCounter(splitter("gpt4"), 2)
    counter.add_texts([TEXT] * 20)
    counter.finish()


def check_alone(work: str) -> None:
    """Check a call in a process of its own, where nothing else takes or frees memory."""
    program = f"from tests.unit.test_leaks import *; check(lambda: {work})"
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(not STATM.exists(), reason="reads the memory of a process as Linux shows it")
def test_a_tokenizer_leaves_nothing_behind(file: Path) -> None:
    check_alone(f"use_tokenizer({str(file)!r})")


@pytest.mark.skipif(not STATM.exists(), reason="reads the memory of a process as Linux shows it")
def test_a_counter_leaves_nothing_behind() -> None:
    check_alone("use_counter()")


@pytest.mark.parametrize("name", PIPELINES)
def test_caches_are_freed_with_their_tokenizer(name: str) -> None:
    """A cache in a cycle of references would stay until the collector comes along."""
    tok = toksmith.Tokenizer(PIPELINES[name])
    tok.encode("low")
    tok.encode_batch(["low", "low low"])
    tok.encoding("low")
    encoders = [weakref.ref(tok._encoder), weakref.ref(tok._encoder._engine)]
    gc.collect()
    gc.disable()
    try:
        del tok
        assert [encoder() for encoder in encoders] == [None, None]
    finally:
        gc.enable()
