"""Lists the files of a corpus with what is known without reading them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toksmith.corpus.options import Reading
from toksmith.corpus.paths import ONE, AnyPath, expand_all, weighted_runs
from toksmith.corpus.remote import FilePath
from toksmith.corpus.sources import check_field
from toksmith.corpus.streams import Kind, file_size, kind_of, read_head


@dataclass(frozen=True)
class ListedFile:
    """A file of a corpus.

    Attributes:
        path: the path as given.
        kind: its content and compression.
        size: the size of the file in bytes; ``None`` for a pipe.
        documents: the number of its documents before any selection; ``None`` if only reading all of
            it tells.
        weight: the factor of its counts.
    """

    path: FilePath
    kind: Kind
    size: int | None
    documents: int | None
    weight: float


def list_files(files: AnyPath | Sequence[AnyPath], reading: Reading) -> list[ListedFile]:
    """Return the files of a corpus in the order in which they are read.

    Only the start of each file is read, and the metadata of Parquet.

    Raises:
        FormatError: a file does not exist or cannot be read, or its format is not supported.
        OptionError: a weight names no file, or ``field`` is given and all files are text.
    """
    runs = weighted_runs(expand_all(files), reading.weights)
    check_field([path for _, paths in runs for path in paths], reading)
    return [_listed(path, weight / ONE, reading) for weight, paths in runs for path in paths]


def _listed(path: FilePath, weight: float, reading: Reading) -> ListedFile:
    kind = kind_of(path, read_head(path), reading.read_as)
    documents = None
    if kind.content == "parquet":
        from toksmith.corpus.parquet import row_count

        documents = row_count(path)
    elif kind.content == "text" and reading.separator is None:
        documents = 1
    return ListedFile(path, kind, file_size(path) if path.is_file() else None, documents, weight)
