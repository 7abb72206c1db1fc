"""Permutations computed from a seed: a shuffle of any size that takes no memory.

A Feistel network permutes the integers of a fixed number of bits. Results outside the range go
through it again (*cycle walking*) until they are inside, which makes a permutation of the range.

Source: Black and Rogaway 2002, "Ciphers with Arbitrary Finite Domains". The round function is the
finalizer of SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from typing import Any

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np, npt

_ROUNDS = 8  # even, so that halves of different sizes end where they began


class Permutation:
    """A permutation of ``0`` to ``count - 1``; equal on all machines and versions of NumPy.

    Args:
        count: the number of values.
        seed: whole numbers of 0 or more that choose the permutation, such as a seed and an epoch.

    Example:
        >>> shuffle = Permutation(6, 42, 0)
        >>> sorted(shuffle(np.arange(6)).tolist())
        [0, 1, 2, 3, 4, 5]
    """

    def __init__(self, count: int, *seed: int) -> None:
        self._count = np.uint64(count)
        bits = max(2, (count - 1).bit_length())
        self._low, self._high = np.uint64(bits - bits // 2), np.uint64(bits // 2)
        self._keys = np.random.SeedSequence(seed).generate_state(_ROUNDS, np.uint64)

    def __call__(self, positions: npt.NDArray[np.integer[Any]]) -> OffsetArray:
        """Return the values at positions from ``0`` to ``count - 1``: int64."""
        values = self._encipher(positions.astype(np.uint64))
        outside = np.flatnonzero(values >= self._count)
        while len(outside):
            values[outside] = self._encipher(values[outside])
            outside = outside[values[outside] >= self._count]
        return values.astype(np.int64)

    def _encipher(self, values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        low, high, one = self._low, self._high, np.uint64(1)
        left, right = values >> low, values & ((one << low) - one)
        for key in self._keys:  # left has `high` bits, right has `low` bits
            left, right = right, left ^ (_mix(right ^ key) & ((one << high) - one))
            low, high = high, low
        enciphered: npt.NDArray[np.uint64] = (left << low) | right
        return enciphered


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: npt.NDArray[np.uint64] = values ^ (values >> np.uint64(31))
    return mixed
