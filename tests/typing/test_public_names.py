"""public_names.py runs, and uses every public name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import toksmith
from tests.typing import public_names


def test_the_file_runs(tmp_path: Path) -> None:
    pytest.importorskip("icu4py")
    pytest.importorskip("sentencex")
    public_names.main(tmp_path)


def test_the_file_uses_every_public_name() -> None:
    source = Path(public_names.__file__).read_text("utf-8")
    names = {name for name in toksmith.__all__ if not re.search(rf"\b{name}\b", source)}
    assert names == set()


def test_the_file_uses_every_method_of_a_tokenizer() -> None:
    source = Path(public_names.__file__).read_text("utf-8")
    methods = {name for name in dir(toksmith.Tokenizer) if not name.startswith("_")}
    left = {name for name in methods if not re.search(rf"\.{name}\b", source)}
    # Each has its own tests; the file above shows the calls that most people make.
    assert left == {
        *("encode_file", "explain_token", "name", "nbest", "sample", "samples"),
        *("segmentation_entropy", "training"),
    }
