"""What a model makes of one chunk, and what makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class Token(NamedTuple):
    """One token of a chunk.

    Attributes:
        id: its id.
        start: where what it stands for starts in the chunk, in bytes.
        end: where that ends.
    """

    id: int
    start: int
    end: int


ChunkModel: TypeAlias = Callable[[bytes], list[Token]]
"""What turns the UTF-8 of a chunk into tokens. For byte-level models it may be any bytes."""
