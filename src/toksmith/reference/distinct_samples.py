r"""Random paths through a lattice that all differ: sampling without replacement.

Drawing again until the paths differ would take long where one path has nearly all the probability.
Gumbel top-k does it in one search. Give each path the number ``log p + Gumbel noise``: the path
with the largest number is a sample of ``p``, and the k paths with the largest numbers are k samples
without replacement. The noise of all paths need not be drawn: the largest number in a set of paths
is ``log(sum of p) + Gumbel noise`` itself. So a search from the end of the lattice starts with the
number of the set of all paths; taking one more edge splits a set into smaller ones, whose numbers
are drawn on condition that their maximum is the number of the set; and a heap gives the sets in
the order of their numbers until k paths are complete.

Kool, van Hoof & Welling 2019, "Stochastic Beams and Where to Find Them".
"""

from __future__ import annotations

import math
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import NamedTuple

from toksmith.reference.unigram import Edge
from toksmith.reference.unigram_sampling import EdgesTo, forward


class DistinctSample(NamedTuple):
    """A path that was drawn.

    Attributes:
        edges: its edges.
        log_probability: the logarithm of the probability of the path.
        number: ``log_probability`` with its noise; samples come in descending order of it.
    """

    edges: list[Edge]
    log_probability: float
    number: float


def distinct_samples(
    edges_to: EdgesTo, size: int, alpha: float, rng: Random, start: int = 0
) -> list[DistinctSample]:
    """Draw paths to the last place that all differ.

    Args:
        edges_to: the edges that end at each later place, from left to right.
        size: the number of paths; the result has fewer if there are fewer.
        alpha: a path has a probability proportional to ``exp(alpha * score)``.
        rng: the source of randomness.
        start: the first place.

    Example:
        >>> both = {1: [Edge(1, 0, 1, -1.0), Edge(2, 0, 1, -9.0)]}
        >>> sorted(sample.edges[0].id for sample in distinct_samples(both, 2, 1.0, Random(1)))
        [1, 2]
    """
    total = forward(edges_to, alpha, start)
    last = max(edges_to, default=start)
    order = count()  # so that the heap never compares paths
    # A set of paths: all those that end with these edges. Heaps give the smallest, so signs turn.
    heap: list[tuple[float, int, float, int, tuple[Edge, ...]]] = []
    heappush(heap, (-_gumbel(rng), next(order), 0.0, last, ()))
    found: list[DistinctSample] = []
    while heap and len(found) < size:
        negative, _, share, place, path = heappop(heap)
        if place == start:
            found.append(DistinctSample(list(path), share, -negative))
            continue
        edges = edges_to[place]
        shares = [share + total[edge.start] + alpha * edge.score - total[place] for edge in edges]
        numbers = _with_maximum(-negative, [each + _gumbel(rng) for each in shares])
        for edge, each, number in zip(edges, shares, numbers, strict=True):
            heappush(heap, (-number, next(order), each, edge.start, (edge, *path)))
    return found


def log_inclusion(log_probability: float, threshold: float) -> float:
    """Return the logarithm of the probability that a path is among the samples.

    Args:
        log_probability: that of the path.
        threshold: the number of the first path that was left out.

    Example:
        >>> round(math.exp(log_inclusion(math.log(0.5), 0.0)), 4)
        0.3935
    """
    return math.log(-math.expm1(-math.exp(log_probability - threshold)))


def _gumbel(rng: Random) -> float:
    """Draw from the Gumbel distribution."""
    return -math.log(-math.log(rng.uniform(1e-300, 1 - 2**-53)))


def _with_maximum(most: float, numbers: list[float]) -> list[float]:
    """Return Gumbel numbers on condition that the largest is ``most`` (appendix B.3)."""
    largest = max(numbers)
    found = []
    for number in numbers:
        if number == largest:
            found.append(most)
            continue
        over = most - number + math.log1p(-math.exp(number - largest))
        found.append(most - max(0.0, over) - math.log1p(math.exp(-abs(over))))
    return found
