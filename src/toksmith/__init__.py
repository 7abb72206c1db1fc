"""Train, load, run, look into and compare tokenizers.

>>> import toksmith
>>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
>>> tok.encode("lowest")
[257, 101, 115, 116]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from toksmith import errors, lazy

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

_find = lazy.names(
    __name__,
    {
        "get": "loading",
        "load": "loading",
        "Tokenizer": "tokenizer",
        "Counts": "trainers",
        "train": "trainers",
        "Batch": "types",
        "Encoding": "types",
        "Inputs": "types",
        "Span": "types",
    },
)

_PACKAGES = (
    "decoders",
    "formats",
    "framing",
    "models",
    "normalizers",
    "reference",
    "splitters",
    "trainers",
)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("toksmith")
    if name in _PACKAGES:
        return import_module(f"{__name__}.{name}")
    return _find(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
