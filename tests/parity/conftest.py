"""Our tokenizers and those of the peers, made of the same files."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith import Tokenizer


@pytest.fixture(scope="session")
def ours(shared: Path, tiktoken_encoding: Callable[[str], Any]) -> Callable[[str], Tokenizer]:
    """``ours(name)``: our tokenizer of tiktoken's ranks, pattern and special tokens."""

    @cache
    def build(name: str) -> Tokenizer:
        theirs = tiktoken_encoding(name)
        return toksmith.load(
            shared / f"data/vocab/{name}.tiktoken",
            split=theirs._pat_str,
            special_tokens=theirs._special_tokens,
        )

    return build
