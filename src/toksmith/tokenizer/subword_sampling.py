"""Subword sampling: the n best segmentations of a text, and random segmentations.

Subword regularization (Kudo 2018) trains a model on many segmentations of the same text. A Unigram
model knows the probability of each; a BPE model skips merges at random (BPE-dropout, Provilkov et
al. 2020).

The stages are those of encoding; only the function that encodes a chunk differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import nlargest
from math import exp
from random import Random
from typing import TypeAlias

from toksmith._base.arrays import IdArray, SpanArray
from toksmith._base.lazy import np, npt
from toksmith._base.text import Text
from toksmith.engine.stepwise import StepwiseEncoder
from toksmith.errors import OptionError, UnsupportedError
from toksmith.models import (
    BPE,
    CharacterBPE,
    Model,
    SentencePieceBPE,
    Unigram,
)
from toksmith.pipeline import Pipeline
from toksmith.reference import (
    bpe,
    character_bpe,
    sentencepiece_bpe,
    unigram,
    unigram_sampling,
)
from toksmith.results import Batch, stack
from toksmith.tokenizer.encode import Special, TextEncoder

MOST = 1024
"""The largest ``nbest_size``; SentencePiece has the same limit."""

ChunkIds: TypeAlias = Callable[[bytes], list[int]]


def draw(
    pipeline: Pipeline,
    text: Text,
    special: Special,
    *,
    seed: int | None,
    alpha: float | None,
    nbest_size: int,
    dropout: float | None,
) -> IdArray:
    """Return the ids of a random segmentation.

    The arguments are those of :meth:`Tokenizer.sample`.

    Raises:
        UnsupportedError: the model has only one segmentation.
        OptionError: an argument is out of range, or is for another kind of model.
    """
    rng = Random(seed)
    if isinstance(pipeline.model, Unigram):
        if dropout is not None:
            raise OptionError("dropout is for BPE; a Unigram model takes alpha and nbest_size")
        alpha = _number("alpha", 1.0 if alpha is None else alpha)
        if not 0 <= alpha < float("inf"):
            raise OptionError(f"alpha is {alpha}: use 0 or more")
        if nbest_size >= 0:
            found = best(pipeline, text, max(nbest_size, 1), special)
            weights = [exp(alpha * (score - found[0][1])) for _, score in found]
            return rng.choices([ids for ids, _ in found], weights)[0]
        lattice = unigram.Lattice(pipeline.model)
        share = alpha
        return _encode(pipeline, text, special, lambda c: _draw_way(lattice, c, share, rng))
    if alpha is not None or nbest_size >= 0:
        name = "alpha" if alpha is not None else "nbest_size"
        raise OptionError(f"{name} is for Unigram models; BPE models take dropout")
    dropped = make_dropout_encoder(pipeline.model)
    if dropout is None:
        dropout = getattr(pipeline.model, "dropout", None)
    if dropout is None:
        raise OptionError(
            "dropout is missing: give the probability that a merge is skipped, such as 0.1"
        )
    chance = _number("dropout", dropout)
    if not 0 <= chance <= 1:
        raise OptionError(f"dropout is {chance}: use a probability, from 0 to 1")
    return _encode(pipeline, text, special, lambda chunk: dropped(chunk, chance, rng))


def best(
    pipeline: Pipeline, text: Text, size: int, special: Special
) -> list[tuple[IdArray, float]]:
    """Return the ids and scores of the best segmentations, the best first.

    Raises:
        UnsupportedError: the model does not score segmentations.
    """
    model = pipeline.model
    if not isinstance(model, Unigram):
        raise UnsupportedError(
            f"{type(model).__name__} does not score segmentations: nbest needs a Unigram model"
        )
    if size > MOST:
        raise OptionError(f"{size} segmentations are too many: use {MOST} or fewer")
    lattice = unigram.Lattice(model)
    chunks: list[list[tuple[list[int], float]]] = []

    def ranked(chunk: bytes) -> list[int]:
        found = unigram_sampling.nbest(lattice, chunk, size)
        chunks.append([([token.id for token in tokens], score) for tokens, score in found])
        return []

    _encode(pipeline, text, special, ranked)
    results = []
    for ranks, score in _rank_combinations(
        [[score for _, score in found] for found in chunks], size
    ):
        chosen = [found[rank][0] for found, rank in zip(chunks, ranks, strict=True)]
        results.append((_encode(pipeline, text, special, _replay(chosen)), score))
    return results


def _rank_combinations(scores: list[list[float]], size: int) -> list[tuple[list[int], float]]:
    """Return the best choices of one score from each list, as ranks, with their sums."""
    # Per list, the best partial choices: the sum, the index of the choice before, the rank here.
    columns: list[list[tuple[float, int, int]]] = [[(0.0, 0, 0)]]
    for choices in scores:
        longer = [
            (total + score, way, rank)
            for way, (total, _, _) in enumerate(columns[-1])
            for rank, score in enumerate(choices)
        ]
        columns.append(nlargest(size, longer, key=lambda way: way[0]))
    found = []
    for last, (total, _, _) in enumerate(columns[-1]):
        ranks, way = [], last
        for column in reversed(columns[1:]):
            _, way, rank = column[way]
            ranks.append(rank)
        found.append((ranks[::-1], total))
    return found


def make_dropout_encoder(model: Model) -> Callable[[bytes, float, Random], list[int]]:
    """Return a function that encodes a chunk and skips merges at random."""
    match model:
        case BPE():
            table = bpe.merge_table(model)
            return lambda chunk, chance, rng: bpe.sample_chunk(model, table, chunk, chance, rng)
        case CharacterBPE():
            return _drop_character_bpe(model)
        case SentencePieceBPE():
            merger = sentencepiece_bpe.Merger(model)
            return lambda chunk, chance, rng: [t.id for t in merger.encode(chunk, chance, rng)]
        case _:
            raise UnsupportedError(
                f"{type(model).__name__} has only one segmentation of a text: sampling "
                "needs BPE or Unigram"
            )


def _drop_character_bpe(model: CharacterBPE) -> Callable[[bytes, float, Random], list[int]]:
    table = bpe.merge_table(model)

    def run(chunk: bytes, chance: float, rng: Random) -> list[int]:
        tokens = character_bpe.encode_chunk(model, table, chunk, chance, rng)
        return [token.id for token in tokens]

    return run


def _draw_way(lattice: unigram.Lattice, chunk: bytes, alpha: float, rng: Random) -> list[int]:
    return [token.id for token in unigram_sampling.sample(lattice, chunk, alpha, rng)]


class _Chunks:
    """Runs a function on each chunk, in order, without a cache (a ``ChunkEncoder``)."""

    def __init__(self, run: ChunkIds) -> None:
        self._run = run

    def encode_chunks(self, data: bytes, bounds: npt.NDArray[np.int64], threads: int) -> Batch:
        return stack(
            [np.array(self._run(data[start:end]), np.uint32) for start, end in bounds.tolist()]
        )

    def encode_chunks_with_spans(
        self, data: bytes, bounds: npt.NDArray[np.int64]
    ) -> tuple[Batch, SpanArray]:
        raise NotImplementedError

    def forget(self, cache_bytes: int | None = None) -> None:
        pass


def _encode(pipeline: Pipeline, text: Text, special: Special, run: ChunkIds) -> IdArray:
    encoder = StepwiseEncoder(pipeline, _Chunks(run))
    return TextEncoder(pipeline, encoder).encode(text, special, 1)


def _replay(results: Iterable[list[int]]) -> ChunkIds:
    remaining = iter(results)
    return lambda chunk: next(remaining)


def _number(name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # checked by the except clause
    except (TypeError, ValueError):
        raise OptionError(f"{name} is {value!r:.80}: use a number") from None
