"""The kernel while Python ends, and outside its main interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


# Each text shows the kernel blocks of characters that it has to look up in Python.
DAEMON = """
import threading, toksmith
texts = ["the quick brown fox jumps over the lazy dogs and the words"] * 9
tok = toksmith.train(texts=texts, model="sentencepiece-bpe", vocab_size=40)
texts = ["".join(map(chr, range(start, 0xD800, 64))) * 20 for start in range(0x3400, 0x3440)]
begun = threading.Event()
def encode():
    while True:
        fresh = toksmith.Tokenizer(tok.pipeline)
        for text in texts:
            fresh.encode_array(text, threads={threads})
            begun.set()
for _ in range(3):
    threading.Thread(target=encode, daemon=True).start()
begun.wait()
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_the_process_ends_while_daemon_threads_encode(threads: int) -> None:
    for _ in range(5):
        ended = run(DAEMON.format(threads=threads))
        assert (ended.returncode, ended.stderr) == (0, "")


def test_a_sub_interpreter_is_refused() -> None:
    pytest.importorskip("_xxsubinterpreters")
    ended = run(
        "import _xxsubinterpreters as sub\n"
        "sub.run_string(sub.create(), 'import toksmith.engine.kernel')"
    )
    assert ended.returncode == 1
    assert "toksmith runs in Python's main interpreter only" in ended.stderr
