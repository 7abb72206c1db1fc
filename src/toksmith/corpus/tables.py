"""The reader of CSV and TSV: each row is a document; the first row names the columns."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Generator, Iterator

from toksmith.corpus.blocks import STREAMED, Block, Damage, block_of
from toksmith.corpus.checking import NOT_UTF8
from toksmith.corpus.options import field_advice
from toksmith.corpus.remote import FilePath
from toksmith.errors import FormatError

DELIMITERS = {"csv": ",", "tsv": "\t"}

_LONGEST_FIELD = 2**31 - 1


def table_blocks(
    path: FilePath,
    stream: Iterator[tuple[bytes, int]],
    column: str,
    delimiter: str,
    most: int = STREAMED,
    *,
    skips: bool = False,
) -> Generator[Block, None, None]:
    """Yield the documents of a file. Fields may be quoted, and hold line breaks then (RFC 4180).

    Args:
        path: the file, for errors.
        stream: its bytes, which are UTF-8 unless ``skips`` is true, with how many of the file were
            read for them.
        column: which column holds the text.
        delimiter: between fields.
        most: about how many bytes a block has.
        skips: whether rows that are too short or invalid UTF-8 are left out, and listed in the
            blocks, instead of an error.

    Raises:
        FormatError: there is no such column, a row is too short for it, or a quote is not closed.
    """
    # Python's limit of 131,072 characters a field is one for the whole process.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
    done = 0

    def lines() -> Iterator[str]:
        nonlocal done
        # Invalid bytes become lone surrogates, which encode() refuses below.
        decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        rest = ""
        for part, done in stream:  # noqa: B007  # the rows below want to know
            found = (rest + decoder.decode(part)).split("\n")
            rest = found.pop()
            yield from (f"{line}\n" for line in found)
        if rest := rest + decoder.decode(b"", final=True):
            yield rest

    rows = csv.reader(lines(), delimiter=delimiter, strict=True)
    documents: list[bytes] = []
    damaged: list[Damage] = []
    size = 0
    try:
        header = next(rows, [])
        place = _column(path, header, column)
        for row in rows:
            if not row:
                continue  # an empty line
            try:
                documents.append(_text_of(row, place, header))
            except _RowError as wrong:
                if not skips:
                    raise FormatError(path, f"line {rows.line_num:,} {wrong}") from None
                damaged.append(Damage(path, rows.line_num, str(wrong)))
                continue
            size += len(documents[-1])
            if size >= most:
                yield block_of(documents, done, damaged=damaged)
                documents, damaged, size = [], [], 0
    except csv.Error as wrong:
        raise FormatError(
            path,
            f"line {rows.line_num:,} is wrong: {wrong}. A field that holds a quote is quoted, and "
            "its quotes are doubled",
        ) from wrong
    yield block_of(documents, done, damaged=damaged)


class _RowError(Exception):
    """A row that holds no text; the message is read after the number of its line."""


def _text_of(row: list[str], place: int, header: list[str]) -> bytes:
    if len(row) <= place:
        raise _RowError(
            f"has {len(row)} of the {len(header)} fields that the first row names: column "
            f"{header[place]!r} is missing"
        )
    try:
        return row[place].encode()
    except UnicodeEncodeError:
        raise _RowError(NOT_UTF8) from None


def _column(path: FilePath, header: list[str], column: str) -> int:
    if column not in header:
        known = ", ".join(map(repr, header)) or "none"
        raise FormatError(
            path,
            f"has no column {column!r}; its first row names {known:.200}. Choose one with "
            f"field={field_advice(column, header)}",
        )
    return header.index(column)
