"""Selects documents: a random sample, distinct documents, documents without repeated lines."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing

from toksmith._base.arrays import Bounds
from toksmith._base.lazy import np, npt
from toksmith._base.text import Text
from toksmith.corpus.blocks import Block, block_of
from toksmith.corpus.digests import DigestSet
from toksmith.corpus.options import Reading

_DIGEST = 16
_AT_ONCE = 1 << 14
"""The number of documents or lines to hash at a time."""
_SHARE = 8
"""The digests take the memory limit divided by this number."""


class Selection:
    r"""Selects documents by their content alone, whatever their file and order.

    A document's digest is BLAKE2b of its bytes, 16 bytes long; the key is the seed (8 bytes,
    little-endian). It belongs to the sample if the digest's first 8 bytes (big-endian) are below
    ``sample * 2**64``, so a larger sample of the same seed contains the smaller one. Documents
    with the same digest are treated as identical, and so are lines.

    A line ends after ``"\n"``, or with its document; it is compared without its line end. Lines of
    white space are always kept.

    Args:
        reading: ``sample``, ``seed`` and ``deduplicate``.
        memory: the memory limit of the whole work in bytes; ``None`` for no limit. The selection
            does not depend on it.

    """

    def __init__(self, reading: Reading, memory: int | None = None) -> None:
        self._key = reading.seed.to_bytes(8, "little")
        self._below = None if reading.sample == 1 else int(reading.sample * 2**64)
        self._has_lines = reading.deduplicate == "lines"
        self._seen = None
        if reading.deduplicate:
            self._seen = DigestSet(None if memory is None else memory // _SHARE)
        self._not_sampled = 0
        self._duplicates = 0

    def of_blocks(self, blocks: Generator[Block, None, None]) -> Generator[Block, None, None]:
        """Yield blocks with the selected documents; the documents must be whole."""
        with closing(blocks):
            for block in blocks:
                taken = block.bounds
                if self._below is not None or not self._has_lines:
                    taken = block.bounds[self._select_slices(block.data, block.bounds)]
                selected = block._replace(bounds=taken, documents=len(taken))
                yield self._without_lines(selected) if self._has_lines else selected

    def of_stream(
        self, stream: Generator[tuple[bytes, int], None, None]
    ) -> Generator[tuple[bytes, int], None, None]:
        """Yield the text of one document without repeated lines, in parts.

        Args:
            stream: parts of its text, each with the number of bytes of the file read for it.
        """
        with closing(stream):
            started: list[bytes] = []
            done = 0
            for part, done in stream:
                end = part.rfind(b"\n") + 1
                if not end:
                    started.append(part)
                    continue
                whole = b"".join([*started, part[:end]])
                started = [part[end:]]
                yield self._distinct_lines(whole), done
            yield self._distinct_lines(b"".join(started)), done

    def of_texts(self, documents: Sequence[bytes]) -> list[bytes]:
        """Return the selected documents, without repeated lines if lines are deduplicated."""
        if self._below is not None or not self._has_lines:
            taken = self.select(documents).tolist()
            documents = [text for text, is_taken in zip(documents, taken, strict=True) if is_taken]
        if not self._has_lines:
            return list(documents)
        block = self._without_lines(block_of(documents, 0))
        return [block.data[start:end] for start, end in block.bounds.tolist()]  # type: ignore[misc]

    def count_skipped(self, skipped: dict[str, int]) -> None:
        """Store the number of documents, or lines, left out so far, by reason."""
        if self._not_sampled:
            skipped["not_sampled"] = self._not_sampled
        if self._duplicates:
            skipped["duplicate_lines" if self._has_lines else "duplicate"] = self._duplicates

    def select(self, documents: Iterable[bytes | memoryview]) -> npt.NDArray[np.bool_]:
        """Return whether each document is selected: bool, shape ``(documents,)``."""
        digests = self._digests(documents)
        taken = np.ones(len(digests), bool)
        if self._below is not None:
            taken = digests[:, 0] < np.uint64(self._below)
            self._not_sampled += len(taken) - int(taken.sum())
        if self._seen is not None and not self._has_lines:
            is_new = self._seen.add(digests[taken])
            self._duplicates += len(is_new) - int(is_new.sum())
            taken[taken] = is_new
        return taken

    def _digests(self, texts: Iterable[bytes | memoryview]) -> npt.NDArray[np.uint64]:
        from hashlib import blake2b  # imported on use: rarely needed

        key = self._key
        joined = b"".join(blake2b(text, digest_size=_DIGEST, key=key).digest() for text in texts)
        return np.frombuffer(joined, ">u8").astype(np.uint64).reshape(-1, 2)

    def _select_slices(self, data: Text, bounds: Bounds) -> npt.NDArray[np.bool_]:
        return np.concatenate(
            [np.zeros(0, bool), *(self.select(part) for part in _slices(data, bounds))]
        )

    def _distinct_lines(self, text: bytes) -> bytes:
        data = self._without_lines(block_of([text], 0)).data
        assert isinstance(data, bytes)
        return data

    def _without_lines(self, block: Block) -> Block:
        """Return a block without the lines that were seen before."""
        assert self._seen is not None  # as lines are deduplicated
        text = np.frombuffer(block.data, np.uint8)  # type: ignore[arg-type]  # no block is a str
        lines = _lines(text, block.bounds)
        inner = _without_ends(text, lines)
        visible = np.concatenate([[0], np.cumsum(text > 0x20)])
        compared = np.flatnonzero(visible[inner[:, 1]] > visible[inner[:, 0]])
        is_new = np.concatenate(
            [
                np.zeros(0, bool),
                *(
                    self._seen.add(self._digests(part))
                    for part in _slices(block.data, inner[compared])
                ),
            ]
        )
        dropped = lines[compared[~is_new]]
        self._duplicates += len(dropped)
        if not len(dropped):
            return block
        change = np.zeros(len(text) + 1, np.int8)
        change[dropped[:, 0]] += 1
        change[dropped[:, 1]] -= 1
        kept = np.cumsum(change[:-1], dtype=np.int8) == 0
        before = np.concatenate([[0], np.cumsum(kept)])
        return block._replace(data=text[kept].tobytes(), bounds=before[block.bounds])


def _slices(data: Text, bounds: Bounds) -> Iterator[list[memoryview]]:
    """Yield slices of a text, some at a time."""
    with memoryview(data) as view:  # type: ignore[arg-type]  # no block is a str
        for start in range(0, len(bounds), _AT_ONCE):
            yield [view[start:end] for start, end in bounds[start : start + _AT_ONCE].tolist()]


def _lines(text: npt.NDArray[np.uint8], bounds: Bounds) -> Bounds:
    """Return the bounds of the lines of documents, line ends included."""
    bounds = bounds[bounds[:, 1] > bounds[:, 0]]
    after = np.flatnonzero(text == ord("\n")) + 1
    document = np.searchsorted(bounds[:, 0], after, "right") - 1
    is_inside = document >= 0
    is_inside[is_inside] = after[is_inside] < bounds[document[is_inside], 1]
    starts = np.union1d(bounds[:, 0], after[is_inside])
    ends: Bounds = bounds[np.searchsorted(bounds[:, 0], starts, "right") - 1, 1]
    ends[:-1] = np.minimum(ends[:-1], starts[1:])
    lines: Bounds = np.stack([starts, ends], axis=1)
    return lines


def _without_ends(text: npt.NDArray[np.uint8], lines: Bounds) -> Bounds:
    """Return the bounds of lines without their line ends."""
    inner: Bounds = lines.copy()
    for end in b"\n\r":
        has_end = inner[:, 1] > inner[:, 0]
        has_end[has_end] = text[inner[has_end, 1] - 1] == end
        inner[has_end, 1] -= 1
    return inner
