"""Token sources: documents of ids that writers of token files read in blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np

if TYPE_CHECKING:
    from toksmith._base.lazy import npt

Tokens: TypeAlias = "npt.NDArray[np.integer[Any]]"
"""Ids of one document or of several, end to end."""

BLOCK = 1 << 22
"""The number of tokens of a block, unless one document is longer."""


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
        """Return the ids of documents ``first`` to ``last - 1``, end to end."""

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
        lengths = self.lengths
        ends = np.cumsum(lengths)
        first = 0
        while first < len(lengths):
            before = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + tokens, side="right")))
            yield TokenBlock(self.ids(first, last), lengths[first:last])
            first = last

    def save_ids(self, path: Path) -> None:
        """Write the ids of all documents end to end, without a header, to a new file."""
        with path.open("xb") as file:
            for block in self.blocks():
                np.ascontiguousarray(block.ids).tofile(file)
