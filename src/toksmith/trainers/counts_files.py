"""Counts as files: Parquet, written and read a piece at a time, and the TSV of SentencePiece.

A Parquet file has the columns ``chunk`` (binary) and ``count`` (uint64), in order of first
appearance. Its metadata hold, under ``toksmith.counts``, what the columns do not say: the splitter,
the documents, and the totals that reveal a truncated file. A line of TSV (``input_format=tsv``) is
a word, a tab, and its count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toksmith._base.checks import whole
from toksmith._base.files import open_output
from toksmith._base.lazy import extra, np
from toksmith.corpus import AnyPath
from toksmith.engine.counting import Take, UInts
from toksmith.errors import FormatError, OptionError, SplitError, UnsupportedError
from toksmith.splitters import PatternSplitter
from toksmith.trainers.counts import Counts
from toksmith.version import __version__

_KEY = b"toksmith.counts"
_LAYOUT = 1
_ROWS = 1 << 17
_LONGEST = (1 << 31) - 1
"""The maximum size in bytes of a chunk, and of all chunks of one piece (Arrow's 32-bit offsets)."""


def write(counts: Counts, path: AnyPath) -> None:
    """Write counts atomically; see :meth:`toksmith.Counts.save`."""
    with _writer(path, counts.splitter, counts.documents, counts.bytes, len(counts)) as add:
        add(counts.chunks, counts.ends, counts.counts)


def write_passed(pass_on: Callable[[Take], None], path: AnyPath) -> None:
    """Write counted chunks that are passed on in batches, of no splitter or documents.

    Args:
        pass_on: calls a function with each batch; it is called twice.
        path: the file.
    """
    size = number = 0

    def add_up(chunks: bytes, ends: UInts, counts: UInts) -> None:
        nonlocal size, number
        size += int(np.dot(np.diff(ends, prepend=np.uint64(0)), counts))
        number += len(ends)

    pass_on(add_up)
    with _writer(path, None, 0, size, number) as add:
        pass_on(add)


@contextmanager
def _writer(
    path: AnyPath, splitter: PatternSplitter | None, documents: int, size: int, chunks: int
) -> Iterator[Take]:
    """Write a file of counts, in as many batches as are passed to the yielded function."""
    pa, pq = _pyarrow()
    header = {
        "layout": _LAYOUT,
        "toksmith": __version__,
        "splitter": _splitter_entry(splitter),
        "documents": documents,
        "bytes": size,
        "chunks": chunks,
    }
    schema = pa.schema(
        [pa.field("chunk", pa.binary(), False), pa.field("count", pa.uint64(), False)],
        {_KEY: json.dumps(header).encode()},
    )
    with (
        open_output(Path(path)) as output,
        pq.ParquetWriter(
            output, schema, compression="zstd", use_dictionary=False, write_page_checksum=True
        ) as file,
    ):

        def add(chunks: bytes, ends: UInts, counts: UInts) -> None:
            offsets = np.concatenate([np.zeros(1, np.int64), ends.astype(np.int64)])
            data = pa.py_buffer(chunks)
            for first, last in _row_groups(offsets):
                column = pa.LargeBinaryArray.from_buffers(
                    pa.large_binary(),
                    last - first,
                    [None, pa.py_buffer(offsets[first : last + 1]), data],
                )
                columns = [column.cast(pa.binary()), pa.array(counts[first:last])]
                file.write_batch(pa.record_batch(columns, schema=schema))

        yield add


def read(path: AnyPath) -> Counts:
    """Read counts; see :meth:`toksmith.Counts.load`."""
    parts = list(pieces(path))
    sizes = np.concatenate([part.sizes for part in parts])
    return Counts(
        b"".join(part.chunks for part in parts),
        np.cumsum(sizes, dtype=np.uint64),
        np.concatenate([part.counts for part in parts]),
        parts[0].splitter,
        parts[0].documents,
    )


def pieces(path: AnyPath) -> Iterator[Counts]:
    """Yield the counts of a file piece by piece; the first piece has the number of documents.

    Raises:
        FormatError: the file cannot be read, is damaged, or holds no counts.
        MissingExtraError: pyarrow is not installed.
    """
    pa, pq = _pyarrow()
    with _saying(path, pa), pq.ParquetFile(path, page_checksum_verification=True) as file:
        header = _header(path, file)
        splitter = _splitter_of(path, header)
        documents = _number(path, header, "documents")
        yield Counts(b"", np.zeros(0, np.uint64), np.zeros(0, np.uint64), splitter, documents)
        chunks = size = 0
        for batch in file.iter_batches(_ROWS, columns=["chunk", "count"]):
            piece = _counts_of(path, pa, batch, splitter)
            chunks += len(piece)
            size += piece.bytes
            yield piece
    if (chunks, size) != (_number(path, header, "chunks"), _number(path, header, "bytes")):
        raise FormatError(path, "is damaged: its counts do not match its totals")


def _row_groups(offsets: Any) -> Iterator[tuple[int, int]]:
    """Yield the row ranges ``(start, end)`` of groups of at most ``_LONGEST`` bytes."""
    first, rows = 0, len(offsets) - 1
    while first < rows:
        fits = int(np.searchsorted(offsets, offsets[first] + _LONGEST, "right")) - 1
        last = min(first + _ROWS, rows, fits)
        if last == first:
            raise OptionError("a chunk of 2**31 bytes or more cannot be saved: use a split pattern")
        yield first, last
        first = last


def _counts_of(path: AnyPath, pa: Any, batch: Any, splitter: PatternSplitter | None) -> Counts:
    chunks, counts = batch.column("chunk"), batch.column("count")
    if chunks.null_count or counts.null_count:
        raise FormatError(path, "holds no counts: a value is missing")
    chunks = chunks.cast(pa.large_binary())
    _, ends, data = chunks.buffers()
    bounds = np.frombuffer(ends, np.int64)[chunks.offset : chunks.offset + len(chunks) + 1]
    return Counts(
        b"" if data is None else data[int(bounds[0]) : int(bounds[-1])].to_pybytes(),
        (bounds[1:] - bounds[0]).astype(np.uint64),
        counts.to_numpy(zero_copy_only=False),
        splitter,
    )


def _header(path: AnyPath, file: Any) -> dict[str, Any]:
    schema = file.schema_arrow
    types = {field.name: str(field.type) for field in schema}
    if _KEY not in (schema.metadata or {}) or types != {"chunk": "binary", "count": "uint64"}:
        raise FormatError(
            path,
            "holds no counts of toksmith: such a file has the columns chunk (binary) and count "
            f"(uint64), and the entry {_KEY.decode()} in its metadata",
        )
    try:
        header = json.loads(schema.metadata[_KEY])
    except ValueError as wrong:
        raise FormatError(path, f"its metadata {_KEY.decode()} are no JSON: {wrong}") from wrong
    layout = header.get("layout") if isinstance(header, dict) else None
    if layout != _LAYOUT:
        raise FormatError(path, f"its layout is {layout!r:.40}, but this version reads {_LAYOUT}")
    return dict(header)


def _number(path: AnyPath, header: dict[str, Any], name: str) -> int:
    try:
        return whole(name, header.get(name), least=0)
    except OptionError as wrong:
        raise FormatError(path, f"in its metadata, {wrong}") from wrong


def _splitter_entry(splitter: PatternSplitter | None) -> dict[str, Any] | None:
    if splitter is None:
        return None
    then = {"then": [*splitter.then]} if splitter.then else {}
    return {"pattern": splitter.pattern, "gaps": splitter.gaps, **then}


def _splitter_of(path: AnyPath, header: dict[str, Any]) -> PatternSplitter | None:
    entry = header.get("splitter")
    if entry is None:
        return None
    gaps = entry.get("gaps") if isinstance(entry, dict) else None
    if gaps not in ("keep", "drop"):
        raise FormatError(path, f"in its metadata, {entry!r:.80} is no splitter")
    then = entry.get("then", [])
    if not isinstance(then, list) or not all(
        isinstance(each, str) for each in (entry.get("pattern"), *then)
    ):
        raise FormatError(path, f"in its metadata, {entry!r:.80} is no splitter")
    try:
        return PatternSplitter(entry["pattern"], gaps, tuple(then))
    except SplitError as wrong:
        raise FormatError(path, str(wrong)) from wrong


def _pyarrow() -> tuple[Any, Any]:
    return extra("pyarrow", "arrow"), extra("pyarrow.parquet", "arrow")


@contextmanager
def _saying(path: AnyPath, pa: Any) -> Iterator[None]:
    """Convert pyarrow's exceptions to FormatErrors that name the file."""
    try:
        yield
    except FormatError:
        raise
    except OptionError as wrong:
        raise FormatError(path, f"holds no counts: {wrong}") from wrong
    except FileNotFoundError:
        raise FormatError(path, "there is no such file") from None
    except (pa.ArrowException, OSError, ValueError) as wrong:
        said = str(wrong).splitlines()
        raise FormatError(path, f"is no Parquet file, or damaged: {said[0] if said else ''}") from (
            wrong
        )


_MOST = 2**63 - 1
_DIGITS = len(str(_MOST))


def read_tsv(path: AnyPath, splitter: PatternSplitter | None = None) -> Counts:
    """Read counts; see :meth:`toksmith.Counts.from_tsv`."""
    found: Counter[bytes] = Counter()
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, 1):
                word, tab, count = line.rstrip(b"\r\n").partition(b"\t")
                if not (word and tab and _is_count(count)):
                    raise FormatError(
                        path,
                        f"line {number} is {line.decode(errors='replace')!r:.80}: write a word, "
                        "a tab and its count",
                    )
                found[word] += int(count)
    except FileNotFoundError:
        raise FormatError(path, "there is no such file") from None
    except (OSError, ValueError) as wrong:
        if isinstance(wrong, FormatError):
            raise
        raise FormatError(path, f"cannot be read: {getattr(wrong, 'strerror', wrong)}") from wrong
    return Counts.of(found, split=splitter)


def write_tsv(counts: Counts, path: AnyPath) -> None:
    """Write counts atomically; see :meth:`toksmith.Counts.to_tsv`."""
    with open_output(Path(path)) as file:
        for chunk, count in counts:
            if b"\t" in chunk or b"\n" in chunk:
                raise UnsupportedError(
                    f"tsv cannot hold the chunk {chunk!r:.60}, which has a tab or a line break: "
                    r'count with split=r"\S+", gaps="drop"'
                )
            if count:
                file.write(b"%s\t%d\n" % (chunk, count))


def _is_count(digits: bytes) -> bool:
    return digits.isdigit() and len(digits) <= _DIGITS and 0 < int(digits) <= _MOST
