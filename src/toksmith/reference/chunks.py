"""The model of a pipeline on one chunk: every kind of model behind one call."""

from __future__ import annotations

from functools import partial, singledispatch
from itertools import accumulate, pairwise

from toksmith.models import BPE, LongestMatch, Model, WordLevel, WordPiece
from toksmith.reference import bpe, wordpiece, words
from toksmith.reference.tokens import ChunkModel, Token

__all__ = ["ChunkModel", "Token", "chunk_model"]


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


@chunk_model.register
def _(model: WordPiece) -> ChunkModel:
    return partial(wordpiece.encode_word, model)


@chunk_model.register
def _(model: WordLevel) -> ChunkModel:
    return partial(words.encode_whole, model)


@chunk_model.register
def _(model: LongestMatch) -> ChunkModel:
    return partial(words.encode_longest, model)
