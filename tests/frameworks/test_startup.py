"""TOKSMITH_TRANSFORMERS=1 in a new process, with transformers itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import toksmith
from tests.unit.test_startup import run

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

SCRIPT = """
import json
from transformers import PreTrainedTokenizerFast
tokenizer = PreTrainedTokenizerFast(tokenizer_file={file!r})
ids = tokenizer(["Hello world", "a"]).input_ids
from toksmith.compat.transformers import engine_of
print(json.dumps([ids, engine_of(tokenizer)]))
"""


@pytest.mark.parametrize(("value", "engine"), [("1", "toksmith: kernel"), ("0", "transformers: ")])
def test_a_script_runs_on_toksmith(value: str, engine: str, tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    tok = toksmith.get("toksmith-small")
    tok.save(file)
    done = run(SCRIPT.format(file=str(file)), value, tmp_path)
    ids, found = json.loads(done.stdout)
    assert ids == [tok.encode("Hello world"), tok.encode("a")]
    assert found.startswith(engine)
    assert "RuntimeWarning" not in done.stderr
