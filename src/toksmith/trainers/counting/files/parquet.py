"""Files of counts in Parquet, written and read batch by batch.

A file has the columns ``chunk`` (binary) and ``count`` (uint64), in order of first
appearance. Its metadata hold, under ``toksmith.counts``, what the columns do not say: the splitter,
the documents, the totals that reveal a truncated file, and a SHA-256 of all this: Parquet has
checksums of its pages, but none of its metadata.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toksmith._base.arrow_paths import arrow_source
from toksmith._base.checks import whole
from toksmith._base.lazy import extra, np
from toksmith._base.seals import is_sealed, seal
from toksmith._base.sizes import format_size
from toksmith.corpus import AnyPath
from toksmith.corpus.remote import (
    FilePath,
    RemoteError,
    RemoteFile,
    as_file,
    open_file_output,
)
from toksmith.engine import counting
from toksmith.engine.counting import CountedChunks, Take, UInts
from toksmith.errors import FormatError, OptionError, SplitError
from toksmith.splitters import PatternSplitter
from toksmith.trainers.counting.counts import Counts
from toksmith.trainers.counting.files.shard_notes import repair_advice
from toksmith.trainers.counting.streaming import StreamedCounts
from toksmith.trainers.temporary_files import FULL_DISK
from toksmith.version import __version__

_KEY = b"toksmith.counts"
_LAYOUT = 2
_BUFFER = 1 << 18
"""The number of bytes of a file that are read at a time."""

_LONGEST = (1 << 31) - 1
"""The maximum size in bytes of a chunk (Arrow's 32-bit offsets)."""


def write(counts: StreamedCounts, path: FilePath, shard: Mapping[str, Any] | None = None) -> None:
    """Write counts atomically, a batch at a time; see :meth:`toksmith.Counts.save`.

    Args:
        counts: the counts.
        path: the file, which is replaced.
        shard: a note on the part of a corpus that was counted, for :attr:`CountsFile.shard`.

    Raises:
        OptionError: the file cannot be written, or a chunk is too long.
    """
    pa, pq = _pyarrow()
    header = {
        "layout": _LAYOUT,
        "toksmith": __version__,
        "splitter": _splitter_entry(counts.splitter),
        "documents": counts.documents,
        "bytes": counts.bytes,
        "chunks": counts.chunks,
        "occurrences": counts.occurrences,
        **({} if shard is None else {"shard": dict(shard)}),
    }
    schema = pa.schema(
        [pa.field("chunk", pa.binary(), False), pa.field("count", pa.uint64(), False)],
        {_KEY: json.dumps(seal(header)).encode()},
    )
    passed = size = 0

    def add(data: bytes, ends: UInts, numbers: UInts) -> None:
        nonlocal passed, size
        if len(data) > _LONGEST:
            raise OptionError("a chunk of 2**31 bytes or more cannot be saved: use a split pattern")
        offsets = np.zeros(len(ends) + 1, np.int32)
        offsets[1:] = ends
        # pa.array() would import pandas.
        columns = [
            pa.Array.from_buffers(kind, len(ends), [None, *map(pa.py_buffer, buffers)])
            for kind, *buffers in (
                (pa.binary(), offsets, data),
                (pa.uint64(), np.ascontiguousarray(numbers)),
            )
        ]
        batch = pa.record_batch(columns, schema=schema)
        passed, size = passed + len(ends), size + batch.nbytes
        file.write_batch(batch)

    folder = Path()
    try:
        with open_file_output(path) as output:
            folder = Path(output.name).parent
            with pq.ParquetWriter(
                output, schema, compression="zstd", use_dictionary=False, write_page_checksum=True
            ) as file:
                counts.pass_on(add)
    except OptionError as wrong:
        cause = wrong.__cause__
        if not isinstance(cause, OSError) or cause.errno not in FULL_DISK:
            raise
        most = format_size(size * counts.chunks // max(1, passed))
        raise OptionError(
            f"{wrong}; the file needs at most {most} in {folder}: make room, or choose a folder on "
            "another disk"
        ) from cause


def write_passed(
    pass_on: Callable[[Take], None],
    path: AnyPath,
    splitter: PatternSplitter | None = None,
    documents: int = 0,
) -> None:
    """Write counted chunks that are passed on in batches.

    Args:
        pass_on: calls a function with each batch; it is called twice.
        path: the file.
        splitter: the splitter that cut the chunks.
        documents: the number of documents.
    """
    size = number = occurrences = 0

    def add_up(chunks: bytes, ends: UInts, counts: UInts) -> None:
        nonlocal size, number, occurrences
        size += int((np.diff(ends, prepend=np.uint64(0)) * counts).sum())
        number += len(ends)
        occurrences += int(counts.sum())

    pass_on(add_up)
    streamed = StreamedCounts(pass_on, splitter, documents, number, occurrences, size)
    write(streamed, as_file(path))


class CountsFile:
    """A file of counts, which is read a batch at a time.

    Args:
        path: the file.

    Attributes:
        path: the file.
        splitter: as in :class:`Counts`.
        documents: the number of documents.
        chunks: the number of distinct chunks.
        bytes: the size of the counted text in bytes.
        occurrences: the sum of all counts.
        shard: a note on the part of a corpus that was counted; ``None`` if there is none.

    Raises:
        FormatError: the file cannot be read, is damaged, or holds no counts.
        MissingExtraError: pyarrow is not installed.

    Example:
        >>> Counts.from_texts(["low lower low"]).save("low.parquet")
        >>> file = CountsFile("low.parquet")
        >>> file.chunks, file.occurrences, file.bytes
        (3, 3, 13)
    """

    def __init__(self, path: AnyPath) -> None:
        self.path = as_file(path)
        with self._opened() as (_, header):
            self.splitter = _splitter_of(path, header)
            self.documents = _number(path, header, "documents")
            self.chunks = _number(path, header, "chunks")
            self.bytes = _number(path, header, "bytes")
            self.occurrences = _number(path, header, "occurrences")
            self.shard: dict[str, Any] | None = header.get("shard")
            if not isinstance(self.shard, dict | None):
                raise FormatError(path, f"in its metadata, shard is {self.shard!r:.40}")

    def batches(self) -> Iterator[CountedChunks]:
        """Yield the chunks in order of first appearance.

        Raises:
            FormatError: the file cannot be read or is damaged; also after the last batch, if the
                counts do not match the totals.

        Example:
            >>> Counts.from_texts(["low lower"]).save("low.parquet")
            >>> [chunks for chunks, _, _ in CountsFile("low.parquet").batches()]
            [b'low lower']
        """
        for data, ends, counts in self._buffers():
            yield data.to_pybytes(), ends, counts

    def read(self) -> Counts:
        """Return all counts.

        Raises:
            FormatError: see :meth:`batches`.

        Example:
            >>> Counts.from_texts(["low lower"]).save("low.parquet")
            >>> CountsFile("low.parquet").read().most_common()
            [(b'low', 1), (b' lower', 1)]
        """
        ends, counts = np.zeros(self.chunks, np.uint64), np.zeros(self.chunks, np.uint64)
        parts = []
        first = size = 0
        for data, part_ends, part_counts in self._buffers():
            last = first + len(part_ends)
            np.add(part_ends, np.uint64(size), out=ends[first:last])
            counts[first:last] = part_counts
            parts.append(data)
            first, size = last, size + data.size
        with _saying(self.path):
            return Counts(b"".join(parts), ends, counts, self.splitter, self.documents)

    def _buffers(self) -> Iterator[tuple[Any, Any, Any]]:
        chunks = size = 0
        with self._opened() as (file, _):
            for batch in file.iter_batches(
                _rows_of_batch(file), columns=["chunk", "count"], use_threads=False
            ):
                data, ends, counts = _columns(self.path, batch)
                chunks += len(ends)
                sizes = np.diff(ends, prepend=np.uint64(0))
                if not sizes.all():
                    raise FormatError(self.path, "holds no counts: a chunk is empty")
                if float((sizes.astype(float) * counts.astype(float)).sum()) >= 2.0**63:
                    raise FormatError(
                        self.path, "holds no counts: the text comes to 2**63 bytes or more"
                    )
                size += int((sizes * counts).sum())
                if chunks > self.chunks:
                    break
                yield data, ends, counts
            if (chunks, size) != (self.chunks, self.bytes):
                raise FormatError(self.path, "is damaged: its counts do not match its totals")

    @contextmanager
    def _opened(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        _, pq = _pyarrow()
        with _saying(self.path):
            path = self.path
            source = path.open() if isinstance(path, RemoteFile) else arrow_source(path)
            # Without these, the whole file is read ahead into memory.
            bounded = {"pre_buffer": False, "buffer_size": _BUFFER}
            with pq.ParquetFile(source, page_checksum_verification=True, **bounded) as file:
                yield file, _header(self.path, file)


def pieces(file: CountsFile) -> Iterator[Counts]:
    """Yield the counts of a file piece by piece; the first piece has the number of documents.

    Raises:
        FormatError: the file cannot be read or is damaged.
    """
    none = np.zeros(0, np.uint64)
    yield Counts(b"", none, none, file.splitter, file.documents)
    for batch in file.batches():
        with _saying(file.path):
            piece = Counts(*batch, splitter=file.splitter)
        yield piece


def _rows_of_batch(file: Any) -> int:
    """Return the number of rows of a batch, so that chunks of the mean size make no large one."""
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    size = sum(group.total_byte_size for group in groups)
    fits: int = counting.BATCH_BYTES * file.metadata.num_rows // max(1, size)
    return max(1, min(counting.BATCH_CHUNKS, fits))


def _columns(path: FilePath, batch: Any) -> tuple[Any, Any, Any]:
    """Return the chunks of a batch in a buffer, the end of each, and their counts."""
    chunks, counts = batch.column("chunk"), batch.column("count")
    if chunks.null_count or counts.null_count:
        raise FormatError(path, "holds no counts: a value is missing")
    _, ends, data = chunks.buffers()
    bounds = np.frombuffer(ends, np.int32)[chunks.offset : chunks.offset + len(chunks) + 1]
    held = extra("pyarrow", "arrow").py_buffer(b"") if data is None else data
    first = int(bounds[0])
    return (
        held.slice(first, int(bounds[-1]) - first),
        (bounds[1:] - first).astype(np.uint64),
        _numbers_of(counts),
    )


def _numbers_of(column: Any) -> UInts:
    """Return a column without missing values; its ``to_numpy`` would import pandas."""
    if not len(column):
        return np.zeros(0, np.uint64)
    data = np.frombuffer(column.buffers()[1], np.uint64)
    return data[column.offset : column.offset + len(column)]


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
    except (ValueError, RecursionError) as wrong:
        raise FormatError(path, f"its metadata {_KEY.decode()} are no JSON: {wrong}") from wrong
    layout = header.get("layout") if isinstance(header, dict) else None
    if layout != _LAYOUT:
        raise FormatError(
            path,
            f"its layout is {layout!r:.40}, but this version reads {_LAYOUT}: make the counts "
            "again",
        )
    if not is_sealed(header):
        raise FormatError(path, "is damaged (its metadata have another SHA-256): make it again")
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
def _saying(path: AnyPath) -> Iterator[None]:
    """Convert pyarrow's exceptions to FormatErrors that name the file, and what repairs it."""
    pa, _ = _pyarrow()
    try:
        yield
    except FormatError as wrong:
        raise FormatError(path, wrong.reason + repair_advice(path)) from wrong.__cause__
    except OptionError as wrong:
        raise FormatError(path, f"holds no counts: {wrong}{repair_advice(path)}") from wrong
    except FileNotFoundError:
        raise FormatError(path, "there is no such file") from None
    except (pa.ArrowException, OSError, ValueError) as wrong:
        if isinstance(wrong, RemoteError) or getattr(wrong, "errno", None) is not None:
            reason = getattr(wrong, "strerror", None) or wrong
            raise FormatError(path, f"cannot be read: {reason}") from wrong
        said = (str(wrong).splitlines() or [""])[0].rstrip(".")
        raise FormatError(
            path, f"is no Parquet file, or damaged: {said}{repair_advice(path)}"
        ) from wrong
