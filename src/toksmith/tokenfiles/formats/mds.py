"""Mosaic's streaming shards: a folder of ``shard.00000.mds`` and so on, and its ``index.json``.

Source: ``streaming/base/format/mds`` of https://github.com/mosaicml/streaming, and
``llmfoundry/data/data.py`` of https://github.com/mosaicml/llm-foundry. A sample is a document, in
one column ``tokens`` of type ``ndarray:int32``, which llm-foundry reads. The files of a split are
in a folder of its name: ``StreamingDataset(local="FOLDER", split="train")``.

A shard is, in little-endian integers: uint32 samples, uint32 places of the samples in the file and
its end, the settings in JSON, then for each sample the uint32 size of its array, a byte and a
number for the shape, and the ids. A shard ends before its size exceeds 64 MiB, or 4 bytes for each
of ``shard_tokens``.

A document ends with the end-of-text id. The format cannot hold empty documents: they are dropped.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import json, np
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles.folders import entries_of, file_beside, indexes, require
from toksmith.tokenfiles.format import Format, Place, Settings, type_of
from toksmith.tokenfiles.source import DocumentRange, Tokens, TokenSource, ranges
from toksmith.tokenfiles.token_files import TokenFiles, map_ids, one_type

_SIZE_LIMIT = 1 << 26
_SHAPES = "BHIQ"
"""The types of the number of ids, by the code in the array's first byte."""
_TYPES = {
    8: "uint8", 9: "int8", 16: "uint16", 17: "int16", 32: "uint32", 33: "int32", 64: "uint64",
    65: "int64",
}  # fmt: skip


class MDS(Format):
    """Folders of shards with an index."""

    name = "mds"
    eos = "after"
    empty = "drop"
    types = (("int32", 1 << 31),)

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``STEM/index.json`` and ``STEM/shard.00000.mds`` and so on."""
        folder = folder / settings.stem
        folder.mkdir()
        writer = _Writer(tokens, folder, settings)
        return writer.write()

    def find(self, path: Path) -> list[Path]:
        """Return the indexes and shards of a folder or of the folders in it, or one ``.mds``."""
        if path.suffix == ".mds" and path.is_file():
            return [path]
        found = []
        for index in indexes(path, "shards"):
            found.append(index)
            with suppress(FormatError):
                found += _shards(index)
        return found

    def open(
        self, path: Path, *, eos: int | None, dtype: str | None, place: Place | None = None
    ) -> TokenFiles:
        """Open the shards; a document is a sample's array."""
        if path.suffix == ".mds":
            parts = [_Shard(path, dtype)]
        else:
            found = indexes(path, "shards")
            require(found, path, "an index.json with a list of shards")
            parts = [
                _Shard(file, dtype, samples)
                for index in found
                for file, samples in _shards(index).items()
            ]
        kinds = [part.dtype for part in parts if len(part)] or [self.dtype(1)]
        return TokenFiles(path, self.name, one_type(path, kinds), parts)


def _shards(index: Path) -> dict[Path, object]:
    """Return the shards that an index names, each with its number of samples."""
    found = {}
    for shard in entries_of(index, "shards"):
        if shard.get("format") != "mds":
            raise FormatError(index, f"names shards of format {shard.get('format')!r:.80}, not mds")
        if shard.get("compression"):
            raise FormatError(
                index, f"names shards with compression {shard['compression']!r:.80}: unpack them"
            )
        raw = shard.get("raw_data")
        raw = raw if isinstance(raw, dict) else {}
        file = file_beside(index, raw.get("basename"))
        size = file.stat().st_size
        if size != raw.get("bytes"):
            raise FormatError(
                file, f"has {size:,} bytes, and its index says {raw.get('bytes')!r:.80}"
            )
        found[file] = shard.get("samples")
    return found


