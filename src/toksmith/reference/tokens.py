"""The types of a model's output for one chunk, and of the function that computes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class Token(NamedTuple):
    """One token of a chunk.

    Attributes:
        id: its id.
        start: the start of its text in the chunk, in bytes.
        end: where that ends.
    """

    id: int
    start: int
    end: int


ChunkModel: TypeAlias = Callable[[bytes], list[Token]]
"""A function from the UTF-8 of a chunk (for byte-level models, any bytes) to its tokens."""
