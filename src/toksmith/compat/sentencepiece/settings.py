"""SentencePiece's global settings, and its other file format."""

from __future__ import annotations

from random import Random
from typing import Any, NoReturn

from toksmith.errors import UnsupportedError

RANDOM = Random()
"""The source of randomness of all samples."""

_nbest_seconds = 0.0


def set_random_generator_seed(seed: int) -> None:
    """Seed the samples that follow.

    Args:
        seed: a number; equal seeds give equal samples, but not those of SentencePiece.
    """
    RANDOM.seed(seed)


def set_min_log_level(v: int) -> None:
    """Accept SentencePiece's log level; nothing is logged here.

    Args:
        v: the level.
    """


def set_nbest_timeout(timeout_ms: int) -> None:
    """Limit the time of n-best searches; one that takes longer returns the best alone.

    Args:
        timeout_ms: the limit in milliseconds; 0, as at first, for none.
    """
    global _nbest_seconds
    _nbest_seconds = max(timeout_ms, 0) / 1000


def nbest_seconds() -> float:
    """Return the time limit of n-best searches; 0 for none."""
    return _nbest_seconds


def set_data_dir(data_dir: str) -> None:
    """Accept SentencePiece's directory of normalization rules; toksmith has its own.

    Args:
        data_dir: the directory.
    """


def convert_to_flatbuffer(*args: Any, **options: Any) -> NoReturn:
    """Refuse to write SentencePiece's FlatBuffers format.

    Args:
        args: those of SentencePiece.
        options: those of SentencePiece.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError(
        "toksmith does not write FlatBuffers models (.spm.fb): SentencePiece converts a .model"
    )
