"""The result of segmentation: spans that cover a text without gaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

from toksmith._base.arrays import OffsetArray, Span
from toksmith._base.lazy import np
from toksmith._base.report import html_of
from toksmith._base.visible import MOST, count_of

_MOST = MOST // len("(0, 1), ")


@dataclass(frozen=True, eq=False, repr=False)
class Spans(Sequence[Span]):
    """The pieces of a text, in order and without gaps: piece after piece gives the text again.

    A sequence of :class:`~toksmith.Span`: it iterates, indexes and compares as a list of
    ``(start, end)`` pairs does, in characters of :attr:`text`.

    Attributes:
        text: the text that is covered (each byte of invalid UTF-8 as one U+FFFD).
        bounds: int64, shape ``(n + 1,)``, not to be written: piece ``i`` is
            ``text[bounds[i]:bounds[i + 1]]``.

    Example:
        >>> import numpy as np
        >>> spans = Spans("to be", np.array([0, 2, 3, 5]))
        >>> spans == [(0, 2), (2, 3), (3, 5)], spans[-1], spans.pieces
        (True, Span(start=3, end=5), ['to', ' ', 'be'])
    """

    text: str
    bounds: OffsetArray

    def __post_init__(self) -> None:
        self.bounds.flags.writeable = False

    @property
    def pieces(self) -> list[str]:
        """The text of each span.

        Example:
            >>> from toksmith import sentences
            >>> sentences("To be. Or not?").pieces
            ['To be. ', 'Or not?']
        """
        text = self.text
        return [text[start:end] for start, end in pairwise(self.bounds.tolist())]

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @overload
    def __getitem__(self, index: int) -> Span: ...
    @overload
    def __getitem__(self, index: slice) -> list[Span]: ...
    def __getitem__(self, index: int | slice) -> Span | list[Span]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"span {index} of {len(self)}")
        return Span(int(self.bounds[position]), int(self.bounds[position + 1]))

    def __iter__(self) -> Iterator[Span]:
        places = self.bounds.tolist()
        return map(Span, places, places[1:])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Spans):
            return np.array_equal(self.bounds, other.bounds)
        if isinstance(other, (list, tuple)):
            return len(self) == len(other) and all(map(_same, self, other))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it equals lists, which have none

    def __repr__(self) -> str:
        name = type(self).__name__
        line = f"{name}({list(map(tuple, self[:_MOST]))})"
        if len(self) < _MOST and len(line) <= MOST:
            return line
        characters = count_of(int(self.bounds[-1]), "character")
        return f"<{name}: {count_of(len(self), 'span')} of {characters}>"

    def _repr_html_(self) -> str:
        return html_of(self)


def _same(span: Span, pair: object) -> bool:
    return isinstance(pair, (list, tuple)) and span == tuple(pair)
