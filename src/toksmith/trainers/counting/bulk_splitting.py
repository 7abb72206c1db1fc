"""The last steps of a splitter on many counted chunks at once, as arrays of bytes."""

from __future__ import annotations

from collections.abc import Iterator

from toksmith._base.byte_alphabet import spell
from toksmith._base.lazy import np
from toksmith.engine.counting import CountedChunks
from toksmith.splitters import ByteSpelling, Metaspace, Splitter

_BLOCK = 1 << 16  # chunks


def split_in_bulk(splitter: Splitter, chunks: CountedChunks) -> Iterator[CountedChunks | None]:
    """Yield what a splitter makes of blocks of counted chunks.

    Args:
        splitter: the splitter.
        chunks: the chunks; no chunk is empty. For ``Metaspace``, each holds at most one space, at
            its start.

    Yields:
        One chunk for each chunk of the block; ``None`` if the block must be split chunk by chunk.
    """
    for block in blocks(chunks):
        if isinstance(splitter, ByteSpelling):
            yield _spelled(block)
        elif isinstance(splitter, Metaspace) and splitter.split and splitter.prepend == "always":
            yield _marked(block, splitter.replacement.encode())
        else:
            yield None


def blocks(chunks: CountedChunks) -> Iterator[CountedChunks]:
    """Yield counted chunks in blocks of limited size."""
    text, ends, counts = chunks
    start = 0
    for first in range(0, len(ends), _BLOCK):
        part = ends[first : first + _BLOCK]
        end = int(part[-1])
        yield text[start:end], part - np.uint64(start), counts[first : first + _BLOCK]
        start = end


def _spelled(block: CountedChunks) -> CountedChunks:
    """Spell each byte as a character."""
    text, ends, counts = block
    letters = [spell(bytes([byte])).encode() for byte in range(256)]
    size_of = np.array([*map(len, letters)], np.uint64)
    before = np.cumsum(size_of[np.frombuffer(text, np.uint8)], dtype=np.uint64)
    return spell(text).encode(), before[ends - np.uint64(1)], counts


def _marked(block: CountedChunks, mark: bytes) -> CountedChunks | None:
    """Put a mark before each chunk, in place of its space; ``None`` if a chunk holds the mark."""
    text, ends, counts = block
    if mark in text:
        return None
    data = np.frombuffer(text, np.uint8)
    starts = np.concatenate([np.zeros(1, np.uint64), ends[:-1]])
    has_space = data[starts] == ord(" ")
    kept = np.ones(len(data), bool)
    kept[starts[has_space]] = False
    sizes = ends - starts - has_space + np.uint64(len(mark))
    new_ends = np.cumsum(sizes, dtype=np.uint64)
    new = np.empty(int(new_ends[-1]), np.uint8)
    is_mark = np.zeros(len(new), bool)
    new_starts = (new_ends - sizes).astype(np.int64)
    for place, byte in enumerate(mark):
        new[new_starts + place] = byte
        is_mark[new_starts + place] = True
    new[~is_mark] = data[kept]
    return new.tobytes(), new_ends, counts
