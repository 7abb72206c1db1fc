"""Train, load, run, look into and compare tokenizers.

>>> import toksmith
>>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
>>> tok.encode("lowest")
[257, 101, 115, 116]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toksmith import errors

if TYPE_CHECKING:
    from toksmith.loading import get, load
    from toksmith.tokenizer import Tokenizer
    from toksmith.trainers import Counts, train
    from toksmith.types import Batch, Encoding, Inputs, Span

    __version__: str

__all__ = [
    "Batch",
    "Counts",
    "Encoding",
    "Inputs",
    "Span",
    "Tokenizer",
    "__version__",
    "errors",
    "get",
    "load",
    "train",
]

# What is imported when it is first asked for: who loads a tokenizer need not wait for training.
_MODULES = {
    "get": "toksmith.loading",
    "load": "toksmith.loading",
    "Tokenizer": "toksmith.tokenizer",
    "Counts": "toksmith.trainers",
    "train": "toksmith.trainers",
    "Batch": "toksmith.types",
    "Encoding": "toksmith.types",
    "Inputs": "toksmith.types",
    "Span": "toksmith.types",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("toksmith")
    if name not in _MODULES:
        raise AttributeError(f"module 'toksmith' has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(_MODULES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
