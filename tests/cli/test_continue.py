"""``toksmith train --continue``."""

from __future__ import annotations

from pathlib import Path

import toksmith
from tests.cli.conftest import Run


def test_continue(run: Run, corpus_file: Path, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "more.json"
    ran = run("train", corpus_file, "--continue", model, "-o", path, "--vocab-size", 290)
    assert (ran.code, ran.err) == (0, "")
    assert "10 merges" in ran.out.decode()
    old, new = toksmith.load(model), toksmith.load(path)
    assert new.vocab_size == 290
    assert new.special_tokens == old.special_tokens == {"<|end|>": 279}
    assert [new.token_bytes(i) for i in range(280)] == [old.token_bytes(i) for i in range(280)]


def test_continue_refuses_before_reading(
    run: Run, corpus_file: Path, model: Path, tmp_path: Path
) -> None:
    arguments = ("train", corpus_file, "--continue", model, "-o", tmp_path / "a.model")
    ran = run(*arguments, "--vocab-size", 290)  # minbpe has special tokens at the end alone
    assert ran.code == 2
    assert "minbpe" in ran.err
    ran = run(*arguments, "--vocab-size", 290, "--option", "unit=characters")
    assert ran.err.startswith("toksmith: error: --option unit is ")
    ran = run(*arguments[:-1], tmp_path / "a.json", "--vocab-size", 200)
    assert "the tokenizer has 280 ids, so no token could be learned" in ran.err
    assert list(tmp_path.iterdir()) == []
