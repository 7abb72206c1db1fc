"""Pipelines from ranks, with the ids that a pipeline cannot hold replaced by others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith.engine.portable import recover_merges
from toksmith.errors import OptionError
from toksmith.formats.gap_patterns import uncover_gaps
from toksmith.framing import Framing
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter

_SPARE_IDS = 1 << 18
"""Ids without a token, beyond which ids are replaced: each takes memory."""

_MOST = 2**32
_BYTES = tuple(bytes([byte]) for byte in range(256))


class Ranked(NamedTuple):
    """A pipeline, and the ids of its tokens where they are not its own.

    Attributes:
        pipeline: the stages.
        outer: the id of each token of the pipeline; -1 for a byte that has none. ``None`` if the
            ids are the pipeline's own.
    """

    pipeline: Pipeline
    outer: OffsetArray | None


def ranked_pipeline(
    ranks: Mapping[bytes, int], special_tokens: Mapping[str, int], pattern: str
) -> Ranked:
    """Return the pipeline of an encoding.

    Args:
        ranks: the rank, which is the id, of each token.
        special_tokens: the ids of special tokens by literal; they may be ids of other tokens.
        pattern: the split pattern; text between its matches is dropped.

    Raises:
        ValueError: two tokens have one rank, a rank or id is out of range, or the pattern does not
            compile.
    """
    splitter = uncover_gaps(pattern)
    _check_ids([*ranks.values(), *special_tokens.values()])
    if len(set(ranks.values())) < len(ranks):
        raise OptionError("two tokens of mergeable_ranks have the same rank: each needs its own")
    highest = max([*ranks.values(), *special_tokens.values()], default=-1)
    missing = [byte for byte in _BYTES if byte not in ranks]
    special_ids = set(special_tokens.values())
    is_sparse = highest >= len(ranks) + len(special_tokens) + _SPARE_IDS
    if not (missing or is_sparse or special_ids & set(ranks.values())):
        vocab = [b""] * (max(ranks.values()) + 1)
        for token, rank in ranks.items():
            vocab[rank] = token
        return Ranked(_pipeline(vocab, special_tokens, splitter), None)
    # Other ids in the same order: only the order of the ranks decides what merges first.
    tokens = [*sorted(ranks, key=ranks.__getitem__), *missing]
    inner = {token: len(tokens) + place for place, token in enumerate(special_tokens)}
    outer = [*(ranks.get(token, -1) for token in tokens), *special_tokens.values()]
    return Ranked(_pipeline(tokens, inner, splitter), np.array(outer, np.int64))


def _check_ids(ids: Iterable[int]) -> None:
    for token_id in ids:
        if not isinstance(token_id, int) or not 0 <= token_id < _MOST:
            raise OptionError(f"a token has id {token_id!r:.80}: use 0 to {_MOST - 1}")


def _pipeline(
    vocab: Iterable[bytes], special_tokens: Mapping[str, int], splitter: PatternSplitter
) -> Pipeline:
    first: dict[int, str] = {}
    aliases = {
        literal: token_id
        for literal, token_id in special_tokens.items()
        if first.setdefault(token_id, literal) != literal
    }
    framing = Framing.of({literal: token_id for token_id, literal in first.items()}, aliases)
    return Pipeline(BPE(tuple(vocab), recover_merges, whole_chunk_first=True), splitter, framing)