class _Writer:
    def __init__(self, tokens: TokenSource, folder: Path, settings: Settings) -> None:
        self._tokens = tokens
        self._folder = folder
        self._lengths = tokens.lengths
        if len(self._lengths) and not self._lengths.min():
            raise OptionError('mds files cannot hold empty documents: drop them, empty="drop"')
        self._itemsize = tokens.dtype.itemsize
        self._limit = _SIZE_LIMIT
        if settings.shard_tokens is not None:
            self._limit = settings.shard_tokens * self._itemsize
        self._settings = {
            "column_encodings": [f"ndarray:{tokens.dtype.name}"],
            "column_names": ["tokens"],
            "column_sizes": [None],
            "compression": None,
            "format": "mds",
            "hashes": [],
            "size_limit": self._limit,
            "version": 2,
        }
        self._config = json.dumps(self._settings, sort_keys=True).encode()
        widths = 1 << np.searchsorted([1 << 8, 1 << 16, 1 << 32], self._lengths, side="right")
        self._sizes: OffsetArray = 1 + widths + self._lengths * self._itemsize

    def write(self) -> list[Path]:
        files: list[Path] = []
        entries = []
        for first, last in self._shards():
            path = self._folder / f"shard.{len(files):05d}.mds"
            self._write_shard(path, first, last)
            files.append(path)
            raw = {"basename": path.name, "bytes": path.stat().st_size, "hashes": {}}
            entries.append(
                self._settings | {"raw_data": raw, "samples": last - first, "zip_data": None}
            )
        index = self._folder / "index.json"
        index.write_text(json.dumps({"shards": entries, "version": 2}, sort_keys=True))
        return [index, *files]

    def _shards(self) -> Iterator[tuple[int, int]]:
        counted = self._sizes + 8  # its size and its place
        room = self._limit - 8 - len(self._config)
        if len(counted) and counted[0] > room:
            yield 0, 0  # Mosaic's writer begins with an empty shard
        if len(counted):
            yield from ranges(counted, room + 1, reach=False)

    def _write_shard(self, path: Path, first: int, last: int) -> None:
        sizes = self._sizes[first:last]
        start = 8 + 4 * len(sizes) + len(self._config)
        places = start + np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes + 4)])
        if places[-1] >= 1 << 32:
            raise OptionError("a document has 4 GiB of ids: mds files cannot hold it")
        with path.open("xb") as file:
            file.write(struct.pack("<I", len(sizes)))
            places.astype("<u4").tofile(file)
            file.write(self._config)
            for block in DocumentRange(self._tokens, first, last).blocks():
                file.writelines(_samples(block.ids, block.lengths))


def _samples(ids: Tokens, lengths: OffsetArray) -> Iterator[bytes | memoryview]:
    data = np.ascontiguousarray(ids).data.cast("B")
    itemsize = ids.dtype.itemsize
    start = 0
    for length in lengths.tolist():
        size = length * itemsize
        code = (length >= 1 << 8) + (length >= 1 << 16) + (length >= 1 << 32)
        yield struct.pack(f"<IB{_SHAPES[code]}", 1 + (1 << code) + size, 1 << 2 | code, length)
        yield data[start : start + size]
        start += size


