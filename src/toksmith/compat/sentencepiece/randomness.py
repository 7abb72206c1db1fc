"""The source of randomness of all samples of this module."""

from __future__ import annotations

from random import Random

RANDOM = Random()


def set_random_generator_seed(seed: int) -> None:
    """Seed the samples that follow.

    Args:
        seed: a number; equal seeds give equal samples, but not those of SentencePiece.
    """
    RANDOM.seed(seed)
