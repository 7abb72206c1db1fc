"""Runs any kind of model on one chunk, by one function."""

from __future__ import annotations

from functools import partial
from itertools import accumulate, pairwise

from toksmith._base.checks import assert_never
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
from toksmith.reference import (
    ChunkModel,
    Token,
    bpe,
    character_bpe,
    longest_match,
    sentencepiece_bpe,
    unigram,
    wordpiece,
)

__all__ = ["ChunkModel", "Token", "chunk_model"]


def chunk_model(model: Model) -> ChunkModel:
    """Return a function from a chunk to its tokens."""
    match model:
        case BPE():
            return _run_bpe(model)
        case WordPiece():
            return partial(wordpiece.encode_word, model)
        case WordLevel():
            return partial(longest_match.encode_whole, model)
        case LongestMatch():
            return partial(longest_match.encode_longest, model)
        case CharacterBPE():
            return partial(character_bpe.encode_chunk, model, bpe.merge_table(model))
        case SentencePieceBPE():
            return sentencepiece_bpe.Merger(model).encode
        case Unigram():
            lattice = unigram.Lattice(model)
            return lambda chunk: unigram.tokens(model, chunk, unigram.viterbi(lattice, chunk))
        case _:
            assert_never(model)


def _run_bpe(model: BPE) -> ChunkModel:
    table = bpe.merge_table(model)

    def run(chunk: bytes) -> list[Token]:
        ids = bpe.encode_chunk(model, table, chunk)
        places = pairwise(accumulate((len(model.vocab[i]) for i in ids), initial=0))
        return [Token(i, start, end) for i, (start, end) in zip(ids, places, strict=True)]

    def run_with_missing(chunk: bytes) -> list[Token]:
        ids = bpe.encode_chunk(model, table, chunk)
        if model.whole_chunk_first and chunk in model.ids:
            return [Token(ids[0], 0, len(chunk))]
        first, found, at = bpe.first_tokens(model, chunk), [], 0
        for token_id in ids:  # an unknown token is one symbol, any other as many as it has bytes
            is_unknown = token_id == model.unk_id and first[at].id == token_id
            end = at + (1 if is_unknown else len(model.vocab[token_id]))
            found.append(Token(token_id, first[at].start, first[end - 1].end))
            at = end
        return found

    return run_with_missing if model.missing_bytes else run
