"""What trainers return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toksmith.lazy import np, npt
from toksmith.pipeline import Pipeline


@dataclass(frozen=True, eq=False)
class Trained:
    """What a trainer returns; see :class:`~toksmith.training_record.TrainingRecord`."""

    pipeline: Pipeline
    vocab_size: int
    chunks: int
    tokens: int = 0
    merges: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    counts: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    tokens_after: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    skipped: Mapping[str, int] = field(default_factory=dict)
