"""The values that encoding returns; they depend on nothing else of the package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

Ids: TypeAlias = "Sequence[int] | npt.NDArray[np.integer]"
"""What can be decoded: token ids as a list or as an integer array."""

IdArray: TypeAlias = "npt.NDArray[np.uint32]"
OffsetArray: TypeAlias = "npt.NDArray[np.int64]"
SpanArray: TypeAlias = "npt.NDArray[np.int64]"
"""Shape ``(n, 2)``: half-open ranges ``[start, end)``."""


class Span(NamedTuple):
    """A half-open range ``[start, end)``."""

    start: int
    end: int


@dataclass(frozen=True)
class Encoding:
    """One text and its tokens.

    Attributes:
        text: the text that was encoded (invalid UTF-8 shown with U+FFFD).
        ids: token ids.
        tokens: the bytes of each token.
        spans: the characters of the text that each token touches. Tokens that cut a character
            all report the whole character, so neighbouring spans may overlap.
        byte_spans: the UTF-8 bytes of the text that each token covers.
        special: whether each token is a special token.

    Example:
        >>> from toksmith import train
        >>> encoding = train(texts=["abab"], vocab_size=257).encoding("abc")
        >>> encoding.tokens, encoding.spans
        ([b'ab', b'c'], [Span(start=0, end=2), Span(start=2, end=3)])
    """

    text: str
    ids: list[int]
    tokens: list[bytes]
    spans: list[Span]
    byte_spans: list[Span]
    special: list[bool]

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, part: slice) -> Encoding:
        """Return some of the tokens; their spans are still places in the whole text."""
        return Encoding(
            self.text,
            self.ids[part],
            self.tokens[part],
            self.spans[part],
            self.byte_spans[part],
            self.special[part],
        )

    def _repr_html_(self) -> str:
        # Views are built on these types; a notebook asks the type for its view.
        from toksmith.show.html import encoding_html

        return encoding_html(self)


@dataclass(frozen=True, eq=False)
class Batch:
    """The ids of many documents in one array.

    Attributes:
        ids: uint32, shape ``(tokens,)``: all ids, document after document.
        offsets: int64, shape ``(documents + 1,)``: document ``i`` is
            ``ids[offsets[i]:offsets[i + 1]]``.

    Example:
        >>> import numpy as np
        >>> batch = Batch(np.array([1, 2, 3], np.uint32), np.array([0, 2, 3], np.int64))
        >>> len(batch), batch[0], batch.to_lists()
        (2, array([1, 2], dtype=uint32), [[1, 2], [3]])
    """

    ids: IdArray
    offsets: OffsetArray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> IdArray: ...
    @overload
    def __getitem__(self, index: slice) -> list[IdArray]: ...
    def __getitem__(self, index: int | slice) -> IdArray | list[IdArray]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"document {index} of a batch of {len(self)}")
        return self.ids[self.offsets[position] : self.offsets[position + 1]]

    def __iter__(self) -> Iterator[IdArray]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Batch):
            return NotImplemented
        return np.array_equal(self.ids, other.ids) and np.array_equal(self.offsets, other.offsets)

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    def to_lists(self) -> list[list[int]]:
        """Return one Python list of ids for each document."""
        flat = self.ids.tolist()
        bounds = self.offsets.tolist()
        return [flat[start:end] for start, end in pairwise(bounds)]

    def to_arrow(self) -> pa.LargeListArray:
        """Return an Arrow ``large_list<uint32>`` array over the same memory.

        Raises:
            ImportError: pyarrow is not installed (``pip install toksmith[arrow]``).
        """
        try:
            import pyarrow as pa
        except ImportError as missing:
            raise ImportError(
                "Batch.to_arrow needs pyarrow: pip install toksmith[arrow]"
            ) from missing
        return pa.LargeListArray.from_arrays(pa.array(self.offsets), pa.array(self.ids))


def stack(documents: Sequence[IdArray]) -> Batch:
    """Return arrays of ids, one a document, as one batch."""
    offsets = np.zeros(len(documents) + 1, np.int64)
    np.cumsum([len(ids) for ids in documents], out=offsets[1:])
    return Batch(np.concatenate([np.zeros(0, np.uint32), *documents]), offsets)
