"""Memory of large arrays, kept for later ones once nothing refers to an array any more.

New memory from the system costs page faults; for large arrays, they take longer than filling them.
"""

from __future__ import annotations

import threading
from typing import Any

from toksmith._base.lazy import np, npt

LEAST = 1 << 19
"""The size in bytes from which an array's memory is kept; the allocator keeps that of others."""

CACHE_BYTES = 48 << 20
"""The kernel's default, which is not read here: rows are made without the kernel too."""

KEPT_CACHES = 12
"""The bytes kept, in caches of chunks: as many as an encoder's three result buffers may have."""

_MOST_BLOCKS = 8


class RowMemory:
    """Makes arrays, and takes back their memory when they are freed.

    Args:
        cache_bytes: the maximum size of a cache of chunks; :data:`KEPT_CACHES` times as much is
            kept.

    Example:
        >>> memory = RowMemory()
        >>> array = memory.empty((1000, 1000), np.int64)
        >>> place = array.ctypes.data
        >>> del array
        >>> memory.empty((990, 1000), np.int64).ctypes.data == place
        True
    """

    def __init__(self, cache_bytes: int = CACHE_BYTES) -> None:
        self._most = KEPT_CACHES * cache_bytes
        self._blocks: list[npt.NDArray[np.uint8]] = []  # the last one was freed last
        # Only tried: a fork may have left it locked, and __del__ may run while it is held.
        self._guard = threading.Lock()

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return an array that is not initialized."""
        size = np.dtype(dtype).itemsize
        for length in shape:
            size *= length
        if not LEAST <= size <= self._most:
            return np.empty(shape, dtype)
        block = self._take(size)
        lease = _Lease(self, np.empty(size, np.uint8) if block is None else block)
        return np.asarray(lease)[:size].view(dtype).reshape(shape)

    def _take(self, size: int) -> npt.NDArray[np.uint8] | None:
        """Return the smallest block that is large enough, unless most of it would be wasted."""
        if not self._guard.acquire(blocking=False):
            return None
        try:
            fitting = [block for block in self._blocks if size <= block.nbytes <= 2 * size]
            found = min(fitting, key=len, default=None)
            self._blocks = [block for block in self._blocks if block is not found]
            return found
        finally:
            self._guard.release()

    def put(self, block: npt.NDArray[np.uint8]) -> None:
        """Keep a block, and free those that were freed first if there are too many."""
        if not self._guard.acquire(blocking=False):
            return
        try:
            blocks = [*self._blocks, block][-_MOST_BLOCKS:]
            while sum(map(len, blocks)) > self._most:
                del blocks[0]
            self._blocks = blocks
        finally:
            self._guard.release()

    def forget(self, cache_bytes: int | None = None) -> None:
        """Free what is kept; ``cache_bytes`` is the maximum of a cache from now on."""
        if cache_bytes is not None:
            self._most = KEPT_CACHES * cache_bytes
        self._blocks = []


class _Lease:
    """Holds a block for the array over it, and gives it back when the array is freed."""

    def __init__(self, memory: RowMemory, block: npt.NDArray[np.uint8]) -> None:
        self._memory = memory
        self._block = block
        self.__array_interface__ = block.__array_interface__

    def __del__(self) -> None:
        self._memory.put(self._block)
