"""A short run of every fuzz target, and the inputs that once failed.

``TOKSMITH_FUZZ=20000`` tries more inputs; ``make fuzz`` also reports what the targets reach.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("resource")
pytest.importorskip("starlette")

from tests.fuzz.running import REFUSED, Subject
from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).parents[2]
INPUTS = os.environ.get("TOKSMITH_FUZZ", "60")
GROUPS = [[*TARGETS][first::6] for first in range(6)]
"""Targets that share a process: most of the time of a short run is its start."""

UNCLOSED = {
    "type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": False,
}  # fmt: skip
ENDLESS = {
    "type": "Precompiled",
    "precompiled_charsmap": "CAAAAAAAAAAAAAAAYQ==",  # two units, and a text without an end
}
DIGITS = b"_tensor:" + b"9" * 5000
NESTED = b"[" * 100_000


@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
def test_damaged_inputs(names: list[str], tmp_path: Path) -> None:
    """Each input is refused by a typed error, or gives a result that works."""
    command = [sys.executable, "-m", "tests.fuzz", "--worker", str(tmp_path), "--inputs", INPUTS]
    for name in names:
        command += ["--target", name]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    reports = [*map(json.loads, ran.stdout.splitlines())]
    for name, report in zip(names, reports, strict=False):
        assert report["failures"] == [], f"{name}: {report['failures'][0]}"
        assert report["refused"], name
    assert (ran.returncode, len(reports)) == (0, len(names)), ran.stderr


def with_value(data: bytes, *place: Any, value: object) -> bytes:
    """Return JSON with another value at a place."""
    held = inner = json.loads(data)
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return json.dumps(held).encode()


def seed_of(subject: Subject, file: str) -> bytes:
    """Return the seed that damages a file of a folder; the first seed of other targets."""
    return next(
        seed for seed in subject.seeds if not file or seed.startswith(file.encode() + b"\n")
    )


FOUND: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("token manifest", lambda _: NESTED),
    ("token manifest", lambda seed: with_value(seed, "files", 0, "name", value="a\ud800")),
    ("token manifest", lambda seed: with_value(seed, "files", 0, "name", value="a\0")),
    ("token journal", lambda seed: seed + NESTED + b"\n"),
    ("token journal", lambda _: NESTED + b"\n\n"),
    ("token journal", lambda seed: seed.replace(b'"splits": {"train": [1, 2', b'"splits": [[1, 2')),
    ("token journal", lambda seed: seed.replace(b'"shard": 0', b'"shard": Infinity')),
    ("token journal", lambda seed: seed.replace(b'"documents": 2', b'"documents": "2"')),
    ("litdata token files:train/index.json", lambda seed: seed.replace(b"_tensor:", DIGITS)),
    ("tokenizer.json", lambda seed: with_value(seed, "pre_tokenizer", value=UNCLOSED)),
    ("tokenizer.json", lambda seed: with_value(seed, "normalizer", value=ENDLESS)),
    ("corpus in Parquet", lambda seed: seed.replace(b"text", b"te\xffx")),
]  # fmt: skip
"""Changes of the seed of a target, or of its file after ":", that once raised another error."""


@pytest.mark.parametrize("number", range(len(FOUND)))
def test_inputs_that_failed(number: int, tmp_path: Path) -> None:
    target, change = FOUND[number]
    name, _, file = target.partition(":")
    subject = TARGETS[name].prepare(tmp_path)
    seed = seed_of(subject, file)
    data = change(seed)
    assert data != seed
    assert subject.try_one(data) == REFUSED
