"""Arrangements of token sources: chained, shuffled, or concatenated and cut to sequences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith.tokenfiles.source import Tokens, TokenSource


class Chained(TokenSource):
    """Several sources of one type, one after the other.

    Args:
        sources: the sources, at least one.
    """

    def __init__(self, sources: Sequence[TokenSource]) -> None:
        self._sources = list(sources)
        counts = [len(source) for source in sources]
        self._firsts = [0, *np.cumsum(counts, dtype=np.int64).tolist()]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of all sources."""
        return self._sources[0].dtype

    @cached_property
    def lengths(self) -> OffsetArray:
        """The number of tokens of each document."""
        return np.concatenate([source.lengths for source in self._sources])

    def ids(self, first: int, last: int) -> Tokens:
        """Return the ids of documents ``first`` to ``last - 1``, end to end."""
        found = []
        for source, start in zip(self._sources, self._firsts, strict=False):
            low, high = max(first - start, 0), min(last - start, len(source))
            if low < high:
                found.append(source.ids(low, high))
        if len(found) == 1:
            return found[0]
        return np.concatenate(found) if found else np.zeros(0, self.dtype)


class Recast(TokenSource):
    """A source with its ids in another type, which must hold them.

    Args:
        source: the source.
        dtype: the type.
    """

    def __init__(self, source: TokenSource, dtype: np.dtype[Any]) -> None:
        self._source = source
        self._dtype = dtype

    @property
    def dtype(self) -> np.dtype[Any]:
        """The new type."""
        return self._dtype

    @property
    def lengths(self) -> OffsetArray:
        """The number of tokens of each document."""
        return self._source.lengths

    def ids(self, first: int, last: int) -> Tokens:
        """Return the ids of documents ``first`` to ``last - 1``, end to end."""
        return self._source.ids(first, last).astype(self._dtype, copy=False)


class NonEmpty(TokenSource):
    """The documents of a source that have tokens.

    Args:
        source: the source.
    """

    def __init__(self, source: TokenSource) -> None:
        self._source = source
        self._kept = np.flatnonzero(source.lengths)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the source."""
        return self._source.dtype

    @cached_property
    def lengths(self) -> OffsetArray:
        """The number of tokens of each document."""
        lengths: OffsetArray = self._source.lengths[self._kept]
        return lengths

    def ids(self, first: int, last: int) -> Tokens:
        """Return the ids of documents ``first`` to ``last - 1``, end to end."""
        kept = self._kept[first:last]
        if not len(kept):
            return np.zeros(0, self.dtype)
        return self._source.ids(int(kept[0]), int(kept[-1]) + 1)


def shuffled(count: int, seed: int) -> Any:
    """Return the numbers from 0 to ``count - 1`` in random order: uint32, or int64 from 2^32 on.

    Example:
        >>> shuffled(5, 0).tolist()
        [2, 4, 3, 0, 1]
    """
    order = np.arange(count, dtype=np.uint32 if count < 1 << 32 else np.int64)
    np.random.default_rng(seed).shuffle(order)
    return order


class Shuffled(TokenSource):
    """The documents of a source in random order.

    The order is ``numpy.random.default_rng(seed).permutation(documents)``: position ``i`` holds
    document ``order[i]``.

    Args:
        source: the source.
        seed: the random seed.
    """

    def __init__(self, source: TokenSource, seed: int) -> None:
        self._source = source
        self.order = shuffled(len(source), seed)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the source."""
        return self._source.dtype

    @cached_property
    def lengths(self) -> OffsetArray:
        """The number of tokens of each document."""
        lengths: OffsetArray = self._source.lengths[self.order]
        return lengths

    def ids(self, first: int, last: int) -> Tokens:
        """Return the ids of documents ``first`` to ``last - 1``, end to end."""
        several = self._source.each(self.order[first:last])
        return np.concatenate(several) if several else np.zeros(0, self.dtype)


class Stream:
    """The ids of a source by their places in all of it, whatever its documents.

    Args:
        source: the documents.
    """

    def __init__(self, source: TokenSource) -> None:
        self._source = source
        self._ends = np.cumsum(source.lengths, dtype=np.int64)

    def document_at(self, place: int) -> int:
        """Return the number of the document that holds the id at a place."""
        return int(np.searchsorted(self._ends, place, side="right"))

    def __len__(self) -> int:
        """Return the number of ids."""
        return int(self._ends[-1]) if len(self._ends) else 0

    def ids(self, start: int, end: int) -> Tokens:
        """Return the ids at places ``start`` to ``end - 1``."""
        end = min(end, len(self))
        if start >= end:
            return np.zeros(0, self._source.dtype)
        low = int(np.searchsorted(self._ends, start, side="right"))
        high = int(np.searchsorted(self._ends, end, side="left"))
        before = int(self._ends[low - 1]) if low else 0
        if low == high:
            return self._source.ids(low, low + 1)[start - before : end - before]
        # The first and last document may be whole files, so they are cut before they are joined.
        last = int(self._ends[high - 1])
        return np.concatenate(
            [
                self._source.ids(low, low + 1)[start - before :],
                self._source.ids(low + 1, high),
                self._source.ids(high, high + 1)[: end - last],
            ]
        )


class Sequences(TokenSource):
    """Documents end to end, cut to sequences of one length; the rest at the end is left out.

    Args:
        source: the documents.
        length: the number of tokens of a sequence.
    """

    def __init__(self, source: TokenSource, length: int) -> None:
        self._stream = Stream(source)
        self._dtype = source.dtype
        self._length = length
        self._count, self.left_out = divmod(len(self._stream), length)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the source."""
        return self._dtype

    @cached_property
    def lengths(self) -> OffsetArray:
        """The number of tokens of each sequence."""
        return np.full(self._count, self._length, np.int64)

    def ids(self, first: int, last: int) -> Tokens:
        """Return the ids of sequences ``first`` to ``last - 1``, end to end."""
        return self._stream.ids(first * self._length, min(last, self._count) * self._length)
