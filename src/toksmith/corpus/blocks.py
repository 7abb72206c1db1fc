"""Blocks: text with the bounds of its documents, the input of a counter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from toksmith._base.arrays import Bounds
from toksmith._base.lazy import np
from toksmith._base.text import Text
from toksmith.corpus.remote import FilePath

Cut: TypeAlias = "Callable[[Text, int, int], int]"
"""A function ``f(text, start, end)``: the first place from ``start`` on to cut a document at, or
``end``."""

BLOCK = 1 << 25
"""The size of a block in bytes; between blocks, progress is updated and Ctrl-C is checked."""

STREAMED = 1 << 22
"""The size of a block of decompressed or parsed text; several are in memory at a time."""


class Damage(NamedTuple):
    """A damaged record, which was left out.

    Attributes:
        path: the file.
        number: the number of its line, or of its row in Parquet, from 1.
        reason: what is wrong with it, to be read after "line 7".
    """

    path: FilePath
    number: int
    reason: str


class Block(NamedTuple):
    """Documents, or parts of one, that can be counted independently of all others.

    Attributes:
        data: the text.
        bounds: int64, shape ``(n, 2)``: the start and end of each in ``data``, in bytes.
        documents: the number of documents that end in this block.
        done: the number of bytes of the file, or of the part of it, that were read so far.
        nulls: the number of documents without a text.
        offset: the offset of ``data`` in the file, if it may hold invalid UTF-8.
        damaged: the damaged records that were left out.
    """

    data: Text
    bounds: Bounds
    documents: int
    done: int
    nulls: int = 0
    offset: int | None = None
    damaged: Sequence[Damage] = ()


def block_of(
    documents: Sequence[bytes], done: int, nulls: int = 0, damaged: Sequence[Damage] = ()
) -> Block:
    """Return whole documents as a block."""
    ends = np.cumsum(np.fromiter(map(len, documents), np.int64, len(documents)))
    starts = np.concatenate([np.zeros(1, np.int64), ends])[:-1]
    bounds = np.stack([starts, ends], axis=1)
    return Block(b"".join(documents), bounds, len(documents), done, nulls, damaged=damaged)


def cut_bounds(block: Block, cut: Cut) -> Iterator[Bounds]:
    """Yield the bounds of a block in order, with long documents in parts, for a short latency."""
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
    """Yield the documents of a text that comes in parts of arbitrary bounds.

    Args:
        stream: parts of the text, each with the number of bytes of the file read for it.
        separator: the bytes between documents.
        cut: finds places to cut long documents at; ``None`` holds each whole in memory.
        most: the size in bytes from which documents are cut.
    """
    text = bytearray()
    overlap = len(separator) - 1 if separator else 0
    is_open = False  # whether the first document of the text continues a counted part
    searched = 1  # there is no cut before this place
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
        # From here on, the text may end with an incomplete separator or character.
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
    """Return a cut near ``known``: the last one found within a short search, or a later one."""
    for distance in (1 << 12, 1 << 18):
        if known - distance > start and (end := cut(text, known - distance, len(text))) <= known:
            return end
    return cut(text, start, len(text)) if start <= known else len(text)


_SMALL = 1 << 18


class SliceSink(Protocol):
    """A consumer of documents, given as strings or as slices of a text."""

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count documents."""

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count slices of a text as documents."""


class Batching:
    """Passes documents to a counter in order; small ones are collected into batches.

    Args:
        counter: the counter.
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
        """Count the collected documents."""
        if self._texts:
            self._counter.add_texts(self._texts)
        self._texts, self._size = [], 0
