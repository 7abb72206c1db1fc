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

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import json, np
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles.format import Format, Place, Settings
from toksmith.tokenfiles.formats.folders import add_file, entries_of, indexes, require
from toksmith.tokenfiles.formats.mds_shard import Shard
from toksmith.tokenfiles.source import (
    DocumentRange,
    Sizes,
    Tokens,
    TokenSource,
    ranges,
    write_array,
)
from toksmith.tokenfiles.token_files import TokenFiles, one_type

_SIZE_LIMIT = 1 << 26
_SHAPES = "BHIQ"
"""The types of the number of ids, by the code in the array's first byte."""


class MDS(Format):
    """Folders of shards with an index."""

    name = "mds"
    eos = "after"
    empty = "drop"
    holds_empty = False
    types = (("int32", 1 << 31),)

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``STEM/index.json`` and ``STEM/shard.00000.mds`` and so on."""
        writer = _Writer(tokens, folder / settings.stem, settings)
        self.check(with_empty=writer.has_empty)
        (folder / settings.stem).mkdir()
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
            parts = [Shard(path, dtype)]
        else:
            found = indexes(path, "shards")
            require(found, path, "an index.json with a list of shards")
            parts = [
                Shard(file, dtype, samples)
                for index in found
                for file, samples in _shards(index).items()
            ]
        kinds = [part.dtype for part in parts if len(part)] or [self.dtype(1)]
        return TokenFiles(path, self.name, one_type(path, kinds), parts)


def _shards(index: Path) -> dict[Path, object]:
    """Return the shards that an index names, each with its number of samples."""
    found: dict[Path, object] = {}
    for shard in entries_of(index, "shards"):
        if shard.get("format") != "mds":
            raise FormatError(index, f"names shards of format {shard.get('format')!r:.80}, not mds")
        if shard.get("compression"):
            raise FormatError(
                index, f"names shards with compression {shard['compression']!r:.80}: unpack them"
            )
        raw = shard.get("raw_data")
        raw = raw if isinstance(raw, dict) else {}
        file = add_file(found, index, raw.get("basename"), shard.get("samples"))
        size = file.stat().st_size
        if size != raw.get("bytes"):
            raise FormatError(
                file, f"has {size:,} bytes, and its index says {raw.get('bytes')!r:.80}"
            )
    return found


class _Writer:
    def __init__(self, tokens: TokenSource, folder: Path, settings: Settings) -> None:
        self._tokens = tokens
        self._folder = folder
        self._lengths = tokens.lengths
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

    @property
    def has_empty(self) -> bool:
        return int(self._lengths.min(initial=1)) == 0

    def _sizes(self, lengths: OffsetArray) -> OffsetArray:
        """Return the bytes that samples take, with the size of the array and the sample's place."""
        widths = 1 << np.searchsorted([1 << 8, 1 << 16, 1 << 32], lengths, side="right")
        sizes: OffsetArray = 9 + widths + lengths * self._itemsize
        return sizes

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
        if not len(self._lengths):
            return
        room = self._limit - 8 - len(self._config)
        if self._sizes(self._lengths[:1])[0] > room:
            yield 0, 0  # Mosaic's writer begins with an empty shard
        yield from ranges(Sizes(self._lengths, self._sizes), room + 1, reach=False)

    def _write_shard(self, path: Path, first: int, last: int) -> None:
        sizes = self._sizes(self._lengths[first:last]) - 4  # without the place
        start = 8 + 4 * len(sizes) + len(self._config)
        places = start + np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        if places[-1] >= 1 << 32:
            raise OptionError("a document has 4 GiB of ids: mds files cannot hold it")
        with path.open("xb") as file:
            file.write(struct.pack("<I", len(sizes)))
            write_array(file, places.astype("<u4"))
            file.write(self._config)
            part = DocumentRange(self._tokens, first, last, lengths=self._lengths)
            for block in part.blocks():
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


FORMAT = MDS()
