"""Tests of converting token files from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.test_tokenize_corpus import contents, write, write_corpus
from toksmith.tokenfiles import convert_tokens
from toksmith.tokenfiles.formats import NAMES
from toksmith.tokenfiles.manifest import read_manifest

TEXTS = [f"low lower {number} " * (number % 4) for number in range(12)]
EOS: dict[str, Any] = {"eos": 16382, "eos_place": "after", "empty": "frame"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus in all formats, with the same eos."""
    folder = tmp_path_factory.mktemp("written")
    path = write_corpus(folder / "corpus.jsonl", TEXTS)
    for name in NAMES:
        write(path, folder / name, format=name, split="train=0.7,val=0.3", **EOS)
    return folder


@pytest.mark.parametrize("old", NAMES)
def test_the_bytes_are_those_of_tokenizing(written: Path, tmp_path: Path, old: str) -> None:
    for new in NAMES:
        if new != old:
            done = convert_tokens(written / old, format=new, output=tmp_path / new, progress=False)
            assert contents(tmp_path / new) == contents(written / new), new
            assert read_manifest(tmp_path / new) == done == read_manifest(written / new)
