"""Token sources: documents of ids that writers of token files read in blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from toksmith._base.arrays import OffsetArray
from toksmith._base.checks import file_path, whole
from toksmith._base.lazy import np

if TYPE_CHECKING:
    from toksmith._base.lazy import npt

Tokens: TypeAlias = "npt.NDArray[np.integer[Any]]"
"""Ids of one document or of several, end to end."""

_WINDOW = 1 << 16
"""The number of documents of a block at most."""

BLOCK = 1 << 22
"""The number of tokens of a block, unless one document is longer."""


def write_array(file: BinaryIO, values: npt.NDArray[Any]) -> None:
    """Write the bytes of an array.

    Unlike ``ndarray.tofile``, an error names its cause, such as a full disk.
    """
    file.write(np.ascontiguousarray(values).data)


class TokenBlock(NamedTuple):
    """Whole documents of ids.

    Attributes:
        ids: shape ``(tokens,)``, in the type of the source: the documents end to end.
        lengths: int64, shape ``(documents,)``: the number of tokens of each.
    """

    ids: Tokens
    lengths: OffsetArray


class TokenSource(ABC):
    """Documents of ids in order, read lazily.

    A subclass gives the type of the ids, the lengths of the documents, and their ids.
    """

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The integer type of the ids, such as uint16."""

    @property
    @abstractmethod
    def lengths(self) -> OffsetArray:
        """The number of tokens of each document: int64, shape ``(documents,)``."""

    @abstractmethod
    def ids(self, first: int, last: int) -> Tokens:
        """Return the ids of consecutive documents, end to end.

        Args:
            first: the number of the first document, from 0.
            last: the number after the last one.
        """

    def each(self, numbers: OffsetArray) -> list[Tokens]:
        """Return the ids of each of some documents, in any order.

        Args:
            numbers: the numbers of the documents, from 0.
        """
        return [self.ids(number, number + 1) for number in numbers.tolist()]

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.lengths)

    @property
    def num_tokens(self) -> int:
        """The number of tokens of all documents."""
        return int(self.lengths.sum())

    def blocks(self, tokens: int = BLOCK) -> Iterator[TokenBlock]:
        """Yield all documents in order, in blocks.

        Args:
            tokens: the maximum number of tokens of a block; a longer document is a block alone.
        """
        whole("tokens", tokens, least=1)
        lengths = self.lengths
        first = 0
        while first < len(lengths):
            ends = np.cumsum(lengths[first : first + _WINDOW])
            last = first + max(1, int(np.searchsorted(ends, tokens, side="right")))
            yield TokenBlock(self.ids(first, last), lengths[first:last])
            first = last

    def save_ids(self, path: Path) -> None:
        """Write the ids of all documents end to end, without a header, to a new file."""
        with file_path(path).open("xb") as file:
            for block in self.blocks():
                write_array(file, block.ids)


class DocumentRange(TokenSource):
    """Consecutive documents of a source, such as those of one file of several.

    Args:
        source: the source.
        first: the number of its first document.
        last: the number after that of its last document.
        lengths: the lengths of all documents of the source, if the caller has them: some sources
            compute them anew at each access.
    """

    def __init__(
        self, source: TokenSource, first: int, last: int, *, lengths: OffsetArray | None = None
    ) -> None:
        self._source, self._first, self._last = source, first, last
        self._lengths = lengths

    @property
    def dtype(self) -> np.dtype[Any]:
        """The integer type of the ids."""
        return self._source.dtype

    @property
    def lengths(self) -> OffsetArray:
        """The number of tokens of each document: int64, shape ``(documents,)``."""
        lengths = self._source.lengths if self._lengths is None else self._lengths
        return lengths[self._first : self._last]

    def ids(self, first: int, last: int) -> Tokens:
        """Return the ids of documents ``first`` to ``last - 1`` of the range, end to end."""
        return self._source.ids(self._first + first, self._first + last)

    def save_ids(self, path: Path) -> None:
        """Write the ids of the range to a new file; a source may do so without a copy."""
        count = len(self._source if self._lengths is None else self._lengths)
        if (self._first, self._last) == (0, count):
            self._source.save_ids(path)
        else:
            super().save_ids(path)


class Sizes:
    """The sizes of documents in a file, computed from their lengths where they are needed.

    Args:
        lengths: the number of tokens of each document.
        size_of: returns the sizes of documents of given lengths.
    """

    def __init__(self, lengths: OffsetArray, size_of: Callable[[OffsetArray], OffsetArray]) -> None:
        self._lengths, self._size_of = lengths, size_of

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._lengths)

    def __getitem__(self, where: slice) -> OffsetArray:
        """Return the sizes of some documents."""
        return self._size_of(self._lengths[where])


def ranges(lengths: OffsetArray | Sizes, tokens: int, *, reach: bool) -> Iterator[tuple[int, int]]:
    """Yield the first document, and the one after the last, of each file of a set.

    No document is cut. A source without documents is one range without documents.

    Args:
        lengths: the number of tokens of each document.
        tokens: the size of a file in tokens.
        reach: true if the document that reaches the size is the last of its file; false if files
            stay below the size, unless one document alone does not.

    Example:
        >>> lengths = np.array([3, 3, 3, 9, 1])
        >>> list(ranges(lengths, 6, reach=True))
        [(0, 2), (2, 4), (4, 5)]
        >>> list(ranges(lengths, 6, reach=False))
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    """
    first = last = 0
    while True:
        held = 0
        while last < len(lengths):
            ends = held + np.cumsum(lengths[last : last + _WINDOW])
            below = int(np.searchsorted(ends, tokens, side="left"))
            last += below
            if below < len(ends):
                last = last + 1 if reach else max(last, first + 1)
                break
            held = int(ends[-1])
        yield first, last
        if last >= len(lengths):
            return
        first = last
