"""BPE-dropout: encode a chunk with merges skipped at random.

A model that trains on many segmentations of the same text becomes robust to rare ones. Provilkov et
al. 2020, "BPE-Dropout: Simple and Effective Subword Regularization".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random

from toksmith.models import BPE
from toksmith.reference.bpe import Merge, Pair


def draw_merge(
    table: Mapping[Pair, Merge], ids: Sequence[int], dropout: float, rng: Random
) -> int | None:
    """Return the position of the pair to merge, if each pair is skipped with a probability.

    At each step, every pair is skipped with probability ``dropout``; if all are, merging ends.
    """
    kept = [
        (table[pair].rank, position)
        for position, pair in enumerate(pairwise(ids))
        if pair in table and rng.random() >= dropout
    ]
    return min(kept)[1] if kept else None


def sample_chunk(
    model: BPE, table: Mapping[Pair, Merge], chunk: bytes, dropout: float, rng: Random
) -> list[int]:
    """Return the ids of one chunk with merges skipped at random; see :func:`draw_merge`."""
    ids = [model.byte_ids[byte] for byte in chunk]
    while (position := draw_merge(table, ids, dropout, rng)) is not None:
        ids[position : position + 2] = [table[ids[position], ids[position + 1]].new]
    return ids
