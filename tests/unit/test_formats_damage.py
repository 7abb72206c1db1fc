"""Damaged files: a thousand of each kind, from fixed seeds.

Whatever happens is a typed error or a tokenizer that works. ``TOKSMITH_DAMAGE=20000`` does more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.damage import KINDS
from tests.kits.bpe import pipeline
from toksmith import formats
from toksmith.errors import FormatError

ROUNDS = int(os.environ.get("TOKSMITH_DAMAGE", "400"))


@pytest.mark.parametrize("kind", KINDS)
def test_damage(tmp_path: Path, kind: str) -> None:
    command = [sys.executable, "-m", "tests.damage", kind, str(ROUNDS), str(tmp_path)]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert report["failures"] == [], report["failures"][0]
    # The damage is real, and not all of it is fatal.
    assert report["refused"] + report["working"] + report["halting"] == ROUNDS
    assert report["refused"] > ROUNDS // 4
    assert report["working"] > 0


def test_every_truncation(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    formats.write(pipeline(), path)
    sound = path.read_bytes()
    for end in range(0, len(sound) - 2, 37):  # the last bytes are the brace and a line end
        path.write_bytes(sound[:end])
        with pytest.raises(FormatError):
            formats.read(path)
