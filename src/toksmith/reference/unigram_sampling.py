r"""Segmentations of a Unigram lattice besides the best: the n best ones, and random ones.

- :func:`nbest` keeps the n best paths to each position instead of one.
- :func:`sample` draws a path at random, with a probability given by its score.
- :func:`entropy` says how uncertain the choice is.

Kudo 2018, "Subword Regularization". The lattice is that of :mod:`~toksmith.reference.unigram`.
:mod:`~toksmith.reference.distinct_samples` draws paths that all differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import accumulate
from random import Random
from typing import TypeAlias

from toksmith.reference import Token
from toksmith.reference.unigram import Edge, Lattice, no_unknown_piece, starts, tokens

EdgesTo: TypeAlias = Mapping[int, Sequence[Edge]]
"""The edges that end at each place, from left to right."""


def nbest(lattice: Lattice, chunk: bytes, size: int) -> list[tuple[list[Token], float]]:
    """Return the best paths through a chunk with their scores, the best first.

    Args:
        lattice: the model.
        chunk: UTF-8.
        size: the number of paths; a short chunk may have fewer.

    Example:
        >>> from toksmith.models import Unigram
        >>> model = Unigram((b"<unk>", b"a", b"b", b"ab"), [0, -1, -2, -2.5], [2, 1, 1, 1])
        >>> nbest(Lattice(model), b"ab", 2)
        [([Token(id=3, start=0, end=2)], -2.5), \
([Token(id=1, start=0, end=1), Token(id=2, start=1, end=2)], -3.0)]
    """
    model = lattice.model
    return [
        (tokens(model, chunk, path), score) for path, score in nbest_paths(lattice, chunk, size)
    ]


def nbest_paths(lattice: Lattice, chunk: bytes, size: int) -> list[tuple[list[Edge], float]]:
    """Return the edges of the best paths through a chunk; see :func:`nbest`."""
    return paths_through(incoming(lattice, chunk), size)


def paths_through(edges_to: EdgesTo, size: int, start: int = 0) -> list[tuple[list[Edge], float]]:
    """Return the best paths from a place to the last, and the score of each, the best first.

    Args:
        edges_to: the edges that end at each later place, from left to right.
        size: the number of paths; a short chunk may have fewer.
        start: the place.
    """
    # A path to a place: its score, its last edge, and the rank of the path to its start.
    best: dict[int, list[tuple[float, Edge | None, int]]] = {start: [(0.0, None, 0)]}
    place = start
    for place, edges in edges_to.items():
        longer = [
            (score + edge.score, edge, rank)
            for edge in edges
            for rank, (score, _, _) in enumerate(best[edge.start])
        ]
        best[place] = nlargest(size, longer, key=lambda path: path[0])
    found = []
    for score, edge, rank in best[place]:
        path: list[Edge] = []
        while edge is not None:
            path.append(edge)
            _, edge, rank = best[edge.start][rank]
        found.append((path[::-1], score))
    return found


def sample(lattice: Lattice, chunk: bytes, alpha: float, rng: Random) -> list[Token]:
    """Draw a path through a chunk with a probability proportional to ``exp(alpha * score)``.

    Forward filtering, backward sampling: the total weight of all paths to each place is summed up
    from left to right; then edges are drawn from the end back to the start, each by the share of
    the paths through it.

    Args:
        lattice: the model.
        chunk: UTF-8.
        alpha: 0 is uniform; a larger value prefers better paths.
        rng: the source of randomness.
    """
    edges_to = incoming(lattice, chunk)
    path, _ = sample_path(edges_to, forward(edges_to, alpha), alpha, rng)
    return tokens(lattice.model, chunk, path)


def sample_path(
    edges_to: EdgesTo, total: Mapping[int, float], alpha: float, rng: Random, start: int = 0
) -> tuple[list[Edge], float]:
    """Draw a path to the last place; return its edges and the logarithm of its probability.

    Args:
        edges_to: the edges that end at each later place, from left to right.
        total: what :func:`forward` returns for them.
        alpha: see :func:`sample`.
        rng: the source of randomness.
        start: the first place.
    """
    path: list[Edge] = []
    place = last = max(edges_to, default=start)
    score = 0.0
    while place > start:
        weights = [
            math.exp(total[edge.start] + alpha * edge.score - total[place])
            for edge in edges_to[place]
        ]
        path.append(draw(edges_to[place], weights, rng))
        place = path[-1].start
        score += alpha * path[-1].score
    return path[::-1], score - total[last]


def forward(edges_to: EdgesTo, alpha: float = 1.0, start: int = 0) -> dict[int, float]:
    """Return the logarithm of the total weight of all paths to each place (forward algorithm).

    Args:
        edges_to: the edges that end at each later place, from left to right.
        alpha: the weight of a path is ``exp(alpha * score)``.
        start: the first place.

    Example:
        >>> both = [Edge(1, 0, 1, math.log(0.3)), Edge(2, 0, 1, math.log(0.2))]
        >>> round(math.exp(forward({1: both})[1]), 6)
        0.5
    """
    total = {start: 0.0}
    for place, edges in edges_to.items():
        total[place] = log_sum([total[edge.start] + alpha * edge.score for edge in edges])
    return total


def entropy(edges_to: EdgesTo, alpha: float = 1.0, start: int = 0) -> float:
    """Return the entropy of the paths to the last place, in nats.

    One pass from left to right suffices: the entropy of the paths to a place is that of the choice
    of the last edge, plus the mean of the entropies of the places where these edges start.
    Hernando, Crespi & Cybenko 2005, "Efficient computation of the hidden Markov model entropy for
    a given observation sequence".

    Args:
        edges_to: the edges that end at each later place, from left to right.
        alpha: a path has a probability proportional to ``exp(alpha * score)``.
        start: the first place.

    Example:
        >>> round(entropy({1: [Edge(1, 0, 1, -2.0), Edge(2, 0, 1, -2.0)]}), 6)  # log 2
        0.693147
    """
    total = forward(edges_to, alpha, start)
    found = {start: 0.0}
    for place, edges in edges_to.items():
        shares = [total[edge.start] + alpha * edge.score - total[place] for edge in edges]
        found[place] = sum(
            math.exp(share) * (found[edge.start] - share)
            for edge, share in zip(edges, shares, strict=True)
        )
    return found[max(edges_to, default=start)]


def incoming(lattice: Lattice, chunk: bytes) -> dict[int, list[Edge]]:
    """Return the edges that end at each place where a character ends, from left to right."""
    edges_to: dict[int, list[Edge]] = {place: [] for place in [*starts(chunk)[1:], len(chunk)]}
    if not chunk:
        return {}
    for start in starts(chunk):
        for edge in lattice.edges(chunk, start, in_characters=True):
            if edge.id is None:
                raise no_unknown_piece(chunk, start)
            if edge.end in edges_to:  # a piece of invalid UTF-8 may end inside a character
                edges_to[edge.end].append(edge)
    return edges_to


def log_sum(logarithms: Sequence[float]) -> float:
    """Return the logarithm of the sum of numbers that are given by their logarithms."""
    most = max(logarithms)
    return most + math.log(sum(math.exp(value - most) for value in logarithms))


def draw(choices: Sequence[Edge], weights: Sequence[float], rng: Random) -> Edge:
    """Draw one of some choices by their weights."""
    sums = list(accumulate(weights))
    point = rng.random() * sums[-1]
    return next(
        (c for c, reached in zip(choices, sums, strict=True) if point < reached), choices[-1]
    )
