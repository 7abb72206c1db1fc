"""The values that encoding returns; they depend on nothing else of the package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from mmap import mmap
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

Text: TypeAlias = "str | bytes | bytearray | memoryview | mmap"
"""What can be encoded: a string, or UTF-8 bytes (which may be invalid)."""

Ids: TypeAlias = "Sequence[int] | npt.NDArray[np.integer]"
"""What can be decoded: token ids as a list or as an integer array."""

IdArray: TypeAlias = "npt.NDArray[np.uint32]"
OffsetArray: TypeAlias = "npt.NDArray[np.int64]"


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
        return [flat[start:end] for start, end in zip(bounds, bounds[1:], strict=False)]

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


def utf8(text: Text) -> bytes:
    r"""Return a text as bytes; surrogates in a string become what they stand for, or U+FFFD.

    Example:
        >>> utf8("\ud83d\ude00"), utf8("\ud83d!")
        (b'\xf0\x9f\x98\x80', b'\xef\xbf\xbd!')
    """
    if not isinstance(text, str):
        return bytes(text)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def characters(
    text: Text, byte_spans: npt.NDArray[np.int64]
) -> tuple[str, npt.NDArray[np.int64]]:
    """Return a text as a string, and which of its characters given bytes touch.

    Args:
        text: a string or bytes.
        byte_spans: int64, shape ``(n, 2)``: spans of the bytes that :func:`utf8` makes of it.

    Returns:
        The string (each byte of invalid UTF-8 as one U+FFFD) and int64 of shape ``(n, 2)``: the
        spans in characters; a character that is cut belongs to both sides.

    Example:
        >>> characters("né", np.array([[0, 2], [2, 3]]))
        ('né', array([[0, 2],
               [1, 2]]))
    """
    string = text if isinstance(text, str) else bytes(text).decode("utf-8", "surrogateescape")
    codes = np.frombuffer(string.encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = 1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)
    widths = np.ones(len(codes), np.int64)
    if isinstance(text, str):
        # Two surrogates that make a pair are one character of four bytes.
        high = (codes[:-1] >> 10 == 0x36) & (codes[1:] >> 10 == 0x37)
        sizes[:-1][high], sizes[1:][high], widths[:-1][high] = 4, 0, 2
    else:
        invalid = codes >> 11 == 0x1B
        sizes[invalid] = 1
        if invalid.any():
            string = "".join(chr(c) if c >> 11 != 0x1B else "\ufffd" for c in codes.tolist())
    total = len(codes)
    owner = np.append(np.repeat(np.arange(total), sizes), total)
    first, last = owner[byte_spans[:, 0]], owner[np.maximum(byte_spans[:, 1] - 1, 0)]
    after = last + np.append(widths, 0)[last]
    empty = byte_spans[:, 0] == byte_spans[:, 1]
    return string, np.stack([first, np.where(empty, first, after)], axis=1)
