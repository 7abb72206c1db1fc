"""Ctrl-C during counting and training: it ends native work in the middle."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.counting import PLAIN
from tests.processes import POSIX, wait_until_it_reads
from toksmith.engine.counting import ChunkCounter, LineCounter
from toksmith.engine.training import (
    MergeRules,
    SymbolWords,
    UnigramWords,
    merge_symbols,
)
from toksmith.reference.piece_rules import PieceRules
from toksmith.splitters import splitter

RANDOM = random.Random(13)
LETTERS = "abcdefghijklmnop"
TIMES = 700  # so often, the lines take a second and more


@cache
def lines() -> str:
    draw = random.Random(13)
    return "".join(
        "".join(draw.choices(LETTERS, k=draw.randrange(1, 8))) + draw.choice("   \n")
        for _ in range(200_000)
    )


@contextmanager
def interrupted_soon() -> Any:
    """Send SIGINT a tenth of a second after the start of what is done here."""

    def interrupt() -> None:
        time.sleep(0.1)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        thread.start()
        yield
        thread.join()  # the work ended first: what it did shows that
        time.sleep(0.1)
    thread.join()


@pytest.mark.parametrize(
    "make",
    [
        lambda: ChunkCounter(splitter("gpt4"), 1),
        lambda: ChunkCounter(splitter("gpt2"), 2),
        lambda: LineCounter(1),
        lambda: LineCounter(2, plain=PLAIN),
    ],
)
def test_counting(make: Callable[[], Any]) -> None:
    def total(counter: Any) -> int:
        found = counter.finish()
        counts = found.counts if hasattr(found, "counts") else found[2]
        return int(counts.sum()) + (int(found.plain[2].sum()) if hasattr(found, "plain") else 0)

    counter = make()
    counter.add_texts([lines()])
    once = total(counter)
    counter = make()
    with interrupted_soon():
        counter.add_texts([lines()] * TIMES)
    counter.add_texts([lines()])  # it can still be used
    assert once <= total(counter) < once * TIMES


def test_merging_counted_chunks() -> None:
    letters = np.frombuffer(RANDOM.randbytes(8 * 1_500_000), np.uint8) % 26 + 97
    letters.reshape(-1, 8)[:, 0] = ord(" ")
    with TemporaryFile(buffering=0) as file:
        counter = ChunkCounter(splitter("gpt4"), 1)
        counter.spill_to(1 << 22, file.fileno())
        counter.add_texts([letters.tobytes()])
        with interrupted_soon():
            counter.merge(1, 1, 1 << 20)
        # The runs were consumed: a part of the counts must not pass for all of them.
        with pytest.raises(Exception, match=r"call merge\(\) first"):
            counter.finish()
        with pytest.raises(Exception, match="after an interruption"):
            counter.merge(1, 1, 1 << 20)


def words(size: int) -> SymbolWords:
    """Return one word of random symbols."""
    symbols = np.random.default_rng(3).integers(0, 16, size, dtype=np.uint32)
    return SymbolWords(symbols, np.array([size], np.uint64), np.array([1], np.uint64), 16)


def test_finding_the_pairs_before_the_first_merge() -> None:
    kept: list[int] = []
    given = words(24_000_000)
    with interrupted_soon():
        merge_symbols(
            given, 1, MergeRules("first-seen"),
            keep=lambda more: kept.append(len(more.merges)), keep_seconds=1000,
        )  # fmt: skip
    assert kept == []  # after a merge, that is handed over


def test_sorting_the_suffixes_of_unigram() -> None:
    rounds: list[int] = []
    given = UnigramWords("abcdefghijklmnop", PieceRules())
    given.add(words(4_000_000))
    given.finish()
    with interrupted_soon():
        given.learn(
            seeds=100_000, enough=10_000, shrinking_factor=0.75, sub_iterations=2,
            watch=lambda done, *_: rounds.append(done),
        )  # fmt: skip
    assert rounds == []


@pytest.fixture(scope="module")
def long_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "a.txt"
    path.write_text(lines() * 100, encoding="utf-8")
    return path


@POSIX
@pytest.mark.parametrize(
    "model", ["bpe", "wordpiece", "sentencepiece-bpe", "sentencepiece-unigram", "word", "char"]
)
def test_training_on_the_command_line(model: str, long_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    size = [] if model in ("word", "char") else ["--vocab-size", "5000"]
    file = "t.model" if model.startswith("sentencepiece") else "t.json"
    command = [
        *(sys.executable, "-m", "toksmith", "train", *[str(long_file)] * 4, "-m", model, *size),
        *("-o", str(out / file), "-q"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        wait_until_it_reads(process.pid, long_file)
        assert process.poll() is None, "ended before it could be interrupted"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert err.startswith(b"toksmith: interrupted: ")
    assert err.endswith(b"starts over. Counts would be kept: see --checkpoint\n")
    assert list(out.iterdir()) == []


def test_while_numpy_is_imported_for_the_first_array() -> None:
    script = (
        "import sys, toksmith\n"
        "tok = toksmith.get('toksmith-small')\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'numpy':\n"
        "            raise KeyboardInterrupt\n"
        "for name in [name for name in sys.modules if name.split('.')[0] == 'numpy']:\n"
        "    del sys.modules[name]\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from toksmith import _kernel\n"
        "counter = _kernel.ChunkCounter(_kernel.Splitter('gpt2'), '')\n"
        "try:\n"
        "    counter.finish()\n"
        "except KeyboardInterrupt:\n"
        "    print('heard')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == ("heard\n", "")


def test_memory_ends_with_one_line(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "long.txt"
    path.write_bytes(b"ab" * 20_000_000)
    script = (
        "import resource, sys, toksmith\n"
        "toksmith.train(texts=['low lower'], vocab_size=258)\n"
        "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size + 400_000_000,) * 2)\n"
        "try:\n"
        "    toksmith.train(sys.argv[1], vocab_size=300, split=None, threads=1)\n"
        "except toksmith.errors.TrainingError as error:\n"
        "    print(error)\n"
        "print(toksmith.train(texts=['low lower'], vocab_size=258).encode('low'))\n"
    )
    if not hasattr(resource, "RLIMIT_AS") or not Path("/proc/self/statm").exists():
        pytest.skip("limits of Linux")
    ran = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    first, second = ran.stdout.splitlines()
    assert first.startswith("there is not enough memory for the distinct chunks of this text")
    assert second == str(toksmith.train(texts=["low lower"], vocab_size=258).encode("low"))
