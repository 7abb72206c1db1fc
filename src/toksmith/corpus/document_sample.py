"""Selects documents: a random sample, distinct documents, or both."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing

from toksmith._base.lazy import np, npt
from toksmith.corpus.blocks import Block
from toksmith.corpus.options import Reading

_DIGEST = 16


class Selection:
    """Selects documents by their content alone, whatever their file and order.

    A document's digest is BLAKE2b of its bytes, 16 bytes long; the key is the seed (8 bytes,
    little-endian). It belongs to the sample if the digest's first 8 bytes (big-endian) are below
    ``sample * 2**64``, so a larger sample of the same seed contains the smaller one. Documents
    with the same digest are treated as identical.

    Args:
        reading: ``sample``, ``seed`` and ``deduplicate``.

    """

    def __init__(self, reading: Reading) -> None:
        self._key = reading.seed.to_bytes(8, "little")
        self._below = None if reading.sample == 1 else int(reading.sample * 2**64)
        self._seen = DigestSet() if reading.deduplicate else None
        self._not_sampled = 0
        self._duplicates = 0

    def of_blocks(self, blocks: Generator[Block, None, None]) -> Generator[Block, None, None]:
        """Yield blocks with the selected documents; the documents must be whole."""
        with closing(blocks):
            for block in blocks:
                with memoryview(block.data) as view:  # type: ignore[arg-type]  # no block is a str
                    bounds = block.bounds.tolist()
                    taken = block.bounds[self.select(view[start:end] for start, end in bounds)]
                yield block._replace(bounds=taken, documents=len(taken))

    def count_skipped(self, skipped: dict[str, int]) -> None:
        """Store the number of documents left out so far, by reason."""
        if self._not_sampled:
            skipped["not_sampled"] = self._not_sampled
        if self._duplicates:
            skipped["duplicate"] = self._duplicates

    def select(self, documents: Iterable[bytes | memoryview]) -> npt.NDArray[np.bool_]:
        """Return whether each document is selected: bool, shape ``(documents,)``."""
        from hashlib import blake2b  # imported on use: rarely needed

        key = self._key
        joined = b"".join(
            blake2b(document, digest_size=_DIGEST, key=key).digest() for document in documents
        )
        digests = np.frombuffer(joined, ">u8").astype(np.uint64).reshape(-1, 2)
        taken = np.ones(len(digests), bool)
        if self._below is not None:
            taken = digests[:, 0] < np.uint64(self._below)
            self._not_sampled += len(taken) - int(taken.sum())
        if self._seen is not None:
            is_new = self._seen.add(digests[taken])
            self._duplicates += len(is_new) - int(is_new.sum())
            taken[taken] = is_new
        return taken


class DigestSet:
    """A set of digests: an open-addressing table, at most half full, 32 to 64 bytes per digest."""

    def __init__(self) -> None:
        self._table = np.zeros((1 << 12, 2), np.uint64)
        self._size = 0

    def add(self, digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Add digests, and return for each whether it is new.

        Args:
            digests: uint64, shape ``(n, 2)``.
        """
        is_new = np.zeros(len(digests), bool)
        places: dict[tuple[int, ...], int] = {}
        for place, digest in enumerate(map(tuple, digests.tolist())):
            places.setdefault(digest, place)
        first = np.fromiter(places.values(), np.int64, len(places))
        while 2 * (self._size + len(first)) > len(self._table):
            self._grow()
        is_new[first] = self._insert(digests[first])
        self._size += int(is_new.sum())
        return is_new

    def _grow(self) -> None:
        old = self._table
        self._table = np.zeros((2 * len(old), 2), np.uint64)
        self._insert(old[old.any(axis=1)])

    def _insert(self, digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Add distinct digests, vectorized; of several digests for one free slot, one gets it."""
        table, last = self._table, np.uint64(len(self._table) - 1)
        is_new = np.zeros(len(digests), bool)
        slots = digests[:, 1] & last  # not the first halves, which are all small in a sample
        waiting = np.arange(len(digests))
        while len(waiting):
            there = table[slots[waiting]]
            is_free = ~there.any(axis=1)
            is_same = (there == digests[waiting]).all(axis=1)
            wanting = waiting[is_free]
            table[slots[wanting]] = digests[wanting]
            has_won = (table[slots[wanting]] == digests[wanting]).all(axis=1)
            is_new[wanting[has_won]] = True
            waiting = np.concatenate([waiting[~is_free & ~is_same], wanting[~has_won]])
            slots[waiting] = (slots[waiting] + np.uint64(1)) & last
        return is_new
