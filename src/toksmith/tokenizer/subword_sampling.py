"""Subword sampling: the n best segmentations of a text, random ones, and their entropy.

Subword regularization (Kudo 2018) trains a model on many segmentations of the same text. A Unigram
model knows the probability of each; a BPE model skips merges at random (BPE-dropout, Provilkov et
al. 2020).

The stages are those of encoding; only the function that encodes a chunk differs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
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
from toksmith.reference.distinct_samples import distinct_samples, log_inclusion
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
        alpha = _power(1.0 if alpha is None else alpha)
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
    if size > MOST:
        raise OptionError(f"{size} segmentations are too many: use {MOST} or fewer")
    lattice = _TextLattice(pipeline, text, special)
    ways = unigram_sampling.paths_through(lattice.edges_to, size)
    return [(lattice.ids_of(path), score) for path, score in ways]


def draw_several(
    pipeline: Pipeline,
    text: Text,
    count: int,
    special: Special,
    *,
    seed: int | None,
    alpha: float,
    distinct: bool,
    include_best: bool,
) -> list[tuple[IdArray, float]]:
    """Return the ids and scores of random segmentations.

    The arguments are those of :meth:`Tokenizer.samples`.

    Raises:
        UnsupportedError: the model does not score segmentations.
        OptionError: an argument is out of range.
    """
    if include_best and not distinct:
        raise OptionError(
            "include_best is set, but distinct is not: only samples that differ have a place for "
            "the best segmentation"
        )
    lattice = _TextLattice(pipeline, text, special)
    ways = sample_ways(
        lattice.edges_to, count, _power(alpha), Random(seed), distinct=distinct,
        include_best=include_best,
    )  # fmt: skip
    return [(lattice.ids_of(path), score) for path, score in ways]


def sample_ways(
    edges_to: unigram_sampling.EdgesTo,
    count: int,
    alpha: float,
    rng: Random,
    *,
    distinct: bool,
    include_best: bool,
) -> list[tuple[list[unigram.Edge], float]]:
    """Return random ways through a lattice with their scores; see :meth:`Tokenizer.samples`."""
    if not distinct:
        total = unigram_sampling.forward(edges_to, alpha)
        return [unigram_sampling.sample_path(edges_to, total, alpha, rng) for _ in range(count)]
    best = unigram_sampling.paths_through(edges_to, 1)[0][0] if include_best else None
    drawn = distinct_samples(edges_to, count + 1, alpha, rng)
    others = [each for each in drawn if each.edges != best]
    kept = others[: count - include_best]
    left_out = others[len(kept) :]
    found = [] if best is None else [(best, 0.0)]
    for each in kept:
        score = log_inclusion(each.log_probability, left_out[0].number) if left_out else 0.0
        found.append((each.edges, score))
    return found


def entropy(pipeline: Pipeline, text: Text, special: Special, alpha: float) -> float:
    """Return the entropy of the segmentations of a text, in nats.

    Raises:
        UnsupportedError: the model does not score segmentations.
        OptionError: ``alpha`` is out of range.
    """
    return unigram_sampling.entropy(_TextLattice(pipeline, text, special).edges_to, _power(alpha))


class _TextLattice:
    """The lattices of the chunks of a text, one after the other.

    Raises:
        UnsupportedError: the model does not score segmentations.
    """

    def __init__(self, pipeline: Pipeline, text: Text, special: Special) -> None:
        model = pipeline.model
        if not isinstance(model, Unigram):
            raise UnsupportedError(
                f"{type(model).__name__} does not score segmentations: only a Unigram model does"
            )
        self._model = model
        self._arguments = pipeline, text, special
        self._chunks: list[bytes] = []
        self.edges_to: dict[int, list[unigram.Edge]] = {}
        lattice = unigram.Lattice(model)
        size = 0

        def record(chunk: bytes) -> list[int]:
            nonlocal size
            self._chunks.append(chunk)
            for place, edges in unigram_sampling.incoming(lattice, chunk).items():
                self.edges_to[place + size] = [
                    edge._replace(start=edge.start + size, end=edge.end + size) for edge in edges
                ]
            size += len(chunk)
            return []

        _encode(pipeline, text, special, record)

    def ids_of(self, path: list[unigram.Edge]) -> IdArray:
        """Return the ids of a way, with those of special tokens in the text."""
        found: list[list[int]] = []
        edges = deque(path)
        start = 0
        for chunk in self._chunks:
            end = start + len(chunk)
            part = []
            while edges and edges[0].end <= end:
                edge = edges.popleft()
                part.append(edge._replace(start=edge.start - start, end=edge.end - start))
            found.append([token.id for token in unigram.tokens(self._model, chunk, part)])
            start = end
        return _encode(*self._arguments, _replay(found))


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


def _power(alpha: object) -> float:
    power = _number("alpha", alpha)
    if not 0 <= power < float("inf"):
        raise OptionError(f"alpha is {power}: use 0 or more")
    return power


def _number(name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # checked by the except clause
    except (TypeError, ValueError):
        raise OptionError(f"{name} is {value!r:.80}: use a number") from None
