"""The bounds of docs/concepts/caches-threads-memory.md, each measured in a process of its own."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

MEASURED = """
import random, sys
from pathlib import Path
import numpy, toksmith

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")

def size(name):
    return int(STATUS.read_text().partition(name + ":")[2].split()[0]) << 10

def measure(call):
    '''Return the most memory that a call takes, in bytes, and its result.'''
    RESET.write_text("5")  # the peak begins anew
    before = size("VmRSS")
    result = call()
    return size("VmHWM") - before, result

MIB = 1 << 20
rng = random.Random(1)
text = " ".join("".join(rng.choices("abcdefghij", k=8)) for _ in range(200_000))

def load():
    tok = toksmith.load(sys.argv[1])
    tok.encode_array("low")
    return tok

taken, tok = measure(load)
print("load", taken, 32 * MIB + 512 * tok.vocab_size)
taken, ids = measure(lambda: tok.encode_array(text, threads=2))
cache = 2 * 48 * MIB
print("encode_array", taken, cache + 16 * len(ids))
taken, listed = measure(lambda: tok.encode(text, threads=2))
print("encode", taken, cache + 48 * len(ids))
taken, _ = measure(lambda: tok.decode(ids))
print("decode", taken, 16 * MIB + 4 * len(text))
taken, _ = measure(lambda: tok.count(text, threads=2))
print("count", taken, cache + 16 * len(ids))

tok.forget()
before = size("VmRSS")
for _ in range(3):
    tok.encode_array(text * 8, threads=2)
print("kept", size("VmRSS") - before, cache + 192 * MIB)
"""

TRAINED = """
import sys, toksmith
from pathlib import Path
toksmith.train(files=sys.argv[1], vocab_size=2_000, memory="64M", threads=2)
peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) << 10
print("train", peak, (64 + 192) << 20)
"""

WRITABLE = Path("/proc/self/clear_refs").exists()


def check(program: str, *given: str) -> None:
    """Run a program that prints what was measured and its bound, a line each."""
    ran = subprocess.run(
        [sys.executable, "-c", program, *given], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
    for line in ran.stdout.splitlines():
        name, taken, bound = line.split()
        assert int(taken) < int(bound), f"{name} takes {taken} bytes, more than {bound}"


@pytest.mark.skipif(not WRITABLE, reason="needs /proc")
def test_a_tokenizer_and_its_calls() -> None:
    check(MEASURED, "toksmith-small")


@pytest.mark.skipif(not WRITABLE, reason="needs /proc")
def test_training(tmp_path: Path) -> None:
    rng = random.Random(1)
    words = ("".join(rng.choices("abcdefghij", k=8)) for _ in range(300_000))
    (tmp_path / "a.txt").write_text(" ".join(words))
    check(TRAINED, str(tmp_path / "a.txt"))
