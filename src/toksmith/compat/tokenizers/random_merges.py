"""Byte pair encoding that skips merges at random (BPE-dropout), with a queue of merges.

Provilkov et al. 2020, "BPE-Dropout: Simple and Effective Subword Regularization".
:func:`~toksmith.reference.bpe.draw_merge` says which merge is next; here the time does not grow
with the square of the length of the word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from random import Random

from toksmith.reference import Token
from toksmith.reference.bpe import Merge, Pair


def merge_at_random(
    table: Mapping[Pair, Merge], symbols: Sequence[Token], dropout: float, rng: Random
) -> list[Token]:
    """Return the tokens of a word.

    Args:
        table: the merges, from :func:`~toksmith.reference.bpe.merge_table`.
        symbols: the word before all merges.
        dropout: the probability that a merge is skipped, drawn again at each step.
        rng: the source of randomness.

    Example:
        >>> merges, word = {(0, 0): Merge(0, 1)}, [Token(0, 0, 1), Token(0, 1, 2)]
        >>> [merge_at_random(merges, word, chance, Random(1)) for chance in (0.0, 1.0)]
        [[Token(id=1, start=0, end=2)], [Token(id=0, start=0, end=1), Token(id=0, start=1, end=2)]]
    """
    tokens: list[Token | None] = [*symbols]
    size = len(tokens)
    before, after = [*range(-1, size - 1)], [*range(1, size + 1)]  # the neighbours of each token
    queue = [
        (table[left.id, right.id].rank, place, left.id, right.id)
        for place, (left, right) in enumerate(pairwise(symbols))
        if (left.id, right.id) in table
    ]
    heapify(queue)
    skipped = []
    while queue:
        entry = heappop(queue)
        _, place, *pair = entry
        left = tokens[place]
        right = tokens[after[place]] if after[place] < size else None
        if left is None or right is None or [left.id, right.id] != pair:
            continue  # a merge of a neighbour came first
        if rng.random() < dropout:
            skipped.append(entry)
            continue
        for each in skipped:
            heappush(queue, each)
        skipped.clear()
        tokens[place] = Token(table[left.id, right.id].new, left.start, right.end)
        tokens[after[place]] = None
        after[place] = after[after[place]]
        if after[place] < size:
            before[after[place]] = place
        for first, second in ((before[place], place), (place, after[place])):
            if first < 0 or second == size:
                continue
            ids = _id(tokens[first]), _id(tokens[second])
            if ids in table:
                heappush(queue, (table[ids].rank, first, *ids))
    return [token for token in tokens if token is not None]


def _id(token: Token | None) -> int:
    assert token is not None, "a neighbour is a token that was not merged into another"
    return token.id
