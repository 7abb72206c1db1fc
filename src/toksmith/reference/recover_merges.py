"""Finds the merges of a vocabulary that comes without them, such as tiktoken's files of ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from toksmith._base.lazy import np, npt


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