class _Shard:
    """One ``.mds`` file."""

    def __init__(self, path: Path, dtype: str | None, samples: object = None) -> None:
        self.path = path
        self._data = map_ids(path, np.dtype("uint8"))
        places, config = self._head()
        if samples not in (None, len(places) - 1):
            raise FormatError(
                path, f"has {len(places) - 1:,} samples, and its index says {samples!r:.80}"
            )
        starts, ends, encoding = self._column(places, config)
        self.dtype, self._starts = self._arrays(starts, ends, encoding, dtype)
        size = self.dtype.itemsize
        if ((ends - self._starts) % size).any():
            raise FormatError(path, f"holds an array that is no multiple of {size} bytes")
        self.lengths: OffsetArray = (ends - self._starts) // size

    def __len__(self) -> int:
        return len(self.lengths)

    def ids(self, first: int, last: int) -> Tokens:
        if first >= last:
            return np.zeros(0, self.dtype)
        starts, lengths = self._starts[first:last].tolist(), self.lengths[first:last].tolist()
        return np.concatenate(
            [
                np.frombuffer(self._data, self.dtype, length, start)
                for start, length in zip(starts, lengths, strict=True)
            ]
        )

    def _head(self) -> tuple[OffsetArray, dict[str, Any]]:
        """Return the places of the samples and the end of the last, and the settings."""
        size = len(self._data)
        count = int(np.frombuffer(self._data, "<u4", 1)[0]) if size >= 8 else size
        start = 8 + 4 * count
        if start > size:
            raise FormatError(self.path, "is no shard of Mosaic's streaming, or cut short")
        places = np.frombuffer(self._data, "<u4", count + 1, 4).astype(np.int64)
        if places[0] < start or places[-1] != size or (np.diff(places) < 0).any():
            raise FormatError(
                self.path, f"has {size:,} bytes, and its places do not fit: cut short?"
            )
        try:
            config = json.loads(self._data[start : places[0]].tobytes())
        except (ValueError, RecursionError) as wrong:
            raise FormatError(self.path, "its settings are no JSON") from wrong
        if not isinstance(config, dict):
            raise FormatError(self.path, "its settings are no JSON object")
        return places, config

    def _column(
        self, places: OffsetArray, config: dict[str, Any]
    ) -> tuple[OffsetArray, OffsetArray, str]:
        """Return the bounds of the column of ids in each sample, and its encoding."""
        names, encodings, sizes = (
            config.get(f"column_{each}") for each in ("names", "encodings", "sizes")
        )
        if not (
            isinstance(names, list) and isinstance(encodings, list) and isinstance(sizes, list)
        ) or not len(names) == len(encodings) == len(sizes):
            raise FormatError(self.path, "its settings name no columns")
        column = next((each for each in ("tokens", "input_ids") if each in names), None)
        if column is None:
            raise FormatError(
                self.path, f"has columns {', '.join(map(str, names))}: tokens or input_ids expected"
            )
        starts, ends = places[:-1], places[1:]
        head = 4 * sum(size is None for size in sizes)
        self._check(starts + head <= ends)
        variable = 0
        start = starts + head
        for name, encoding, size in zip(names, encodings, sizes, strict=True):
            if size is None:
                end = start + self._numbers(starts + 4 * variable, "<u4")
                variable += 1
            elif isinstance(size, int) and size >= 0:
                end = start + size
            else:
                raise FormatError(self.path, f"has a column of size {size!r:.80}")
            self._check(end <= ends)
            if name == column:
                return start, end, str(encoding)
            start = end
        raise AssertionError(column)

    def _arrays(
        self, starts: OffsetArray, ends: OffsetArray, encoding: str, dtype: str | None
    ) -> tuple[np.dtype[Any], OffsetArray]:
        """Return the type of the ids, and the place of the first id of each sample."""
        kind, _, rest = encoding.partition(":")
        name, _, shape = rest.partition(":")
        if kind == "bytes":  # as early versions of llm-foundry wrote them
            return type_of(dtype, "int64"), starts
        if kind != "ndarray" or (name and name not in _TYPES.values()):
            raise FormatError(self.path, f"holds ids as {encoding}: ndarray of integers expected")
        if not name:
            self._check(starts < ends)
            codes = set(self._data[starts].tolist())
            if len(codes) > 1 or not codes <= set(_TYPES):
                raise FormatError(self.path, f"holds arrays of types {sorted(codes)}: one expected")
            name = _TYPES[codes.pop()] if codes else "int32"
            starts = starts + 1
        found = type_of(name)
        if shape:
            return found, starts
        self._check(starts < ends)
        heads = self._data[starts]
        if (heads >> 2 != 1).any():
            raise FormatError(self.path, "holds arrays of several dimensions: one expected")
        counts = np.zeros(len(starts), np.int64)
        places = starts + 1 + (1 << (heads & 3).astype(np.int64))
        self._check(places <= ends)
        for code in range(4):
            of = np.flatnonzero(heads & 3 == code)
            counts[of] = self._numbers(starts[of] + 1, f"<u{1 << code}")
        self._check(counts * found.itemsize == ends - places)
        return found, places

    def _numbers(self, places: OffsetArray, dtype: str) -> OffsetArray:
        """Return the integers at places of the file."""
        size = np.dtype(dtype).itemsize
        found: OffsetArray = self._data[places[:, None] + np.arange(size)].view(dtype)[:, 0]
        return found.astype(np.int64)

    def _check(self, fits: Any) -> None:
        wrong = np.flatnonzero(~fits)
        if len(wrong):
            raise FormatError(self.path, f"sample {wrong[0]:,} is damaged: its sizes do not fit")


FORMAT = MDS()
