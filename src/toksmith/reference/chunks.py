"""The model of a pipeline on one chunk: every kind of model behind one call."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeAlias

from toksmith.models import BPE, Model
from toksmith.reference import bpe


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


@singledispatch
def chunk_model(model: Model) -> ChunkModel:
    """Return what runs a model."""
    raise NotImplementedError(type(model))


@chunk_model.register
def _(model: BPE) -> ChunkModel:
    table = bpe.merge_table(model)

    def run(chunk: bytes) -> list[Token]:
        ids = bpe.encode_chunk(model, table, chunk)
        places = pairwise(accumulate((len(model.vocab[i]) for i in ids), initial=0))
        return [Token(i, start, end) for i, (start, end) in zip(ids, places, strict=True)]

    return run
