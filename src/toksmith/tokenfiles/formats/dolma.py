"""dolma's files, which OLMo-core reads: ``.npy`` with the ids, ``.csv.gz`` with the bounds.

Source: ``python/dolma/tokenizer/`` of https://github.com/allenai/dolma, and
``src/olmo_core/data/utils.py`` and ``numpy_dataset.py`` of https://github.com/allenai/OLMo-core.
``.npy`` holds ids and nothing else, and is not of NumPy's format in spite of its name. The type is
the one that OLMo-core assumes for the number of ids of the tokenizer: uint8 up to 256 ids, uint16
up to 65,536, else uint32. ``.csv.gz`` has a row for each document: its first token, the token after
its last, its id, its source, and its place in the source. Here the id is the number of the document
in its split, the source is the split, and the place is that number counted from 1.

Files are ``train-00000.npy``, ``train-00001.npy`` and so on, each below 1,073,741,824 tokens; no
document is cut. A document is followed by the end-of-text id. Empty documents are left out, as
dolma does.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith.errors import FormatError
from toksmith.tokenfiles.format import Format, Place, Settings, type_of
from toksmith.tokenfiles.maps import map_ids
from toksmith.tokenfiles.source import DocumentRange, TokenSource, ranges
from toksmith.tokenfiles.token_files import (
    RawPart,
    StreamPart,
    TokenFiles,
    head,
    one_type,
)

_NUMPY = b"\x93NUMPY"
_STEP = 1 << 16  # rows written at once
_LEVEL = 3  # of compression: three times as fast as 6, and a seventh larger
_DAMAGE = (OSError, EOFError, ValueError, IndexError, OverflowError, csv.Error, zlib.error)


class Dolma(Format):
    """Ids, and a table of the documents."""

    name = "dolma"
    eos = "after"
    empty = "drop"
    types = (("uint8", 1 << 8), ("uint16", 1 << 16), ("uint32", 1 << 32))

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``STEM-00000.npy``, ``STEM-00000.csv.gz`` and so on."""
        written = []
        size = 1 << 30 if settings.shard_tokens is None else settings.shard_tokens
        lengths = tokens.lengths
        for number, (first, last) in enumerate(ranges(lengths, size, reach=False)):
            part = DocumentRange(tokens, first, last, lengths=lengths)
            data = folder / f"{settings.stem}-{number:05d}.npy"
            table = data.with_suffix(".csv.gz")
            part.save_ids(data)
            _write_table(table, part.lengths, settings.stem, first)
            written += [data, table]
        return written

    def find(self, path: Path) -> list[Path]:
        """Return the ``.npy`` files that are not of NumPy's format."""
        found = sorted(path.glob("*.npy")) if path.is_dir() else [path]
        return [
            file
            for file in found
            if file.suffix == ".npy" and file.is_file() and head(file, len(_NUMPY)) != _NUMPY
        ]

    def open(
        self, path: Path, *, eos: int | None, dtype: str | None, place: Place | None = None
    ) -> TokenFiles:
        """Open the files; without a table, documents end with ``eos``."""
        tables = {
            file: _read_table(table) if (table := file.with_suffix(".csv.gz")).is_file() else None
            for file in self.find(path)
        }
        kind = type_of(dtype, one_type(path, _kinds(tables)).name)
        parts = [
            StreamPart([file], [map_ids(file, kind)], eos, place or self.eos)
            if lengths is None
            else RawPart(file, kind, lengths)
            for file, lengths in tables.items()
        ]
        return TokenFiles(path, self.name, kind, parts)


def _kinds(tables: Mapping[Path, OffsetArray | None]) -> Iterator[np.dtype[Any]]:
    """Yield the types by which the sizes of files fit their tables."""
    for file, lengths in tables.items():
        if lengths is not None and (count := int(lengths.sum())):
            width = file.stat().st_size // count
            yield np.dtype({1: "u1", 4: "<u4"}.get(width, "<u2"))


def _write_table(path: Path, lengths: OffsetArray, stem: str, first: int) -> None:
    """Write the rows of documents whose first has a number in its split."""
    field = io.StringIO(newline="")
    csv.writer(field, lineterminator="").writerow([stem])  # quoted where that is needed
    source = field.getvalue()
    end = 0
    with path.open("xb") as file, gzip.GzipFile("", "wb", _LEVEL, file, 0) as packed:
        for start in range(0, len(lengths), _STEP):
            ends = np.cumsum(lengths[start : start + _STEP]) + end
            starts = ends - lengths[start : start + _STEP]
            bounds = zip(starts.tolist(), ends.tolist(), strict=True)
            rows = [
                f"{before},{after},{number},{source},{number + 1}\r\n"
                for number, (before, after) in enumerate(bounds, first + start)
            ]
            packed.write("".join(rows).encode())
            end = int(ends[-1])


def _read_table(path: Path) -> OffsetArray:
    """Return the tokens of each document of a table.

    Raises:
        FormatError: the table cannot be read, or its documents are not end to end.
    """
    lengths = array("q")
    end = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as text:
            for number, row in enumerate(csv.reader(text), 1):
                start, after = int(row[0]), int(row[1])
                if start != end or after < start:
                    raise FormatError(path, f"row {number:,}: its documents are not end to end")
                lengths.append(after - start)
                end = after
    except FormatError:
        raise
    except _DAMAGE as wrong:
        raise FormatError(path, f"cannot be read: {wrong}") from wrong
    return np.frombuffer(lengths, np.int64) if lengths else np.zeros(0, np.int64)


FORMAT = Dolma()
