"""Types of the arrays that hold ids, offsets and spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toksmith._base.lazy import np, npt

Ids: TypeAlias = "Sequence[int] | npt.NDArray[np.integer]"
"""Token ids that can be decoded: a list or an integer array."""

IdArray: TypeAlias = "npt.NDArray[np.uint32]"
OffsetArray: TypeAlias = "npt.NDArray[np.int64]"
SpanArray: TypeAlias = "npt.NDArray[np.int64]"
"""Shape ``(n, 2)``: half-open ranges ``[start, end)``."""
Bounds: TypeAlias = "npt.NDArray[np.int64]"
"""Shape ``(documents, 2)``: the start and the end of each document in a block of text, in bytes."""

Continuing: TypeAlias = "npt.NDArray[np.uint8]"
"""Shape ``(texts,)``: 1 for a text that continues a document, 0 for one that starts one."""


class Span(NamedTuple):
    """A half-open range ``[start, end)``.

    Example:
        >>> span = Span(4, 7)
        >>> "the low end"[span.start : span.end]
        'low'
    """

    start: int
    end: int
