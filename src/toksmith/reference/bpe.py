"""Byte-pair encoding of one chunk, as its inventors describe it.

A chunk starts as its single bytes. Look at all neighbouring pairs; join the one whose merge was
learned earliest (the leftmost, if it occurs in several places); look again; stop when no pair
has a merge. Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units";
on bytes instead of characters as in GPT-2 (Radford et al. 2019).

This takes n² steps for a chunk of n bytes. The kernel finds the same tokens in n log n.

BPE-dropout skips merges at random: a model that trains on many segmentations of the same text
becomes robust to rare ones. Provilkov et al. 2020, "BPE-Dropout: Simple and Effective Subword
Regularization".

Vocabularies without merges, such as tiktoken's files of ranks, have theirs recovered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple, TypeAlias

from toksmith._base.lazy import np, npt
from toksmith.models import BPE, CharacterBPE
from toksmith.reference import Token

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
    ids = [token.id for token in first_tokens(model, chunk)]
    for merged, _ in merge_steps(table, ids):
        ids = merged
    return ids


def first_tokens(model: BPE, chunk: bytes) -> list[Token]:
    """Return the token of each byte; a byte without an id becomes the unknown token, or nothing.

    Example:
        >>> model = BPE((b"a", b"b", b"<unk>"), [], unk_id=2)
        >>> [token.id for token in first_tokens(model, b"abxa")]
        [0, 1, 2, 0]
    """
    found: list[Token] = []
    last_unknown = -1
    for place, byte in enumerate(chunk):
        token_id = model.byte_ids[byte]
        if token_id >= 0:
            found.append(Token(token_id, place, place + 1))
        elif model.unk_id is not None:
            fused = model.fuse_unk and last_unknown == place - 1 and place > 0
            start = found.pop().start if fused else place
            found.append(Token(model.unk_id, start, place + 1))
            last_unknown = place
    return found


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
    ids = [token.id for token in first_tokens(model, chunk)]
    while (position := draw_merge(table, ids, dropout, rng)) is not None:
        ids[position : position + 2] = [table[ids[position], ids[position + 1]].new]
    return ids


def recover_merges(vocab: Sequence[bytes]) -> npt.NDArray[np.uint32]:
    """Find the merges of a vocabulary that has none, such as tiktoken's.

    tiktoken keeps no list of merges: it joins the neighbours whose joined bytes are a token, the
    token of the lowest id first. So the merge of a token is the last pair before the token is
    complete: the two parts of its bytes when they are encoded with all *other* tokens. A token
    that leaves more than two parts is never made by merging and gets no merge; only a chunk of
    exactly its bytes becomes the token.

    Args:
        vocab: the bytes of each id, in rank order; ``b""`` marks an id without bytes. If
            several ids have equal bytes, the lowest counts.

    Returns:
        uint32, shape ``(n, 3)``: left id, right id, resulting id, in rank order.

    Example:
        >>> vocab = [bytes([b]) for b in range(256)] + [b"ab", b"abc"]
        >>> recover_merges(vocab).tolist()
        [[97, 98, 256], [256, 99, 257]]
    """
    ids = {token: token_id for token_id, token in reversed(list(enumerate(vocab))) if token}
    merges = []
    for token, token_id in sorted(ids.items(), key=lambda item: item[1]):
        parts = _parts_without(ids, token)
        if len(parts) == 2:
            merges.append((ids[parts[0]], ids[parts[1]], token_id))
    return np.array(merges, np.uint32).reshape(-1, 3)


def _parts_without(ids: Mapping[bytes, int], token: bytes) -> list[bytes]:
    """Encode a token's bytes as tiktoken does, with all tokens but this one."""
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 2:
        joined = [left + right for left, right in pairwise(parts)]
        ranked = [(ids[part], position) for position, part in enumerate(joined) if part in ids]
        if not ranked:
            break
        position = min(ranked)[1]
        parts[position : position + 2] = [joined[position]]
    return parts
