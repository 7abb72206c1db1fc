"""Python lists from arrays of ids, and back; an importer of the compiled module."""

from __future__ import annotations

from collections.abc import Iterator

from toksmith import _kernel, results
from toksmith._base.lazy import np, npt

_BLOCK = 1 << 20
"""Ids that NumPy works on at once: its loops do not end on Ctrl-C."""


def lists(ids: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64]) -> list[list[int]]:
    """Return the ids between each two offsets as a list.

    Example:
        >>> lists(np.array([7, 8, 9], np.uint32), np.array([0, 1, 1, 3]))
        [[7], [], [8, 9]]
    """
    return _kernel.to_lists(
        np.ascontiguousarray(ids, np.uint32), np.ascontiguousarray(offsets, np.int64)
    )


def array(ids: list[int]) -> npt.NDArray[np.uint32] | None:
    """Return the ids of a list as an array; ``None`` unless all are ints of 32 bits.

    Example:
        >>> array([7, 8]), array([-1]), array([2.5])
        (array([7, 8], dtype=uint32), None, None)
    """
    return _kernel.to_array(ids)


def blocks(ids: npt.NDArray[np.integer]) -> Iterator[tuple[int, npt.NDArray[np.integer]]]:
    """Yield an array in blocks, each behind the position of its first id.

    Example:
        >>> list(blocks(np.array([7, 8])))
        [(0, array([7, 8]))]
    """
    for start in range(0, len(ids), _BLOCK):
        yield start, ids[start : start + _BLOCK]


results.to_lists = lists
