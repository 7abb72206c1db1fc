"""Fixtures of the tests inside other frameworks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import toksmith


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A tokenizer.json."""
    path = tmp_path / "tokenizer.json"
    toksmith.get("toksmith-small").save(path)
    return path


@pytest.fixture
def unpatched() -> Iterator[None]:
    """Take back what the test activated."""
    from toksmith.compat import transformers as fast

    yield
    fast.deactivate()
