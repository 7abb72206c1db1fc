"""The reader of CSV and TSV: each row is a document; the first row names the columns."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Generator, Iterator
from pathlib import Path

from toksmith.corpus.blocks import STREAMED, Block, block_of
from toksmith.errors import FormatError

DELIMITERS = {"csv": ",", "tsv": "\t"}

_LONGEST_FIELD = 2**31 - 1


def table_blocks(
    path: Path,
    stream: Iterator[tuple[bytes, int]],
    column: str,
    delimiter: str,
    most: int = STREAMED,
) -> Generator[Block, None, None]:
    """Yield the documents of a file. Fields may be quoted, and hold line breaks then (RFC 4180).

    Args:
        path: the file, for errors.
        stream: its bytes, which are UTF-8, with how many of the file were read for them.
        column: which column holds the text.
        delimiter: between fields.
        most: about how many bytes a block has.

    Raises:
        FormatError: there is no such column, a row is too short for it, or a quote is not closed.
    """
    # Python's limit of 131,072 characters a field is one for the whole process.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
    done = 0

    def lines() -> Iterator[str]:
        nonlocal done
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        rest = ""
        for part, done in stream:  # noqa: B007  # the rows below want to know
            found = (rest + decoder.decode(part)).split("\n")
            rest = found.pop()
            yield from (f"{line}\n" for line in found)
        if rest:
            yield rest

    rows = csv.reader(lines(), delimiter=delimiter, strict=True)
    documents: list[bytes] = []
    size = 0
    try:
        header = next(rows, [])
        place = _column(path, header, column)
        for row in rows:
            if not row:
                continue  # an empty line
            if len(row) <= place:
                raise FormatError(
                    path,
                    f"line {rows.line_num:,} has {len(row)} of the {len(header)} fields that the "
                    f"first row names: column {column!r} is missing",
                )
            documents.append(row[place].encode())
            size += len(documents[-1])
            if size >= most:
                yield block_of(documents, done)
                documents, size = [], 0
    except csv.Error as wrong:
        raise FormatError(
            path,
            f"line {rows.line_num:,} is wrong: {wrong}. A field that holds a quote is quoted, and "
            "its quotes are doubled",
        ) from wrong
    yield block_of(documents, done)


def _column(path: Path, header: list[str], column: str) -> int:
    if column not in header:
        known = ", ".join(map(repr, header)) or "none"
        raise FormatError(
            path,
            f"has no column {column!r}; its first row names {known:.200}. Choose one with field=",
        )
    return header.index(column)
