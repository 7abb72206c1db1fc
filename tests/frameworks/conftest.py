"""Fixtures of the tests inside other frameworks."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import toksmith


def _complete_torchvision() -> None:
    """Let torchvision be imported beside a PyTorch that its compiled part was not built for.

    mosaicml-streaming imports it for images, which no test here reads. pip finds builds of it for
    GPUs, and PyTorch may be a build for CPUs, which lacks two operators that torchvision names.
    """
    try:
        importlib.import_module("torchvision")
    except ImportError:
        pass
    except RuntimeError:
        define = importlib.import_module("torch").library.define
        for name in ("nms", "qnms"):
            define(f"torchvision::{name}", "(Tensor boxes, Tensor scores, float limit) -> Tensor")


_complete_torchvision()


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
