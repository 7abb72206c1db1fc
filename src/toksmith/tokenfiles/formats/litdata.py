"""litData's optimized tokens: a folder of ``chunk-0-0.bin`` and so on, and its ``index.json``.

Source: ``streaming/writer.py`` and ``TokensLoader`` in ``streaming/item_loader.py`` of
https://github.com/Lightning-AI/litData. An item is a document's ids, without a header; uint16 up to
65,536 ids, which litData reads from version 0.2.48 on, else int32. The files of a split are in a
folder of its name:
``StreamingDataset("FOLDER/train", item_loader=TokensLoader(block_size=2049))``. The loader cuts
each chunk into blocks and skips the rest of the chunk.

A chunk is, in little-endian integers: uint32 items, uint32 places of the items in the file and its
end, then the ids. It ends before it exceeds 64 MiB of ids, or ``shard_tokens`` tokens.

A document ends with the end-of-text id. An empty document without one is an item of no bytes.
"""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

from toksmith._base.lazy import json, np
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles.format import Format, Place, Settings, type_of
from toksmith.tokenfiles.formats.folders import (
    INDEX,
    add_file,
    entries_of,
    indexes,
    read_index,
    require,
)
from toksmith.tokenfiles.maps import map_ids
from toksmith.tokenfiles.source import DocumentRange, Sizes, TokenSource, ranges, write_array
from toksmith.tokenfiles.token_files import RawPart, TokenFiles, one_type

_CHUNK_BYTES = 1 << 26
_TENSORS = {
    11: "uint8", 12: "int8", 13: "int16", 14: "int16", 15: "int32", 16: "int32", 17: "int64",
    18: "int64", 20: "uint16",
}  # fmt: skip
_ARRAYS = dict(
    enumerate(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"))
)
_CODES = {"uint16": 20, "int32": 16, "int64": 18}


class LitData(Format):
    """Folders of chunks with an index."""

    name = "litdata"
    eos = "after"
    empty = "frame"
    types = (("uint16", 1 << 16), ("int32", 1 << 31))

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``STEM/index.json`` and ``STEM/chunk-0-0.bin`` and so on."""
        folder = folder / settings.stem
        folder.mkdir()
        lengths = tokens.lengths
        chunk_bytes = None if settings.shard_tokens else _CHUNK_BYTES
        if settings.shard_tokens is None:
            item = tokens.dtype.itemsize
            sizes, most = Sizes(lengths, lambda some: some * item), _CHUNK_BYTES
        else:
            sizes, most = Sizes(lengths, lambda some: np.maximum(some, 1)), settings.shard_tokens
        files: list[Path] = []
        entries = []
        for first, last in ranges(sizes, most + 1, reach=False) if len(sizes) else ():
            path = folder / f"chunk-0-{len(files)}.bin"
            _write_chunk(path, DocumentRange(tokens, first, last, lengths=lengths))
            files.append(path)
            entries.append(
                {
                    "chunk_bytes": path.stat().st_size,
                    "chunk_size": last - first,
                    "dim": int(lengths[first:last].sum()),
                    "filename": path.name,
                }
            )
        config = {
            "chunk_bytes": chunk_bytes,
            "chunk_size": settings.shard_tokens,
            "compression": None,
            "compression_batch_size": None,
            "compression_level": None,
            "data_format": [f"no_header_tensor:{_CODES[tokens.dtype.name]}"],
            "data_spec": '[1, {"type": null, "context": null, "children_spec": []}]',
            "encryption": None,
            "ipc_compression": None,
            "item_loader": "TokensLoader",
            "types": "tensor",
        }
        index = folder / INDEX
        index.write_text(json.dumps({"chunks": entries, "config": config}, sort_keys=True))
        return [index, *files]

    def find(self, path: Path) -> list[Path]:
        """Return the indexes and chunks of a folder or of the folders in it, or one chunk."""
        if path.suffix == ".bin":
            return [path] if _index_of(path) else []
        found = []
        for index in indexes(path, "chunks"):
            found.append(index)
            with suppress(FormatError):
                found += _chunks(index)
        return found

    def open(
        self, path: Path, *, eos: int | None, dtype: str | None, place: Place | None = None
    ) -> TokenFiles:
        """Open the chunks; a document is an item."""
        index_of_chunk = _index_of(path)
        found = [index_of_chunk] if index_of_chunk else indexes(path, "chunks")
        require(found, path, "an index.json with a list of chunks")
        parts, kinds = [], set()
        for index in found:
            kind = _dtype(index)
            kinds.add(kind)
            chunks = _chunks(index)
            if index_of_chunk:
                chunks = {path: chunks[path]}
            parts += [_part(file, kind, items) for file, items in chunks.items()]
        return TokenFiles(path, self.name, one_type(path, kinds), parts)


def _write_chunk(path: Path, tokens: TokenSource) -> None:
    sizes = tokens.lengths * tokens.dtype.itemsize
    start = 8 + 4 * len(sizes)
    places = start + np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    if places[-1] >= 1 << 32:
        raise OptionError("a document has 4 GiB of ids: litdata files cannot hold it")
    with path.open("xb") as file:
        file.write(struct.pack("<I", len(sizes)))
        write_array(file, places.astype("<u4"))
        for block in tokens.blocks():
            write_array(file, block.ids)


def _index_of(path: Path) -> Path | None:
    """Return the index that names a chunk."""
    if path.suffix != ".bin" or not path.is_file():
        return None
    for index in indexes(path.with_name(INDEX), "chunks"):
        with suppress(FormatError):
            if path in _chunks(index):
                return index
    return None


def _chunks(index: Path) -> dict[Path, object]:
    """Return the chunks that an index names, each with its number of items."""
    found: dict[Path, object] = {}
    for chunk in entries_of(index, "chunks"):
        add_file(found, index, chunk.get("filename"), chunk.get("chunk_size"))
    return found


def _dtype(index: Path) -> np.dtype[Any]:
    config = read_index(index).get("config")
    if not isinstance(config, dict):
        raise FormatError(index, "has no config")
    if config.get("compression") or config.get("encryption"):
        raise FormatError(index, "its chunks are compressed or encrypted: write them plain")
    kinds = config.get("data_format")
    only = kinds[0] if isinstance(kinds, list) and len(kinds) == 1 else ""
    kind, _, code = str(only).partition(":")
    known = {"no_header_tensor": _TENSORS, "no_header_numpy": _ARRAYS}.get(kind, {})
    name = known.get(int(code)) if code.isdecimal() and len(code) < 5 else None
    if name is None:
        raise FormatError(index, f"its items are {kinds!r:.80}: bare arrays of integers expected")
    return type_of(name)


def _part(path: Path, dtype: np.dtype[Any], items: object) -> RawPart:
    data = map_ids(path, np.dtype("uint8"))
    size = len(data)
    count = int(np.frombuffer(data, "<u4", 1)[0]) if size >= 8 else size
    start = 8 + 4 * count
    if start > size:
        raise FormatError(path, "is no chunk of litData, or cut short")
    places = np.frombuffer(data, "<u4", count + 1, 4).astype(np.int64)
    sizes = np.diff(places)
    if places[0] != start or places[-1] != size or (sizes < 0).any():
        raise FormatError(path, f"has {size:,} bytes, and its places do not fit: cut short?")
    if count != items:
        raise FormatError(path, f"has {count:,} items, and its index says {items!r:.80}")
    if (sizes % dtype.itemsize).any():
        raise FormatError(path, f"holds an item that is no multiple of {dtype.itemsize} bytes")
    return RawPart(path, dtype, sizes // dtype.itemsize, offset=start)


FORMAT = LitData()
