"""The model of a pipeline on one chunk: every kind of model behind one call."""

from __future__ import annotations

from functools import partial, singledispatch
from itertools import accumulate, pairwise

from toksmith.models import (
    BPE,
    CharacterBPE,
    LongestMatch,
    Model,
    SentencePieceBPE,
    Unigram,
    WordLevel,
    WordPiece,
)
from toksmith.reference import bpe, character_bpe, sentencepiece_bpe, unigram, wordpiece, words
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


@chunk_model.register
def _(model: CharacterBPE) -> ChunkModel:
    return partial(character_bpe.encode_chunk, model, bpe.merge_table(model))


@chunk_model.register
def _(model: SentencePieceBPE) -> ChunkModel:
    return sentencepiece_bpe.Merger(model).encode


@chunk_model.register
def _(model: Unigram) -> ChunkModel:
    lattice = unigram.Lattice(model)
    return lambda chunk: unigram.tokens(model, chunk, unigram.viterbi(lattice, chunk))
