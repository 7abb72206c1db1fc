"""Ctrl-C ends long native calls within little processor time, and each command."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
import pytest

import toksmith
from tests.interrupting import CAN_MEASURE, Sender
from tests.processes import wait_until_it_reads
from tests.unit import test_interrupts
from toksmith.engine.counting import ChunkCounter, LineCounter
from toksmith.engine.training import (
    ENOUGH,
    ChunkStore,
    MergeRules,
    SymbolWords,
    UnigramWords,
    merge_likely,
    merge_pieces,
    merge_symbols,
)
from toksmith.reference.piece_rules import PieceRules
from toksmith.splitters import splitter

ALPHABET = "abcdefghijklmnop"

MOST = 0.4
"""Seconds of processor time from the signal to the end of a call, all threads together.

Two threads that look for signals every 25 ms take 0.05 s. The rest is for slow machines and
sanitizers; ``python -m benchmarks.interrupts`` measures.
"""


def latency(
    work: Callable[[], object], before: float = 0.1, prepare: Callable[[], object] = lambda: None
) -> float:
    """Interrupt a call, and return how much processor time passed until it ended.

    Args:
        work: the call.
        before: the processor time from its start to the signal, in seconds.
        prepare: is called before each attempt.
    """
    if not CAN_MEASURE:
        pytest.skip("needs the clock of another process")
    with Sender() as sender:
        for _ in range(5):  # on a busy machine, the signal may come too late
            prepare()
            if (took := sender.interrupt(work, before)) is not None:
                return took
    raise AssertionError("the call ended before it could be interrupted")


@cache
def words(size: int, length: int) -> SymbolWords:
    """Return random words of one length."""
    symbols = np.random.default_rng(3).integers(0, len(ALPHABET), size, dtype=np.uint32)
    ends = np.arange(length, size + 1, length, dtype=np.uint64)
    return SymbolWords(symbols, ends, np.ones(len(ends), np.uint64), len(ALPHABET))


def in_phases(threads: int) -> None:
    with TemporaryFile(buffering=0) as file:
        store = ChunkStore(1 << 16, file.fileno())
        store.add_symbols(words(8_000_000, 8))
        merge_symbols(store, 60_000, MergeRules("first-seen"), threads=threads, memory=1 << 16)


def pieces(threads: int) -> None:
    merge_pieces(words(24_000_000, 8), 60_000, ALPHABET, PieceRules(), threads=threads)


def unigram(longest: int) -> None:
    given = UnigramWords(ALPHABET, PieceRules(longest))
    given.add(words(3_000_000, 8))
    given.finish()
    given.learn(seeds=20_000, enough=100, shrinking_factor=0.99, sub_iterations=1000)


TRAINED: dict[str, Callable[[], object]] = {
    "likelihood": lambda: merge_likely(words(24_000_000, 8), 60_000),
    "pieces": lambda: pieces(1),
    "pieces on threads": lambda: pieces(2),
    "symbols": lambda: merge_symbols(words(24_000_000, 8), 60_000, MergeRules("first-seen")),
    "phases": lambda: in_phases(1),
    "phases on threads": lambda: in_phases(2),
    "unigram": lambda: unigram(8),
}


@pytest.mark.parametrize("call", ["encode", "encode_batch", "encode_file", "count", "decode"])
def test_encoding(call: str) -> None:
    work = test_interrupts.CALLS[call](test_interrupts.tokenizer("bpe"), 1 << 25, 1)
    assert latency(work, 0.05) < MOST


@pytest.mark.parametrize("call", TRAINED)
def test_training(call: str) -> None:
    words(24_000_000, 8)
    assert latency(TRAINED[call], 0.4) < MOST


@cache
def random_words() -> bytes:
    letters = np.frombuffer(random.Random(13).randbytes(8 * 1_000_000), np.uint8) % 26 + 97
    letters.reshape(-1, 8)[:, 0] = ord(" ")
    return letters.tobytes()


def test_merging_counted_lines() -> None:
    with TemporaryFile(buffering=0) as chunks, TemporaryFile(buffering=0) as plain:

        def count() -> None:
            nonlocal counter
            counter = LineCounter(1)
            counter.spill_to(1 << 22, chunks.fileno(), plain.fileno())
            counter.add_texts([random_words()])

        counter = LineCounter(1)
        assert latency(lambda: counter.merge(1, 1, 1 << 20), 0.02, count) < MOST
        with pytest.raises(Exception, match="after an interruption"):
            counter.merge(1, 1, 1 << 20)


def test_finishing_counts() -> None:
    def count() -> None:
        nonlocal counter
        counter = ChunkCounter(splitter("gpt4"), 1)
        counter.add_texts([random_words()])

    counter = ChunkCounter(splitter("gpt4"), 1)
    assert latency(lambda: counter.finish(), 0.02, count) < MOST
    # The chunks are lost: no part of them may pass for all.
    with pytest.raises(RuntimeError, match="cannot be used after an error or an interruption"):
        counter.finish()


def test_a_store_that_was_interrupted_does_not_train() -> None:
    added = words(24_000_000, 8)
    for _ in range(9):  # a signal between two of the calls leaves the store as it is
        store = ChunkStore()

        def add_for_long(store: ChunkStore = store) -> None:
            for _ in range(99):
                store.add_symbols(added)

        assert latency(add_for_long) < MOST
        try:
            merge_symbols(store, 10, MergeRules("first-seen"), memory=ENOUGH)
        except RuntimeError as wrong:
            assert "cannot be used after training, or after an error" in str(wrong)  # noqa: PT017
            return
    pytest.fail("no call was interrupted")


@pytest.fixture(scope="module")
def long_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "a.txt"
    path.write_bytes(random_words().replace(b" a", b"\n"))
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "t.json"
    toksmith.train(texts=["low lower lowest"], vocab_size=260, progress=False).save(path)
    return path


@pytest.fixture(scope="module")
def counts(long_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("counts") / "a.parquet"
    run("counts", "make", str(long_file), "-o", str(path), "-q")
    return path


def run(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "toksmith", *arguments], check=True)


@pytest.mark.parametrize("command", ["counts make", "counts merge", "tokenize"])
def test_commands(command: str, long_file: Path, model: Path, counts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    read = counts if command == "counts merge" else long_file
    arguments = {
        "counts make": [*[str(read)] * 4, "-o", str(out / "a.parquet"), "-q"],
        "counts merge": [*[str(read)] * 4, "-o", str(out / "a.parquet"), "-q"],
        "tokenize": [
            *(*[str(read)] * 4, "-t", str(model), "--format", "megatron", "--no-eos"),
            *("-o", str(out / "ids"), "-q"),
        ],
    }[command]
    process = subprocess.Popen(
        [sys.executable, "-m", "toksmith", *command.split(), *arguments],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        if command == "tokenize":  # reads its files in one go
            while process.poll() is None and not (out / "ids").exists():
                time.sleep(0.01)
        else:
            wait_until_it_reads(process.pid, read)
        assert process.poll() is None, "ended before it could be interrupted"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, err[:21]) == (130, b"toksmith: interrupted")
    assert b"Traceback" not in err
    if command != "tokenize":  # its folder keeps what goes on when the same command runs again
        assert list(out.iterdir()) == []
