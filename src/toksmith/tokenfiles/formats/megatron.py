"""Megatron's indexed dataset: ``NAME.bin`` with the ids, ``NAME.idx`` with the bounds.

Source: ``megatron/core/datasets/indexed_dataset.py`` and ``tools/preprocess_data.py`` of
https://github.com/NVIDIA/Megatron-LM. The index is, in little-endian integers: 9 bytes of magic,
uint64 version 1, a byte for the type of the ids, uint64 sequences, uint64 documents + 1, int32
lengths of the sequences in tokens, int64 their places in bytes, int64 the number of sequences
before each document and at the end.

A document is one sequence, followed by the end-of-text id. An empty document has no sequence.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles.format import Format, Settings
from toksmith.tokenfiles.source import TokenSource
from toksmith.tokenfiles.token_files import RawPart, TokenFiles

_MAGIC = b"MMIDIDX\x00\x00"
_HEAD = struct.Struct("<9sQBQQ")
_CODES = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float64", 7: "float32",
    8: "uint16",
}  # fmt: skip
_STEP = 1 << 20


class Megatron(Format):
    """Pairs of ``.bin`` and ``.idx``."""

    name = "megatron"
    eos = "after"
    empty = "bare"
    types = (("uint16", 65_499), ("int32", 1 << 31))

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``STEM_text_document.bin`` and ``.idx``."""
        data = folder / f"{settings.stem}_text_document.bin"
        index = data.with_suffix(".idx")
        tokens.save_ids(data)
        with index.open("xb") as file:
            _write_index(file, tokens.lengths, tokens.dtype)
        return [data, index]

    def find(self, path: Path) -> list[Path]:
        """Return the ``.bin`` files that have an ``.idx``; a path may be a pair's common prefix."""
        if path.is_dir():
            found = sorted(path.glob("*.bin"))
        else:
            found = [path.with_suffix(".bin")] if path.suffix in (".bin", ".idx") else []
            found = found or [path.with_name(path.name + ".bin")]
        return [file for file in found if file.exists() and file.with_suffix(".idx").exists()]

    def open(self, path: Path, *, eos: int | None, dtype: str | None) -> TokenFiles:
        """Open the pairs; a document is what the index calls a document."""
        parts = []
        kind: np.dtype[Any] = np.dtype("uint16")
        for file in self.find(path):
            kind, lengths = _read_index(file.with_suffix(".idx"))
            parts.append(RawPart(file, kind, lengths))
        return TokenFiles(path, self.name, kind, parts)


def _write_index(file: BinaryIO, lengths: OffsetArray, dtype: np.dtype[Any]) -> None:
    if len(lengths) and int(lengths.max()) >= 1 << 31:
        raise OptionError("a document has 2^31 tokens or more: megatron's index cannot hold it")
    code = next(code for code, name in _CODES.items() if name == dtype.name)
    has_sequence = lengths > 0
    sequences = lengths[has_sequence]
    file.write(_HEAD.pack(_MAGIC, 1, code, len(sequences), len(lengths) + 1))
    sequences.astype("<i4").tofile(file)
    ends = np.cumsum(sequences)
    ((ends - sequences) * dtype.itemsize).astype("<i8").tofile(file)
    np.concatenate([np.zeros(1, np.int64), np.cumsum(has_sequence)]).astype("<i8").tofile(file)


def _read_index(path: Path) -> tuple[np.dtype[Any], OffsetArray]:
    """Return the type of the ids, and the tokens of each document."""
    data = path.read_bytes()
    if len(data) < _HEAD.size or not data.startswith(_MAGIC):
        raise FormatError(path, "is no index of Megatron: it does not start with MMIDIDX")
    _, version, code, count, documents = _HEAD.unpack_from(data)
    if version != 1 or code not in _CODES:
        raise FormatError(path, f"has version {version} and type {code}: 1, and 1 to 8, are known")
    wanted = _HEAD.size + 12 * count + 8 * documents
    if len(data) not in (wanted, wanted + count):
        raise FormatError(path, f"has {len(data):,} bytes, and its head calls for {wanted:,}")
    lengths = np.frombuffer(data, "<i4", count, _HEAD.size).astype(np.int64)
    bounds = np.frombuffer(data, "<i8", documents, _HEAD.size + 12 * count)
    if documents < 1 or bounds[0] != 0 or bounds[-1] != count or (np.diff(bounds) < 0).any():
        raise FormatError(path, "its documents are not in order")
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return np.dtype(_CODES[code]), np.diff(ends[bounds])


FORMAT = Megatron()
