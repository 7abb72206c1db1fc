"""dolma's files, which OLMo-core reads: ``.npy`` with the ids, ``.csv.gz`` with the bounds.

Source: ``python/dolma/tokenizer/memmap_writer.py`` of https://github.com/allenai/dolma and
``src/olmo_core/data/utils.py`` of https://github.com/allenai/OLMo-core. ``.npy`` holds bare ids,
uint16 or uint32, and not NumPy's format in spite of its name. ``.csv.gz`` has a row for each
document: its first token, the token after its last, an id, a source and a place in it. Here the id
is the number of the document in its split, and the source is the split.

Files are ``train-00000.npy``, ``train-00001.npy`` and so on, each below 1,073,741,824 tokens; no
document is cut. A document is followed by the end-of-text id. Empty documents are left out.
"""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith.errors import FormatError
from toksmith.tokenfiles.format import Format, Settings
from toksmith.tokenfiles.source import DocumentRange, TokenSource, ranges
from toksmith.tokenfiles.token_files import RawPart, TokenFiles, lengths_by_eos, map_ids

_NUMPY = b"\x93NUMPY"
_STEP = 1 << 16  # rows written at once


class Dolma(Format):
    """Ids, and a table of the documents."""

    name = "dolma"
    eos = "after"
    empty = "drop"

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
            if file.suffix == ".npy" and file.is_file() and not _is_numpy(file)
        ]

    def open(self, path: Path, *, eos: int | None, dtype: str | None) -> TokenFiles:
        """Open the files; without a table, documents end with ``eos``."""
        parts, kinds = [], {}
        for file in self.find(path):
            table = file.with_suffix(".csv.gz")
            if table.is_file():
                lengths = _read_table(table)
                size = file.stat().st_size
                kind = np.dtype(dtype or ("u4" if size == 4 * lengths.sum() else "u2"))
            else:
                kind = np.dtype(dtype or "u2")
                lengths = lengths_by_eos(map_ids(file, kind), eos, self.eos)
            parts.append(RawPart(file, kind.newbyteorder("<"), lengths))
            kinds[kind] = file
        if len(kinds) > 1:
            raise FormatError(path, "holds ids of 2 and of 4 bytes: open one kind of files")
        return TokenFiles(path, self.name, next(iter(kinds), np.dtype("<u2")), parts)


def _is_numpy(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_NUMPY)) == _NUMPY


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
    """Return the tokens of each document of a table."""
    lengths = []
    end = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as text:
            for number, row in enumerate(csv.reader(text), 1):
                start, after = int(row[0]), int(row[1])
                if start != end or after < start:
                    raise FormatError(path, f"row {number:,}: documents are not end to end")
                lengths.append(after - start)
                end = after
    except (OSError, EOFError, ValueError, IndexError, csv.Error) as wrong:
        raise FormatError(path, f"cannot be read: {wrong}") from wrong
    return np.array(lengths, np.int64)


FORMAT = Dolma()
