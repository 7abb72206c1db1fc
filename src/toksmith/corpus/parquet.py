"""Reads Parquet in batches: each row is a document, counted without a copy."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from toksmith._base.arrow_paths import arrow_source
from toksmith._base.lazy import extra, np
from toksmith.corpus.blocks import STREAMED, Block, Damage
from toksmith.corpus.checking import NOT_UTF8, check_slices, drop_invalid
from toksmith.corpus.options import ONE_STRING, Reading, field_advice
from toksmith.corpus.prefetch import prefetch_in_order
from toksmith.corpus.remote import FilePath, RemoteError, RemoteFile
from toksmith.errors import FormatError

_BUFFER = 1 << 20
"""The read-ahead buffer in bytes; without it, pyarrow would read a whole row group."""

_STRETCH = 4
"""The least size of row groups that a thread decodes together, in blocks."""

_READERS = 8
"""The maximum number of threads that decode one file."""

_WAITING = 16
"""The maximum number of decoded blocks of all threads together."""

_COUNTS = ["chunk", "count"]
"""The columns of a file of counts; see ``trainers/counting/files/parquet.py``."""


def parquet_blocks(
    path: FilePath,
    reading: Reading,
    most: int = STREAMED,
    span: tuple[int, int] | None = None,
    *,
    skips: bool = False,
    threads: int = 1,
) -> Generator[Block, None, None]:
    """Yield the documents of a file; nulls are skipped.

    Background threads decode the next row groups. Each thread decodes consecutive row groups of
    some blocks together, or one large row group.

    Args:
        path: the file.
        reading: the options ``field`` and ``encoding_errors``.
        most: the approximate size of a block in bytes.
        span: a range of row groups; ``None`` for all.
        skips: whether rows of invalid UTF-8 are left out, and listed in the blocks, instead of an
            error.
        threads: the maximum number of threads.

    Raises:
        FormatError: the file is damaged, has no such column of strings, or invalid UTF-8.
        MissingExtraError: pyarrow is not installed (``pip install toksmith[arrow]``).
    """
    pyarrow = extra("pyarrow", "arrow")
    try:
        with _open(path) as file:
            _check_column(path, file.schema_arrow, reading.field)
            groups = range(*span) if span else range(file.num_row_groups)
            column = _Column.of(path, reading, file, most, skips=skips)
    except (pyarrow.ArrowException, OSError) as wrong:
        raise _damaged(path, wrong) from wrong
    parts = [column.blocks(part, groups) for part in column.stretches(groups, _STRETCH * most)]
    readers = min(threads, _READERS)
    yield from prefetch_in_order(parts, readers, max(2, _WAITING // readers))


@dataclass(frozen=True)
class _Column:
    """The column of a file that holds the text.

    Attributes:
        path: the file.
        reading: the options ``field`` and ``encoding_errors``.
        metadata: pyarrow's metadata of the file.
        sizes: the size of the column in each row group, in bytes, decompressed.
        starts: the number of rows before each row group; at the end, that of all.
        rows: the number of rows of a batch.
        skips: whether rows of invalid UTF-8 are left out.
    """

    path: FilePath
    reading: Reading
    metadata: Any
    sizes: Sequence[int]
    starts: Sequence[int]
    rows: int
    skips: bool

    @classmethod
    def of(cls, path: FilePath, reading: Reading, file: Any, most: int, *, skips: bool) -> _Column:
        """Return the column of an open file; ``most`` is the approximate size of a batch."""
        meta = file.metadata
        place = next(
            i
            for i in range(meta.num_columns)
            if meta.schema.column(i).path.split(".")[0] == reading.field
        )
        groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
        sizes = [group.column(place).total_uncompressed_size for group in groups]
        rows = [group.num_rows for group in groups]
        largest = max(
            (size / count for size, count in zip(sizes, rows, strict=True) if count), default=1.0
        )
        at_once = int(min(max(most / max(largest, 1.0), 1), 1 << 16))
        return cls(path, reading, meta, sizes, [0, *accumulate(rows)], at_once, skips)

    def stretches(self, groups: range, least: int) -> Iterator[range]:
        """Yield consecutive row groups of at least ``least`` bytes together, but for the last."""
        start, size = groups.start, 0
        for group in groups:
            size += self.sizes[group]
            if size >= least or group + 1 == groups.stop:
                yield range(start, group + 1)
                start, size = group + 1, 0

    def blocks(self, groups: range, all_groups: range) -> Iterator[Block]:
        """Yield the documents of some row groups of those that are read."""
        pyarrow = extra("pyarrow", "arrow")
        path, name = self.path, self.reading.field
        stored = path.stat().st_size
        before = self.starts[all_groups.start]
        rows = self.starts[all_groups.stop] - before
        done_rows = self.starts[groups.start]
        try:
            with _open(path, self.metadata) as file:
                for batch in file.iter_batches(
                    self.rows, row_groups=groups, columns=[name], use_threads=False
                ):
                    first = done_rows
                    done_rows += len(batch)
                    done = stored * (done_rows - before) // max(rows, 1)
                    block = _block(batch.column(0), done)
                    if self.skips:
                        yield _drop_invalid(path, block, batch.column(0), first)
                        continue
                    try:
                        text, bounds = check_slices(
                            path, block.data, block.bounds, self.reading.encoding_errors
                        )
                    except FormatError as wrong:
                        raise FormatError(
                            path,
                            f"holds bytes in column {name!r} that are not UTF-8 text, in rows up "
                            f'to {done_rows:,}; encoding_errors="replace" puts U+FFFD in their '
                            "place",
                        ) from wrong
                    yield block._replace(data=text, bounds=bounds)
        except (pyarrow.ArrowException, OSError) as wrong:
            raise _damaged(path, wrong) from wrong


def _drop_invalid(path: FilePath, block: Block, array: Any, first: int) -> Block:
    """Return a block without the rows that are invalid UTF-8.

    Args:
        path: the file.
        block: the block.
        array: its rows, with nulls, which the block does not hold.
        first: the number of rows before it.
    """
    bounds, invalid = drop_invalid(block.data, block.bounds)
    if not invalid:
        return block
    rows = np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False)) + first + 1
    damaged = [Damage(path, int(rows[index]), NOT_UTF8) for index, _ in invalid]
    return block._replace(bounds=bounds, documents=len(bounds), damaged=damaged)


def group_sizes(path: FilePath, stored: int) -> list[int]:
    """Return the number of bytes of each row group of a file; their sum is ``stored``.

    Raises:
        FormatError: the file is damaged, or no Parquet.
        MissingExtraError: pyarrow is not installed (``pip install toksmith[arrow]``).
    """
    pyarrow = extra("pyarrow", "arrow")
    try:
        with _open(path) as file:
            meta = file.metadata
            packed = [
                sum(group.column(place).total_compressed_size for place in range(group.num_columns))
                for group in map(meta.row_group, range(meta.num_row_groups))
            ]
    except (pyarrow.ArrowException, OSError) as wrong:
        raise _damaged(path, wrong) from wrong
    ends = [stored * part // max(sum(packed), 1) for part in accumulate(packed)]
    return [end - start for start, end in pairwise([0, *ends])]


def row_count(path: FilePath) -> int:
    """Return the number of rows of a file, from its metadata.

    Raises:
        FormatError: the file is damaged, or no Parquet.
        MissingExtraError: pyarrow is not installed (``pip install toksmith[arrow]``).
    """
    pyarrow = extra("pyarrow", "arrow")
    try:
        with _open(path) as file:
            rows: int = file.metadata.num_rows
    except (pyarrow.ArrowException, OSError) as wrong:
        raise _damaged(path, wrong) from wrong
    return rows


@contextmanager
def _open(path: FilePath, metadata: Any = None) -> Iterator[Any]:
    parquet = extra("pyarrow.parquet", "arrow")
    with ExitStack() as stack:
        source = (
            stack.enter_context(path.open("rb"))
            if isinstance(path, RemoteFile)
            else arrow_source(path)
        )
        try:
            file = parquet.ParquetFile(
                source, metadata=metadata, pre_buffer=False, buffer_size=_BUFFER
            )
        except UnicodeDecodeError as wrong:
            raise extra("pyarrow", "arrow").ArrowInvalid(f"the name of a column {wrong}") from wrong
        yield stack.enter_context(file)


def _damaged(path: FilePath, wrong: Exception) -> FormatError:
    if isinstance(wrong, RemoteError):
        return FormatError(path, f"cannot be read: {wrong}")
    reason = str(wrong).splitlines()[0]
    return FormatError(path, f"is damaged, or no Parquet: {reason}")


def _check_column(path: FilePath, schema: Any, column: str) -> None:
    types = extra("pyarrow.types", "arrow")
    if column not in schema.names:
        known = ", ".join(map(repr, schema.names)) or "none"
        advice = "; counts of a text are given with counts=" if schema.names == _COUNTS else ""
        advice += field_advice(column, schema.names)
        raise FormatError(path, f"has no column {column!r}; its columns are {known:.200}{advice}")
    kind = schema.field(column).type
    if types.is_nested(kind):
        raise FormatError(path, f"has {kind} in column {column!r}: {ONE_STRING}")
    inner = kind.value_type if types.is_dictionary(kind) else kind
    tests = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    if not any(test(inner) for test in tests):
        raise FormatError(path, f"has {kind} in column {column!r}; strings are wanted")


def _block(array: Any, done: int) -> Block:
    pyarrow = extra("pyarrow", "arrow")
    if pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    nulls = array.null_count
    array = array.drop_null().cast(pyarrow.large_binary())
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    bounds = np.stack([ends[:-1], ends[1:]], axis=1)
    return Block(memoryview(data) if data is not None else b"", bounds, len(array), done, nulls)
