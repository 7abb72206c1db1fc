"""The kernel while Python ends, and outside its main interpreter."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
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


# What happens at the end of a process while daemon threads are inside of other native calls.
BUSY = """
import tempfile, threading, toksmith
from toksmith.engine.counting import ChunkCounter
from toksmith.splitters import splitter
text = "".join(map(chr, range(0x3400, 0xD800))) * 9 + "the quick brown fox " * 90_000
tok = toksmith.train(texts=[text[-999:]], vocab_size=280)
ids = tok.encode_array(text)
batch = toksmith.Batch(ids, [0, len(ids)])
file = tempfile.NamedTemporaryFile("w", encoding="utf-8")
file.write(text)
file.flush()
def count():
    counter = ChunkCounter(splitter("gpt4"), {threads})
    counter.add_texts([text] * 9)
    counter.finish()
calls = [
    lambda: tok.encode_batch([text] * 3, threads={threads}),
    lambda: tok.encode_file(file.name, threads={threads}),
    lambda: tok.count(text, threads={threads}),
    lambda: tok.encoding(text),
    lambda: tok.decode(ids),
    lambda: tok.decode_bytes(ids, threads={threads}),
    lambda: tok.decode_batch(batch, threads={threads}),
    count,
    lambda: toksmith.train(texts=[text], vocab_size=400, threads={threads}, progress=False),
    lambda: toksmith.train(
        texts=[text[-999:]] * 900, model="sentencepiece-bpe", vocab_size=30, progress=False
    ),
]
for call in calls if {imports_first} else ():
    call()
begun = threading.Barrier(len(calls) + 1)
def work(call):
    begun.wait()
    while True:
        call()
for call in calls:
    threading.Thread(target=work, args=[call], daemon=True).start()
begun.wait()
calls[0]()
"""


WITHOUT_GIL = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


@pytest.mark.parametrize("threads", [1, 2])
def test_the_process_ends_while_daemon_threads_are_in_native_calls(threads: int) -> None:
    # CPython without a GIL may itself hang at its end while threads import (docs/kernel.md).
    ended = run(BUSY.format(threads=threads, imports_first=WITHOUT_GIL))
    assert (ended.returncode, ended.stderr) == (0, "")


SUB_INTERPRETER = """
try:
    import _interpreters as sub
except ImportError:
    import _xxsubinterpreters as sub
use = "import toksmith; toksmith.get('toksmith-small').encode('low')"
found = sub.run_string(sub.create(), use)
raise SystemExit(getattr(found, "formatted", found))
"""


# A finalizer runs inside a native call, where a collection begins in CPython before 3.12, and waits
# for the GIL when Python ends. The call begins without code of Python, which would collect first.
FINALIZER = """
import builtins, gc, threading, time, toksmith
from functools import partial
class SlowEnd:
    def __del__(self):
        time.sleep(0.3)
class Garbage:
    def __init__(self):
        self.cycle = self
    def __del__(self):
        begun.set()
        time.sleep(0.1)
builtins.end = SlowEnd()
begun = threading.Event()
tok = toksmith.train(texts=["low lower"], vocab_size=258)
tok.encode_array("low")
kernel = toksmith.engine.compile(tok.pipeline)._encoder
calls = [partial(gc.enable), partial(kernel.encode_texts, ["low"], 1)]
def call():
    gc.disable()
    gc.set_threshold(1)
    Garbage()
    list(map(partial.__call__, calls))
threading.Thread(target=call, daemon=True).start()
begun.wait()
"""


@pytest.mark.skipif(WITHOUT_GIL, reason="CPython may itself hang there (docs/kernel.md)")
def test_the_process_ends_while_a_finalizer_runs_in_a_native_call() -> None:
    ended = run(FINALIZER)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_sub_interpreter_is_refused() -> None:
    ended = run(SUB_INTERPRETER)
    assert ended.returncode == 1
    assert "toksmith runs in Python's main interpreter only" in ended.stderr
