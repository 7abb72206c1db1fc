"""The reader of plain text files, block by block."""

from __future__ import annotations

from collections.abc import Generator
from typing import BinaryIO

from toksmith._base.checks import literal
from toksmith._base.documents import read_pieces
from toksmith._base.lazy import np
from toksmith.corpus.blocks import Block, Cut, cut_near_end
from toksmith.corpus.checking import HEAD, text_start
from toksmith.corpus.remote import FilePath
from toksmith.corpus.streams import open_binary

READ = 1 << 24
"""Bytes read at a time: enough for all cores, and several blocks fit any memory."""


def text_blocks(
    path: FilePath,
    separator: str | None,
    cut: Cut | None,
    size: int = READ,
    span: tuple[int, int] | None = None,
) -> Generator[Block, None, None]:
    """Yield the documents of a file; a block starts where the last one ended.

    A UTF-8 byte order mark at the start of the file is no part of its text.

    The file is read, not mapped: one that is cut short meanwhile ends early, where a map would end
    the process (SIGBUS). The bytes after the last cut of a block are read again with the next
    one, so a file may be larger than memory.

    Args:
        path: a regular file.
        separator: the string between documents; see
            :func:`toksmith._base.documents.document_bounds`.
        cut: where long documents may be cut; without, each is held in memory as a whole.
        size: how many bytes to read at a time; more where a document cannot be cut.
        span: a range of the file's bytes, whose documents are those that start in it; ``None`` for
            all. The separator must not overlap itself: see :func:`overlaps_itself`.

    Raises:
        FormatError: the file cannot be read, or starts with many null bytes.
    """
    between = None if separator is None else literal("separator", separator)
    overlap = len(between) - 1 if between else 0
    wanted = size
    is_open = False  # whether a part of the next document was counted before
    with open_binary(path) as file:
        offset = text_start(path, file.read(HEAD))
        stop = None if span is None else span[1]
        if span and not span[0]:
            stop = max(span[1], offset + 1)  # the first document, even in a part of the mark
        elif span and between:
            offset = _first_start(file, between, max(span[0] - len(between), offset), span[1], size)
        while True:
            file.seek(offset)
            data = read_pieces(file, wanted)
            bounds = []
            start = 0
            if between:
                while (stop is None or offset + start < stop) and (
                    end := data.find(between, start)
                ) >= 0:
                    bounds.append((start, end))
                    start = end + len(between)
            documents = len(bounds)
            is_open &= not bounds
            is_past = stop is not None and offset + start >= stop
            is_last = len(data) < wanted or is_past
            if is_past:
                pass
            elif is_last:
                if start < len(data) or is_open or between is None:
                    bounds.append((start, len(data)))
                    documents += 1
                    start = len(data)
            elif cut and not bounds:
                # The last bytes may be the start of a separator, or of a character.
                known = len(data) - max(overlap, 3)
                end = cut_near_end(data, 1, known, cut)
                if end <= known:
                    bounds.append((0, end))
                    start, is_open = end, True
            if bounds:
                places = np.array(bounds, np.int64)
                done = offset + start - (span[0] if span else 0)
                yield Block(data, places, documents, done, offset=offset)
            if is_last:
                return
            wanted = size if bounds else 2 * wanted
            offset += start


def overlaps_itself(separator: str) -> bool:
    r"""Return whether occurrences of a separator can overlap, as those of ``"aa"`` in ``"aaa"``.

    Of two overlapping ones only the first separates documents, so whether one does depends on all
    text before it.

    Example:
        >>> overlaps_itself("\n\n"), overlaps_itself("<|>")
        (True, False)
    """
    text = separator.encode()
    return any(text.startswith(text[-size:]) for size in range(1, len(text)))


def _first_start(file: BinaryIO, between: bytes, start: int, stop: int, size: int) -> int:
    """Return the end of the first separator from ``start`` on, or a place from ``stop`` on."""
    file.seek(start)
    data = b""
    while start + len(data) < stop + len(between) and (more := file.read(size)):
        data += more
        if (found := data.find(between)) >= 0:
            return start + found + len(between)
        kept = min(len(between) - 1, len(data))
        start += len(data) - kept
        data = data[len(data) - kept :]
    return stop
