"""Arrow's streaming format with a column ``input_ids``, which ``datasets`` maps into memory.

Files are named as Hugging Face names them, ``train-00000-of-00012.arrow``, with
125,000,000 tokens (500 MB) or ``shard_tokens`` at most:
``Dataset.from_file("FOLDER/train-00000-of-00001.arrow")``, or
``load_dataset("arrow", data_files="FOLDER/train-*.arrow")``. A row is a document, a list of int32.
The schema's metadata are those of the Parquet files. Files in Arrow's other format, with a footer,
are read too.

A document has no end-of-text id unless one is asked for. An empty document is an empty list.
Needs ``pip install toksmith[arrow]``.
"""

from __future__ import annotations

from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

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
from toksmith.tokenfiles.maps import check_held
from toksmith.tokenfiles.regular import open_regular
from toksmith.tokenfiles.source import TokenSource
from toksmith.tokenfiles.token_files import TokenFiles

_STREAM = b"\xff\xff\xff\xff"
_FILE = b"ARRO"
_END = _STREAM + b"\0\0\0\0"


class Arrow(Format):
    """Files of one column."""

    name = "arrow"
    eos = None
    empty = "frame"
    types = (("int32", 1 << 31),)
    package, extra = "pyarrow", "arrow"

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``STEM-00000-of-00001.arrow`` and so on."""
        ipc = extra("pyarrow.ipc", "arrow")
        columns = schema(tokens.dtype, settings)
        files = file_spans(tokens, folder, settings, ".arrow")
        for path, part in files:
            with path.open("xb") as file, ipc.new_stream(file, columns) as writer:
                for block in part.blocks():
                    writer.write_batch(record_batch(block, columns))
        return [path for path, _ in files]

    def find(self, path: Path) -> list[Path]:
        """Return the files of a folder, or of the folders in it, that begin as Arrow's do."""
        if path.suffix == ".arrow":
            found = [path]
        else:  # datasets puts results of its own, cache-*.arrow, beside files that it reads
            folders = folders_with(path, "*.arrow")
            found = [file for folder in folders for file in sorted(folder.glob("*.arrow"))]
            found = [file for file in found if not file.name.startswith("cache-")]
        return [file for file in found if _is_arrow(file)]

    def open(
        self, path: Path, *, eos: int | None, dtype: str | None, place: Place | None = None
    ) -> TokenFiles:
        """Open the files; a document is a row."""
        files = [path] if path.suffix == ".arrow" else self.find(path)
        require(files, path, "*.arrow")
        return token_files(path, self.name, [_File(file) for file in files])


def _is_arrow(path: Path) -> bool:
    try:
        with open_regular(path) as file:
            return file.read(4) in (_STREAM, _FILE)
    except OSError:
        return False


class _File(ListPart):
    """One ``.arrow``, mapped into memory."""

    def __init__(self, path: Path) -> None:
        pyarrow, ipc = extra("pyarrow", "arrow"), extra("pyarrow.ipc", "arrow")
        with errors_of(path):
            with path.open("rb") as opened:
                self._map = mmap(opened.fileno(), 0, access=ACCESS_READ)
            file = pyarrow.BufferReader(pyarrow.py_buffer(self._map))
            is_stream = file.read(4) == _STREAM
            if is_stream and (file.size() < 8 or file.read_at(8, file.size() - 8) != _END):
                raise FormatError(path, "does not end as a stream of Arrow does: it is cut short")
            file.seek(0)
            table = (ipc.open_stream(file) if is_stream else ipc.open_file(file)).read_all()
            column, self.dtype = column_of(path, table.schema)  # names may be invalid UTF-8
            self.facts = facts(table.schema)
        self._chunks = table.column(column).chunks
        self._checked: set[int] = set()
        super().__init__(path, [len(chunk) for chunk in self._chunks])

    def group(self, number: int) -> Any:
        check_held(self.path, self._map)
        if number not in self._checked:
            self._chunks[number].validate(full=True)  # offsets that lead out of the file
            self._checked.add(number)
        return self._chunks[number]


FORMAT = Arrow()
