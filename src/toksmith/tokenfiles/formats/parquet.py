"""Parquet with a column ``input_ids``, which ``datasets.load_dataset`` reads.

Files are named as Hugging Face names them, ``train-00000-of-00012.parquet``, with
125,000,000 tokens (500 MB) or ``shard_tokens`` at most:
``load_dataset("parquet", data_files="FOLDER/train-*.parquet")``. A row is a document, a list of
int32, which PyTorch and ``datasets`` take without a cast. The schema's metadata hold the tokenizer,
its hash, the number of its ids and the end-of-text id as JSON under the key ``toksmith``.

A row group has 1,048,576 tokens at most. To read one document, its row group is decoded: for
documents in random order, the format ``arrow`` is faster.

A document has no end-of-text id unless one is asked for. An empty document is an empty list.
Needs ``pip install toksmith[arrow]``.
"""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Any

from toksmith._base.arrow_paths import arrow_source
from toksmith._base.lazy import extra
from toksmith.errors import FormatError
from toksmith.tokenfiles.format import Format, Place, Settings
from toksmith.tokenfiles.formats.folders import folders_with, require
from toksmith.tokenfiles.formats.list_columns import (
    ListPart,
    column_of,
    errors_of,
    facts,
    file_spans,
    record_batch,
    schema,
    token_files,
)
from toksmith.tokenfiles.regular import open_regular
from toksmith.tokenfiles.source import TokenSource
from toksmith.tokenfiles.token_files import TokenFiles

_GROUP = 1 << 20
"""The tokens of a row group at most, unless one document is longer."""
_MAGIC = b"PAR1"


class Parquet(Format):
    """Files of one column."""

    name = "parquet"
    eos = None
    empty = "frame"
    types = (("int32", 1 << 31),)
    package, extra = "pyarrow", "arrow"

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``STEM-00000-of-00001.parquet`` and so on."""
        parquet = extra("pyarrow.parquet", "arrow")
        columns = schema(tokens.dtype, settings)
        files = file_spans(tokens, folder, settings, ".parquet")
        for path, part in files:
            with (
                path.open("xb") as file,
                parquet.ParquetWriter(
                    file,
                    columns,
                    use_dictionary=False,
                    compression="zstd",
                    write_page_checksum=True,
                ) as writer,
            ):
                for block in part.blocks(_GROUP):
                    writer.write_batch(record_batch(block, columns), len(block.lengths))
        return [path for path, _ in files]

    def find(self, path: Path) -> list[Path]:
        """Return the files of a folder, or of the folders in it, that begin as Parquet does."""
        if path.suffix == ".parquet":
            found = [path]
        else:
            folders = folders_with(path, "*.parquet")
            found = [file for folder in folders for file in sorted(folder.glob("*.parquet"))]
        return [file for file in found if _is_parquet(file)]

    def open(
        self, path: Path, *, eos: int | None, dtype: str | None, place: Place | None = None
    ) -> TokenFiles:
        """Open the files; a document is a row."""
        files = [path] if path.suffix == ".parquet" else self.find(path)
        require(files, path, "*.parquet")
        return token_files(path, self.name, [_File(file) for file in files])


def _is_parquet(path: Path) -> bool:
    try:
        with open_regular(path) as file:
            return file.read(4) == _MAGIC
    except OSError:
        return False


class _File(ListPart):
    """One ``.parquet``, read by row groups; the last one stays in memory."""

    def __init__(self, path: Path) -> None:
        with errors_of(path):
            self._file = extra("pyarrow.parquet", "arrow").ParquetFile(
                arrow_source(path), page_checksum_verification=True
            )
            columns, about = self._file.schema_arrow, self._file.metadata
            rows = [about.row_group(number).num_rows for number in range(about.num_row_groups)]
        if sum(rows) != about.num_rows:
            raise FormatError(
                path, f"has {about.num_rows:,} rows, and {sum(rows):,} in its row groups"
            )
        super().__init__(path, rows)
        self._column, self.dtype = column_of(path, columns)
        self.facts = facts(columns)
        self._held: tuple[int, Any] = (-1, None)
        self._reading = Lock()  # two threads must not use one reader

    def group(self, number: int) -> Any:
        with self._reading:
            if self._held[0] != number:
                self._held = number, self._read(number)
            return self._held[1]

    def _read(self, number: int) -> Any:
        table = self._file.read_row_group(number, [self._column], use_threads=False)
        rows = int(self._firsts[number + 1] - self._firsts[number])
        if len(table) != rows:
            raise FormatError(
                self.path, f"row group {number:,} has {len(table):,} rows, not {rows:,}"
            )
        return table.column(0).combine_chunks()


FORMAT = Parquet()
