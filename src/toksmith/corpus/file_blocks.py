"""Reads one file of any kind as blocks of documents."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path

from toksmith.corpus.blocks import STREAMED, Block, Cut, split_stream
from toksmith.corpus.checking import check_stream, text_stream
from toksmith.corpus.options import Reading
from toksmith.corpus.prefetch import prefetch
from toksmith.corpus.streams import Kind, count_lines, kind_of, read_head, read_lines, read_stream
from toksmith.corpus.tables import DELIMITERS, table_blocks
from toksmith.corpus.text_reader import READ, overlaps_itself, text_blocks


def file_blocks(
    path: Path,
    reading: Reading,
    cut: Cut | None = None,
    streamed: int = STREAMED,
    *,
    span: tuple[int, int] | None = None,
    skips: bool = False,
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

    Raises:
        FormatError: the file cannot be read or is damaged, or a record is damaged.
        MissingExtraError: a package for its format is not installed.
    """
    kind = kind_of(path, read_head(path), reading.read_as)
    if not can_cut(kind, reading):
        span = None
    if kind == Kind("text") and path.is_file():
        plain = text_blocks(path, reading.separator, cut, READ if cut else streamed, span)
        if path.stat().st_size <= READ:  # a single block does not need a thread
            yield from plain
            return
        with closing(prefetch(plain)) as blocks:
            yield from blocks
        return
    if kind.content == "parquet":
        from toksmith.corpus.parquet import parquet_blocks

        with closing(prefetch(parquet_blocks(path, reading, streamed, span))) as blocks:
            yield from blocks
        return
    stored = read_stream(path, kind.compression, streamed)
    if span:
        stored = read_lines(path, *span, streamed)
    with closing(prefetch(stored)) as stream:
        if kind.content in DELIMITERS:
            with closing(check_stream(path, stream, reading.encoding_errors)) as text:
                blocks = table_blocks(path, text, reading.field, DELIMITERS[kind.content], streamed)
                with closing(prefetch(blocks)) as parsed:
                    yield from parsed
        elif kind.content == "jsonl":
            from toksmith.corpus.jsonl import jsonl_blocks

            lines: Iterator[tuple[bytes, int]] = stream  # the parser reports invalid lines itself
            if reading.encoding_errors != "strict":
                lines = check_stream(path, stream, reading.encoding_errors)
            start = span[0] if span else 0
            before = (lambda: count_lines(path, start - 1) + 1) if start else None
            parsed_lines = jsonl_blocks(path, lines, reading.field, before=before, skips=skips)
            with closing(prefetch(parsed_lines)) as blocks:
                yield from blocks
        else:
            separator = None if reading.separator is None else reading.separator.encode()
            plain_text = text_stream(path, stream)
            with closing(check_stream(path, plain_text, reading.encoding_errors)) as text:
                yield from split_stream(text, separator, cut, streamed)


def can_cut(kind: Kind, reading: Reading) -> bool:
    r"""Return whether a part of a file can be read without the text before it.

    It cannot in a compressed file, CSV and TSV, and text that has no separator, or one that can
    overlap itself, such as ``"\n\n"``.
    """
    if kind == Kind("text"):
        return reading.separator is not None and not overlaps_itself(reading.separator)
    return kind.content == "parquet" or kind == Kind("jsonl")
