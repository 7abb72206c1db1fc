"""Columns of lists of ids in Arrow's types: what Parquet and Arrow files of tokens share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import extra, json, np
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles.format import Settings
from toksmith.tokenfiles.source import DocumentRange, TokenBlock, Tokens, TokenSource, ranges
from toksmith.tokenfiles.token_files import TokenFiles, one_type

COLUMN = "input_ids"
TOKENS = 125_000_000
"""The tokens of a file at most: 500 MB of int32, Hugging Face's size of a shard."""

_KEY = b"toksmith"


def file_spans(
    tokens: TokenSource, folder: Path, settings: Settings, ending: str
) -> list[tuple[Path, DocumentRange]]:
    """Return the files to write, named as Hugging Face does, and the documents of each."""
    lengths = tokens.lengths
    most = settings.shard_tokens or TOKENS
    found = list(ranges(lengths, most + 1, reach=False))
    return [
        (
            folder / f"{settings.stem}-{number:05d}-of-{len(found):05d}{ending}",
            DocumentRange(tokens, first, last, lengths=lengths),
        )
        for number, (first, last) in enumerate(found)
    ]


def schema(dtype: np.dtype[Any], settings: Settings) -> Any:
    """Return the schema of a file: one column, and the facts about its ids."""
    pyarrow = extra("pyarrow", "arrow")
    facts = {
        "tokenizer": settings.tokenizer_name,
        "tokenizer_hash": settings.tokenizer_hash,
        "vocab_size": settings.vocab_size,
        "dtype": dtype.name,
        "eos": settings.eos,
        "sequence_length": settings.sequence_length,
    }
    kind = pyarrow.list_(pyarrow.from_numpy_dtype(dtype))
    return pyarrow.schema([(COLUMN, kind)], {_KEY: json.dumps(facts).encode()})


def facts(found: Any) -> dict[str, object]:
    """Return the facts about the ids that a schema holds; empty for files of other programs."""
    try:
        held = json.loads((found.metadata or {}).get(_KEY, b"{}"))
    except (ValueError, RecursionError):
        held = {}
    return held if isinstance(held, dict) else {}


def record_batch(block: TokenBlock, of: Any) -> Any:
    """Return a record batch of the documents of a block."""
    pyarrow = extra("pyarrow", "arrow")
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(block.lengths)])
    if ends[-1] >= 1 << 31:
        raise OptionError("a document has 2^31 tokens or more: lists of Arrow cannot hold it")
    ids = pyarrow.array(np.ascontiguousarray(block.ids))
    lists = pyarrow.ListArray.from_arrays(pyarrow.array(ends.astype(np.int32)), ids)
    return pyarrow.RecordBatch.from_arrays([lists.cast(of.types[0])], schema=of)


def column_of(path: Path, found: Any) -> tuple[str, np.dtype[Any]]:
    """Return the name of the column of ids in a schema, and the type of its ids.

    Raises:
        FormatError: there is no such column.
    """
    types = extra("pyarrow.types", "arrow")
    names = found.names
    column = next((each for each in (COLUMN, "tokens") if each in names), None)
    if column is None:
        raise FormatError(path, f"has columns {', '.join(names)}: {COLUMN} or tokens expected")
    kind = found.field(column).type
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    if not is_list or not types.is_integer(kind.value_type):
        raise FormatError(path, f"its column {column} is {kind}: lists of integers expected")
    return column, np.dtype(str(kind.value_type))  # to_pandas_dtype() needs pandas in some versions


class ListPart(ABC):
    """One file of lists of ids, in groups of rows that are read one at a time.

    Attributes:
        path: the file.
        dtype: the type of the ids.
        facts: what its schema says about the ids; empty for files of other programs.
    """

    path: Path
    dtype: np.dtype[Any]
    facts: dict[str, object]

    def __init__(self, path: Path, rows: list[int]) -> None:
        self.path = path
        self._firsts = np.concatenate([np.zeros(1, np.int64), np.cumsum(rows, dtype=np.int64)])

    def __reduce__(self) -> tuple[type[ListPart], tuple[Path]]:
        """Pickle the path alone: another process opens the file again."""
        return type(self), (self.path,)

    @abstractmethod
    def group(self, number: int) -> Any:
        """Return an array of the lists of a group of rows."""

    def __len__(self) -> int:
        """Return the number of documents."""
        return int(self._firsts[-1])

    @cached_property
    def lengths(self) -> OffsetArray:
        """The number of tokens of each document: int64, shape ``(documents,)``."""
        found = [self._lengths(number) for number in range(len(self._firsts) - 1)]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def ids(self, first: int, last: int) -> Tokens:
        """Return the ids of documents ``first`` to ``last - 1``, end to end."""
        found = []
        number = int(np.searchsorted(self._firsts, first, side="right")) - 1
        while first < last:
            start, end = self._firsts[number : number + 2].tolist()
            stop = min(end, last)
            found.append(self._ids(number, first - start, stop - start))
            first, number = stop, number + 1
        if len(found) == 1:
            return found[0]
        return np.concatenate(found) if found else np.zeros(0, self.dtype)

    def _lengths(self, number: int) -> OffsetArray:
        with errors_of(self.path):
            lists = self._complete(self.group(number))
            lengths = extra("pyarrow.compute", "arrow").list_value_length(lists)
        found: OffsetArray = lengths.to_numpy(zero_copy_only=False).astype(np.int64)
        return found

    def _ids(self, number: int, first: int, last: int) -> Tokens:
        with errors_of(self.path):
            lists = self._complete(self.group(number)).slice(first, last - first)
            ids: Tokens = self._complete(lists.flatten()).to_numpy(zero_copy_only=False)
        return ids

    def _complete(self, array: Any) -> Any:
        if array.null_count:
            raise FormatError(self.path, f"has missing values in its column {COLUMN}")
        return array


def token_files(path: Path, name: str, parts: Sequence[ListPart]) -> TokenFiles:
    """Return the documents of files of one format.

    Raises:
        FormatError: the types of their ids differ.
    """
    kind = one_type(path, (part.dtype for part in parts))
    return TokenFiles(path, name, kind, parts, parts[0].facts if parts else None)


@contextmanager
def errors_of(path: Path) -> Iterator[None]:
    """Turn errors of pyarrow, and of the system in it, into FormatError."""
    pyarrow = extra("pyarrow", "arrow")
    try:
        yield
    except FormatError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as wrong:
        raise FormatError(path, f"cannot be read: {wrong}") from wrong
