"""Byte-pair encoding of one chunk, as its inventors describe it.

A chunk starts as its single bytes. Look at all neighbouring pairs; join the one whose merge was
learned earliest (the leftmost, if it occurs in several places); look again; stop when no pair
has a merge. Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units";
on bytes instead of characters as in GPT-2 (Radford et al. 2019).

This takes n² steps for a chunk of n bytes. The kernel finds the same tokens in n log n.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from toksmith.models import BPE, CharacterBPE

Pair: TypeAlias = "tuple[int, int]"


class Merge(NamedTuple):
    """The merge of a pair: its place in the list of merges, and the id of the result."""

    rank: int
    new: int


def merge_table(model: BPE | CharacterBPE) -> dict[Pair, Merge]:
    """Return the model's merges by pair.

    Example:
        >>> vocab = tuple(bytes([b]) for b in range(256)) + (b"ab",)
        >>> merge_table(BPE(vocab, [[97, 98, 256]]))
        {(97, 98): Merge(rank=0, new=256)}
    """
    return {
        (left, right): Merge(rank, new)
        for rank, (left, right, new) in enumerate(model.merges.tolist())
    }


def encode_chunk(model: BPE, table: Mapping[Pair, Merge], chunk: bytes) -> list[int]:
    """Return the ids of one chunk.

    Args:
        model: the vocabulary.
        table: its merges, from :func:`merge_table`.
        chunk: bytes; need not be UTF-8.

    Example:
        >>> vocab = tuple(bytes([b]) for b in range(256)) + (b"ab", b"abc")
        >>> model = BPE(vocab, [[97, 98, 256], [256, 99, 257]])
        >>> encode_chunk(model, merge_table(model), b"abcab")
        [257, 256]
    """
    if model.whole_chunk_first and chunk in model.ids:
        return [model.ids[chunk]]
    ids = [model.byte_ids[byte] for byte in chunk]
    for merged, _ in merge_steps(table, ids):
        ids = merged
    return ids


def merge_steps(table: Mapping[Pair, Merge], ids: Sequence[int]) -> Iterator[tuple[list[int], int]]:
    """Merge until nothing is left to merge.

    Yields:
        After each merge, the ids and the position of the new one.

    Example:
        >>> list(merge_steps({(1, 2): Merge(0, 9)}, [1, 2, 1, 2]))
        [([9, 1, 2], 0), ([9, 9], 1)]
    """
    ids = list(ids)
    while (position := earliest_merge(table, ids)) is not None:
        merge = table[ids[position], ids[position + 1]]
        ids = [*ids[:position], merge.new, *ids[position + 2 :]]
        yield ids, position


def earliest_merge(table: Mapping[Pair, Merge], ids: Sequence[int]) -> int | None:
    """Return the position of the pair to merge first: of the lowest rank, then leftmost."""
    ranked = [
        (table[pair].rank, position) for position, pair in enumerate(pairwise(ids)) if pair in table
    ]
    return min(ranked)[1] if ranked else None


def decode(model: BPE, ids: Iterable[int]) -> bytes:
    """Return the bytes of ids."""
    return b"".join(model.vocab[token_id] for token_id in ids)
