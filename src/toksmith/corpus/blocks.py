"""Blocks: text with the bounds of its documents, handed to a counter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from toksmith._base.arrays import Bounds
from toksmith._base.lazy import np
from toksmith._base.text import Text

Cut: TypeAlias = "Callable[[Text, int, int], int]"
"""Returns the first byte from a place on where a document may be cut, or the end."""

BLOCK = 1 << 25
"""Bytes that are counted between two updates of the progress bar and two checks for Ctrl-C."""

STREAMED = 1 << 22
"""The same for unpacked or parsed text, of which several blocks are in memory at a time."""


class Block(NamedTuple):
    """Documents, or parts of one, that may be counted apart from all others.

    Attributes:
        data: the text.
        bounds: int64, shape ``(n, 2)``: where each starts and ends in it, in bytes.
        documents: how many documents end with them.
        done: how many bytes of the file were read up to here.
        nulls: how many documents there were without a text.
        offset: where the data starts in the file, if it may hold invalid UTF-8.
    """

    data: Text
    bounds: Bounds
    documents: int
    done: int
    nulls: int = 0
    offset: int | None = None


def block_of(documents: Sequence[bytes], done: int, nulls: int = 0) -> Block:
    """Return whole documents as a block."""
    ends = np.cumsum(np.fromiter(map(len, documents), np.int64, len(documents)))
    starts = np.concatenate([np.zeros(1, np.int64), ends])[:-1]
    bounds = np.stack([starts, ends], axis=1)
    return Block(b"".join(documents), bounds, len(documents), done, nulls)


def cut_bounds(block: Block, cut: Cut) -> Iterator[Bounds]:
    """Yield the bounds of a block in order, long documents in parts, so that nothing takes long."""
    bounds = block.bounds
    first = 0
    for place in np.flatnonzero(bounds[:, 1] - bounds[:, 0] > 2 * BLOCK).tolist():
        if first < place:
            yield bounds[first:place]
        start, end = bounds[place].tolist()
        while end - start > 2 * BLOCK and (middle := cut(block.data, start + BLOCK, end)) < end:
            yield np.array([(start, middle)], np.int64)
            start = middle
        yield np.array([(start, end)], np.int64)
        first = place + 1
    if first < len(bounds):
        yield bounds[first:]


def split_stream(
    stream: Iterator[tuple[bytes, int]],
    separator: bytes | None,
    cut: Cut | None,
    most: int = STREAMED,
) -> Iterator[Block]:
    """Yield the documents of a text that comes in parts, cut anywhere.

    Args:
        stream: parts of the text, with how many bytes of the file were read for them.
        separator: the bytes between documents.
        cut: where long documents may be cut; without, each is held in memory as a whole.
        most: documents of more bytes are cut.
    """
    text = bytearray()
    overlap = len(separator) - 1 if separator else 0
    is_open = False  # whether a part of the text's first document was counted before
    searched = 1  # where no cut is before
    done = 0
    for part, done in stream:
        place = max(0, len(text) - overlap)
        text += part
        bounds = []
        start = 0
        while separator and (end := text.find(separator, place)) >= 0:
            bounds.append((start, end))
            start = place = end + len(separator)
            searched = start + 1
        documents = len(bounds)
        is_open &= not bounds
        # What starts from here on may be a separator's, or a character's, that is not all here.
        known = len(text) - max(overlap, 3)
        if cut and known - start > most:
            end = cut_near_end(text, max(searched, start + 1), known, cut)
            if end <= known:
                bounds.append((start, end))
                start, is_open = end, True
                searched = start + 1
            else:
                searched = known
        if bounds:
            yield Block(bytes(text[:start]), np.array(bounds, np.int64), documents, done)
            del text[:start]
            searched -= start
    if text or is_open or separator is None:
        yield Block(bytes(text), np.array([(0, len(text))], np.int64), 1, done)


def cut_near_end(text: bytes | bytearray, start: int, known: int, cut: Cut) -> int:
    """Return the last cut from ``start`` to ``known`` that is easily found, or a later one."""
    for distance in (1 << 12, 1 << 18):
        if known - distance > start and (end := cut(text, known - distance, len(text))) <= known:
            return end
    return cut(text, start, len(text)) if start <= known else len(text)


_SMALL = 1 << 18


class SliceSink(Protocol):
    """Takes documents, as strings or as slices of a text."""

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count documents."""

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count slices of a text as documents."""


class Batching:
    """Hands documents to a counter in their order: few bytes are kept until they are many.

    Args:
        counter: counts them.
    """

    def __init__(self, counter: SliceSink) -> None:
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
