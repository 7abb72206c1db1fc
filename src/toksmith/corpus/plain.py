"""Text files as they are: mapped into memory, and counted where they lie."""

from __future__ import annotations

from collections.abc import Generator
from mmap import mmap
from pathlib import Path

from toksmith.arguments import literal
from toksmith.corpus.blocks import BLOCK, Block
from toksmith.documents import mapped, release
from toksmith.lazy import np


def mapped_blocks(path: Path, separator: str | None) -> Generator[Block, None, None]:
    """Yield the documents of a file in blocks of about ``BLOCK`` bytes, or of one longer document.

    They are looked for block by block, and what was looked through is let go of, so that a file
    may be larger than memory.

    Args:
        path: the file.
        separator: what stands between documents; see
            :func:`toksmith.documents.document_bounds`.

    Raises:
        FormatError: the file cannot be read.
    """
    data = mapped(path)  # not closed here: blocks may be read ahead of those who use them
    if separator is None:
        yield Block(data, np.array([[0, len(data)]], np.int64), 1, len(data), is_text=False)
        return
    between = literal("separator", separator)
    bounds: list[tuple[int, int]] = []
    start = 0
    while start < len(data):
        end = _find(data, between, start)
        bounds.append((start, end))
        start = end + len(between)
        if end - bounds[0][0] >= BLOCK or start >= len(data):
            yield Block(data, np.array(bounds, np.int64), len(bounds), end, is_text=False)
            bounds = []


def _find(data: mmap | bytes, between: bytes, start: int) -> int:
    """Return where a separator is, or the end."""
    for place in range(start, len(data), BLOCK):
        end = data.find(between, place, place + BLOCK + len(between) - 1)
        if end >= 0:
            return end
        release(data, place, place + BLOCK)
    return len(data)
