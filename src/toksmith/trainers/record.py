"""What a training did, in figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toksmith.lazy import np, npt
from toksmith.pipeline import Pipeline


@dataclass(frozen=True, eq=False)
class TrainingRecord:
    """What a tokenizer was trained on and with.

    Attributes:
        model: the kind of model.
        vocab_size: ids, special tokens included.
        merges: merges made; 0 for models without.
        documents: documents read; 0 where training was from counts.
        bytes: bytes of text.
        chunks: distinct chunks.
        tokens: tokens of the training text, once trained; 0 where training does not tell.
        seconds: from start to end.
        options: what the caller asked for.
        counts: uint64, shape ``(merges,)``: how often the pair of each merge stood in the text when
            it was chosen.
        tokens_after: uint64, shape ``(merges,)``: tokens of the training text after each merge.
            Because BPE is nested, this is the text's length for every smaller vocabulary as well.
        skipped: lines that were left out, by reason; empty where none was.
    """

    model: str
    vocab_size: int
    merges: int
    documents: int
    bytes: int
    chunks: int
    tokens: int
    seconds: float
    options: Mapping[str, Any] = field(default_factory=dict)
    counts: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    tokens_after: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    skipped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Trained:
    """What a trainer returns; the attributes are those of :class:`TrainingRecord`."""

    pipeline: Pipeline
    vocab_size: int
    chunks: int
    tokens: int = 0
    merges: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    counts: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    tokens_after: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    skipped: Mapping[str, int] = field(default_factory=dict)
