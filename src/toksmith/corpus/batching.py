"""Small files together: a counter works on all cores only where it gets enough at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from toksmith.corpus.blocks import STREAMED, Bounds
from toksmith.text import Text

_SMALL = 1 << 18


class SliceCounter(Protocol):
    """What counts documents."""

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count documents."""

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count slices of a text as documents."""


class Batching:
    """Hands documents to a counter in their order: few bytes are kept until they are many.

    Args:
        counter: counts them.
    """

    def __init__(self, counter: SliceCounter) -> None:
        self._counter = counter
        self._texts: list[Text] = []
        self._size = 0

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count slices of a text as documents, now or later."""
        size = int((bounds[:, 1] - bounds[:, 0]).sum())
        if size > _SMALL:
            self.flush()
            self._counter.add_slices(text, bounds)
            return
        with memoryview(text) as view:  # type: ignore[arg-type]  # no block is a str
            self._texts += [view[start:end].tobytes() for start, end in bounds.tolist()]
        self._size += size
        if self._size >= STREAMED:
            self.flush()

    def flush(self) -> None:
        """Count what is kept."""
        if self._texts:
            self._counter.add_texts(self._texts)
        self._texts, self._size = [], 0
