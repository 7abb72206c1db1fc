"""Tests of checking token files: what is right passes, and each kind of damage is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.test_tokenize_corpus import write, write_corpus
from toksmith.tokenfiles import TokenCheck, verify_tokens

TEXTS = [f"low lower {number} " * (number % 4) for number in range(60)]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus.jsonl", TEXTS)


def check(folder: Path, **options: Any) -> TokenCheck:
    return verify_tokens(folder, progress=False, **options)


ALL = [
    {},
    {"split": "train=0.7,val=0.3"},
    {"shuffle": True, "seed": 4, "split": "train=0.7,val=0.3"},
    {"sequence_length": 16},
    {"sequence_length": 16, "shuffle": True},
    {"empty": "drop"},
    {"empty": "bare", "bos": 3},
    {"eos": False, "shuffle": True},
    {"bos": 3, "eos_place": "before"},
]


@pytest.mark.parametrize("name", ["megatron", "nanogpt", "llmc"])
@pytest.mark.parametrize("options", ALL)
def test_right_files_pass(corpus: Path, tmp_path: Path, name: str, options: dict[str, Any]) -> None:
    write(corpus, tmp_path / "out", format=name, **options)
    for sample in (1.0, 0.2):
        found = check(tmp_path / "out", sample=sample)
        assert (found.problems, found.is_ok, found.counts) == ((), True, {})
        assert found.documents >= (45 if sample == 1 else 5)


def test_a_changed_bit_is_found(corpus: Path, tmp_path: Path) -> None:
    write(corpus, tmp_path / "out")
    path = tmp_path / "out" / "train_text_document.bin"
    ids = np.fromfile(path, "<u2")
    ids[10] ^= 1
    ids.tofile(path)
    found = check(tmp_path / "out")
    assert not found.is_ok
    assert [problem.file for problem in found.problems] == [path.name, path.name]
    assert found.counts == {"files": 1, "documents": 1}
    file, document = found.problems
    assert file.what.startswith("its SHA-256 is ")
    assert (document.split, document.shard, document.document) == ("train", 0, 2)
    assert document.what.startswith("token ")
