"""Reads one file of any kind as blocks of documents."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeAlias, cast

from toksmith.corpus.blocks import STREAMED, Block, Cut, Damage, split_stream
from toksmith.corpus.checking import NOT_UTF8, check_stream, drop_invalid, text_stream
from toksmith.corpus.options import Reading
from toksmith.corpus.prefetch import prefetch
from toksmith.corpus.remote import FilePath
from toksmith.corpus.streams import (
    Kind,
    count_lines,
    file_size,
    kind_of,
    read_head,
    read_lines,
    read_stream,
    read_whole_lines,
)
from toksmith.corpus.tables import DELIMITERS, table_blocks
from toksmith.corpus.text_reader import READ, overlaps_itself, text_blocks

Stream: TypeAlias = Generator[tuple[bytes, int], None, None]
"""Parts of a text, each with the number of bytes of the file read for it."""


def file_blocks(
    path: FilePath,
    reading: Reading,
    cut: Cut | None = None,
    streamed: int = STREAMED,
    *,
    span: tuple[int, int] | None = None,
    skips: bool = False,
    threads: int = 1,
    lines: Callable[[Stream], Stream] | None = None,
) -> Generator[Block, None, None]:
    """Yield the documents of a file, or of a part of it.

    Plain text is not checked: its blocks have an ``offset``.

    Args:
        path: a file, a pipe or a device.
        reading: the options of reading; weights, sample and deduplication are ignored.
        cut: finds places to cut long documents at; ``None`` holds each whole in memory.
        streamed: the approximate size in bytes of a block, but for plain text.
        span: the part of a file for which :func:`can_cut` is true: a range of row groups in
            Parquet, else of bytes; ``None`` for all. A document belongs to the part in which it
            starts.
        skips: whether damaged records are left out, and listed in the blocks, instead of an error.
        threads: the number of threads that may decode Parquet. Other files are read and unpacked by
            one thread in the background, and parsed by another one.
        lines: leaves out lines of a text without separator, given its parts.

    Raises:
        FormatError: the file cannot be read or is damaged, or a record is damaged.
        MissingExtraError: a package for its format is not installed.
    """
    kind = kind_of(path, read_head(path), reading.read_as)
    if not can_cut(kind, reading):
        span = None
    drops = skips and reading.encoding_errors == "strict"  # leaves out what would be an error
    if kind == Kind("text") and path.is_file() and lines is None:
        size = READ if cut else streamed
        plain: Iterator[Block] = text_blocks(path, reading.separator, cut, size, span)
        if drops:
            plain = _drop_invalid(path, plain)
        if file_size(path) <= READ:  # a single block does not need a thread
            yield from plain
            return
        with closing(prefetch(plain)) as blocks:
            yield from blocks
        return
    if kind.content == "parquet":
        from toksmith.corpus.parquet import parquet_blocks

        rows = parquet_blocks(path, reading, streamed, span, skips=drops, threads=threads)
        with closing(rows):
            yield from rows
        return
    # The parser of JSON Lines reports invalid lines itself.
    parses = kind.content == "jsonl" and not drops and reading.encoding_errors == "strict"
    if span:
        stored = read_lines(path, *span, streamed)
    elif parses and kind.compression is None and isinstance(path, Path) and path.is_file():
        # Only the parser, which accepts bytearrays, reads these blocks.
        stored = cast("Iterator[tuple[bytes, int]]", read_whole_lines(path, streamed))
    else:
        stored = read_stream(path, kind.compression, streamed)
    with closing(prefetch(stored)) as stream:
        if kind.content == "text":
            separator = None if reading.separator is None else reading.separator.encode()
            text = text_stream(path, stream)
            if drops:
                yield from _drop_invalid(path, split_stream(text, separator, cut, streamed))
                return
            checked = check_stream(path, text, reading.encoding_errors)
            with closing(checked if lines is None else lines(checked)) as parts:
                yield from split_stream(parts, separator, cut, streamed)
            return
        text = stream
        if not drops and not parses:
            text = check_stream(path, stream, reading.encoding_errors)
        records: Iterator[Block]
        if kind.content == "jsonl":
            from toksmith.corpus.jsonl import jsonl_blocks

            start = span[0] if span else 0
            before = (lambda: count_lines(path, start - 1) + 1) if start else None
            records = jsonl_blocks(path, text, reading.field, before=before, skips=skips)
        else:
            delimiter = DELIMITERS[kind.content]
            records = table_blocks(path, text, reading.field, delimiter, streamed, skips=skips)
        with closing(text), closing(prefetch(records)) as blocks:
            yield from blocks


def _drop_invalid(path: FilePath, blocks: Iterator[Block]) -> Generator[Block, None, None]:
    """Yield the blocks of a text without the documents that are invalid UTF-8."""
    lines = 0  # of the blocks of a stream so far
    for block in blocks:
        data = memoryview(block.data)  # type: ignore[arg-type]  # no block is a str
        bounds, invalid = drop_invalid(block.data, block.bounds)
        before = count_lines(path, block.offset) if invalid and block.offset else lines
        damaged = [
            Damage(path, before + bytes(data[:place]).count(b"\n") + 1, NOT_UTF8)
            for _, place in invalid
        ]
        if block.offset is None:
            lines += bytes(data).count(b"\n")
        count = block.documents - len(invalid)
        yield block._replace(bounds=bounds, documents=count, damaged=damaged, offset=None)


def can_cut(kind: Kind, reading: Reading) -> bool:
    r"""Return whether a part of a file can be read without the text before it.

    It cannot in a compressed file, CSV and TSV, and text that has no separator, or one that can
    overlap itself, such as ``"\n\n"``.
    """
    if kind == Kind("text"):
        return reading.separator is not None and not overlaps_itself(reading.separator)
    return kind.content == "parquet" or kind == Kind("jsonl")
