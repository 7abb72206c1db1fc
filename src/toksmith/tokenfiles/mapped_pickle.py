"""Pickles in which a memory map is the place of its file, so that a worker process copies no id."""

from __future__ import annotations

import io
import mmap
import pickle
from typing import Any

from toksmith._base.lazy import np
from toksmith.tokenfiles.maps import map_again


def dumps(value: object) -> bytes:
    """Return a pickle of an object; ``pickle.loads`` maps the files that the object has mapped."""
    held = io.BytesIO()
    _Pickler(held, pickle.HIGHEST_PROTOCOL).dump(value)
    return held.getvalue()


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: object) -> Any:
        """Return how a memory map, or a stretch of one, is made again."""
        if not isinstance(value, np.memmap) or value.ndim != 1 or not value.flags.c_contiguous:
            return NotImplemented
        held = value._mmap  # type: ignore[attr-defined]  # a view shares it
        if held is None or value.filename is None or not value.size:
            return NotImplemented
        # A view has the offset of the whole map. A map starts at a page of its file.
        offset = value.offset - value.offset % mmap.ALLOCATIONGRANULARITY
        offset += _address(value) - _address(np.frombuffer(held, np.uint8))
        return map_again, (value.filename, value.dtype, offset, value.shape[0])


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])
