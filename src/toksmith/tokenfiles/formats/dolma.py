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
from pathlib import Path

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith.errors import FormatError
from toksmith.tokenfiles.format import Format, Settings, type_of
from toksmith.tokenfiles.source import DocumentRange, TokenSource, ranges
from toksmith.tokenfiles.token_files import (
    RawPart,
    TokenFiles,
    head,
    lengths_by_eos,
    map_ids,
    one_type,
)

_NUMPY = b"\x93NUMPY"
_STEP = 1 << 16  # rows written at once
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
        size = settings.shard_tokens or 1 << 30
        for number, (first, last) in enumerate(ranges(tokens.lengths, size, reach=False)):
            part = DocumentRange(tokens, first, last)
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

    def open(self, path: Path, *, eos: int | None, dtype: str | None) -> TokenFiles:
        """Open the files; without a table, documents end with ``eos``."""
        parts = []
        kinds = set()
        for file in self.find(path):
            table = file.with_suffix(".csv.gz")
            if table.is_file():
                lengths = _read_table(table)
                kind = type_of(dtype, _kind(file, int(lengths.sum())))
            else:
                kind = type_of(dtype)
                lengths = lengths_by_eos(map_ids(file, kind), eos, self.eos)
            parts.append(RawPart(file, kind, lengths))
            kinds.add(kind)
        return TokenFiles(path, self.name, one_type(path, kinds), parts)


def _kind(path: Path, tokens: int) -> str:
    """Return the type whose size the file has for a number of tokens."""
    width = path.stat().st_size // max(tokens, 1)
    return {1: "uint8", 4: "uint32"}.get(width, "uint16")


def _write_table(path: Path, lengths: OffsetArray, stem: str, first: int) -> None:
    """Write the rows of documents whose first has a number in its split."""
    end = 0
    with (
        path.open("xb") as file,
        gzip.GzipFile("", "wb", 6, file, 0) as packed,
        io.TextIOWrapper(packed, "utf-8", newline="") as text,
    ):
        rows = csv.writer(text)
        for start in range(0, len(lengths), _STEP):
            ends = np.cumsum(lengths[start : start + _STEP]) + end
            starts = ends - lengths[start : start + _STEP]
            number = first + start
            rows.writerows(
                (a, b, number + n, stem, number + n + 1)
                for n, (a, b) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True))
            )
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
