"""Megatron's indexed dataset: ``NAME.bin`` with the ids, ``NAME.idx`` with the bounds.

Source: ``megatron/core/datasets/indexed_dataset.py`` and ``tools/preprocess_data.py`` of
https://github.com/NVIDIA/Megatron-LM. ``.bin`` holds ids end to end: uint16 if the tokenizer has
fewer than 65,500 ids, else int32. ``.idx`` holds, in little-endian integers: 9 bytes of magic,
uint64 version 1, a byte for the type of the ids, uint64 number of sequences, uint64 number of
documents + 1, int32 length of each sequence in tokens, int64 place of each in bytes, int64 number
of sequences before each document, and of all.

A split is one pair, ``train_text_document.bin`` and ``.idx``, whatever its size: give Megatron the
path without the ending, ``--data-path FOLDER/train_text_document``. A document is one sequence,
followed by the end-of-text id. An empty document has no sequence, and no end-of-text id. A document
has fewer than 2^31 tokens.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles.format import Format, Place, Settings, type_of
from toksmith.tokenfiles.maps import check_map, map_ids
from toksmith.tokenfiles.source import TokenSource, write_array
from toksmith.tokenfiles.token_files import (
    STEP,
    IndexedPart,
    TokenFiles,
    check_size,
    head,
    one_type,
)

_MAGIC = b"MMIDIDX\x00\x00"
_HEAD = struct.Struct("<9sQBQQ")
_CODES = {1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 8: "uint16"}


class Megatron(Format):
    """Pairs of ``.bin`` and ``.idx``."""

    name = "megatron"
    eos = "after"
    empty = "bare"
    types = (("uint16", 65_499), ("int32", 1 << 31))

    def write(self, tokens: TokenSource, folder: Path, settings: Settings) -> list[Path]:
        """Write ``STEM_text_document.bin`` and ``.idx``."""
        lengths = tokens.lengths
        if len(lengths) and int(lengths.max()) >= 1 << 31:
            raise OptionError(
                f"document {int(lengths.argmax()):,} has {int(lengths.max()):,} tokens, and the "
                "index of megatron holds lengths below 2^31: cut it, or use another format"
            )
        data = folder / f"{settings.stem}_text_document.bin"
        index = data.with_suffix(".idx")
        tokens.save_ids(data)
        with index.open("xb") as file:
            _write_index(file, lengths, tokens.dtype)
        return [data, index]

    def find(self, path: Path) -> list[Path]:
        """Return the ``.bin`` files that have an ``.idx``; a path may be a pair's common prefix.

        At least one index in a folder has Megatron's magic.
        """
        if path.is_dir():
            pairs = [file for file in sorted(path.glob("*.bin")) if _is_pair(file)]
            known = (head(file.with_suffix(".idx"), len(_MAGIC)) == _MAGIC for file in pairs)
            return pairs if any(known) else []
        if path.suffix not in (".bin", ".idx"):
            path = path.with_name(path.name + ".bin")
        return [path.with_suffix(".bin")] if _is_pair(path.with_suffix(".bin")) else []

    def open(
        self, path: Path, *, eos: int | None, dtype: str | None, place: Place | None = None
    ) -> TokenFiles:
        """Open the pairs; a document is what the index calls a document."""
        parts = [_Pair(file) for file in self.find(path)]
        kind = one_type(path, (part.dtype for part in parts))
        return TokenFiles(path, self.name, kind, parts)


def _is_pair(data: Path) -> bool:
    return data.is_file() and data.with_suffix(".idx").is_file()


def _write_index(file: BinaryIO, lengths: OffsetArray, dtype: np.dtype[Any]) -> None:
    """Write an index in four passes over the lengths, which may be a memory map."""
    code = next(code for code, name in _CODES.items() if name == dtype.name)
    steps = range(0, len(lengths), STEP)
    file.write(_HEAD.pack(_MAGIC, 1, code, np.count_nonzero(lengths), len(lengths) + 1))
    for start in steps:
        part = lengths[start : start + STEP]
        write_array(file, part[part > 0].astype("<i4"))
    end = 0
    for start in steps:
        part = lengths[start : start + STEP]
        part = part[part > 0] * dtype.itemsize
        ends = np.cumsum(part) + end
        write_array(file, (ends - part).astype("<i8"))
        end += int(part.sum())
    file.write(bytes(8))
    count = 0
    for start in steps:
        sequences = np.cumsum(lengths[start : start + STEP] > 0) + count
        write_array(file, sequences.astype("<i8"))
        count = int(sequences[-1])


class _Pair(IndexedPart):
    """A pair of files, its index read from a memory map.

    Args:
        path: the ``.bin`` file.

    Raises:
        FormatError: a file cannot be read, or is damaged.
    """

    def __init__(self, path: Path) -> None:
        index = path.with_suffix(".idx")
        start = head(index, _HEAD.size)
        if len(start) < _HEAD.size or not start.startswith(_MAGIC):
            raise FormatError(index, "is no index of megatron: it does not start with MMIDIDX")
        _, version, code, sequences, documents = _HEAD.unpack(start)
        if version != 1 or code not in _CODES:
            known = ", ".join(f"{code} ({name})" for code, name in _CODES.items())
            raise FormatError(
                index,
                f"has version {version} and type {code}: version 1 and types {known} expected",
            )
        content = map_ids(index, np.dtype("u1"))
        wanted = _HEAD.size + 12 * sequences + 8 * documents
        if len(content) not in (wanted, wanted + sequences):  # modes of multimodal data follow
            raise FormatError(
                index, f"has {len(content):,} bytes, and its header calls for {wanted:,}"
            )
        self.dtype = type_of(_CODES[code])
        places = _HEAD.size + 4 * sequences
        firsts = places + 8 * sequences
        # Views of the map: in a pickle they are places of the file.
        self._places: OffsetArray = content[places:firsts].view("<i8")
        self._firsts: OffsetArray = content[firsts : firsts + 8 * documents].view("<i8")
        lengths = content[_HEAD.size : places].view("<i4")
        end = _check_sequences(index, lengths, self._places, self.dtype.itemsize)
        _check_documents(index, self._firsts, sequences)
        ids = map_ids(path, self.dtype)
        check_size(path, len(ids), end)
        super().__init__(path, ids, documents - 1)

    def check(self) -> None:
        """Check that neither file became shorter."""
        super().check()
        check_map(self._places)

    def bounds(self, first: int, last: int) -> OffsetArray:
        """Return the bounds of documents ``first`` to ``last - 1``."""
        sequences = self._firsts[first : last + 1]
        bounds: OffsetArray = np.full(len(sequences), len(self._ids), np.int64)
        inside = sequences < len(self._places)
        bounds[inside] = self._places[sequences[inside]] // self.dtype.itemsize
        return bounds


def _check_sequences(path: Path, lengths: OffsetArray, places: OffsetArray, itemsize: int) -> int:
    """Return the number of tokens of all sequences.

    Raises:
        FormatError: the sequences are not end to end.
    """
    end = 0
    for start in range(0, len(lengths), STEP):
        part = lengths[start : start + STEP].astype(np.int64)
        ends = np.cumsum(part) + end
        if (part < 0).any() or (places[start : start + STEP] != (ends - part) * itemsize).any():
            raise FormatError(path, "its sequences are not end to end: it is damaged")
        end = int(ends[-1])
    return end


def _check_documents(path: Path, firsts: OffsetArray, sequences: int) -> None:
    """Check the numbers of the documents' first sequences.

    Raises:
        FormatError: they do not go up from 0 to the number of sequences.
    """
    ordered = len(firsts) > 0 and firsts[0] == 0 and firsts[-1] == sequences
    for start in range(0, len(firsts), STEP):
        part = firsts[start : start + STEP + 1]
        ordered = ordered and not (part[1:] < part[:-1]).any()
    if not ordered:
        raise FormatError(path, "its documents are not in order: it is damaged")


FORMAT = Megatron()
