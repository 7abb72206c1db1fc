"""Train, load, run, look into and compare tokenizers.

>>> import toksmith
>>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
>>> tok.encode("lowest")
[257, 101, 115, 116]
"""

from __future__ import annotations

from toksmith import errors
from toksmith.loading import get, load
from toksmith.tokenizer import Tokenizer
from toksmith.trainers import Counts, train
from toksmith.types import Batch, Encoding, Inputs, Span

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


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version  # slow to import, and seldom asked for

        return version("toksmith")
    raise AttributeError(f"module 'toksmith' has no attribute {name!r}")
