"""A shard of Mosaic's streaming, mapped into memory."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import json, np
from toksmith.errors import FormatError
from toksmith.tokenfiles.format import type_of
from toksmith.tokenfiles.maps import check_map, map_ids
from toksmith.tokenfiles.source import Tokens

_COLUMNS = ("tokens", "input_ids")
_CODES = {
    "uint8": 8, "int8": 9, "uint16": 16, "int16": 17, "uint32": 32, "int32": 33, "uint64": 64,
    "int64": 65,
}  # fmt: skip
"""The types of arrays by the code that is before those of a column without a type."""


class Shard:
    """One ``.mds`` file. A document is the array in the column of ids of a sample.

    The first pages of the file are read when it is opened, and samples when they are asked for.

    Args:
        path: the file.
        dtype: the type of ids that are stored as bytes; ``None`` for int64.
        samples: the number of samples in the index; ``None`` without one.

    Raises:
        FormatError: the file is damaged, cut short, or holds no column of ids.
    """

    def __init__(self, path: Path, dtype: str | None, samples: object = None) -> None:
        self.path = path
        self._data = map_ids(path, np.dtype("uint8"))
        self._places, config = self._head()
        if samples not in (None, len(self)):
            raise FormatError(
                path, f"has {len(self):,} samples, and its index says {samples!r:.80}"
            )
        self._sizes, self._number, encoding = self._column(config)
        kind, _, rest = encoding.partition(":")
        name, _, shape = rest.partition(":")
        if kind not in ("ndarray", "bytes") or (name and name not in _CODES):
            raise FormatError(path, f"holds ids as {encoding}: ndarray of integers expected")
        self._has_type = kind == "ndarray" and not name
        self._has_shape = kind == "ndarray" and not shape
        if self._has_type:
            name = self._type_of_first()
        # Early versions of llm-foundry wrote the bytes of int64.
        self.dtype = type_of(name or dtype, "int64") if kind == "bytes" else type_of(name)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._places) - 1

    @cached_property
    def lengths(self) -> OffsetArray:
        """The number of tokens of each document: int64, shape ``(documents,)``."""
        if not self._is_plain:
            return self._arrays(0, len(self))[1]
        # The size of a sample tells its length: no sample needs to be read.
        sizes = np.diff(self._places) - 5
        item = self.dtype.itemsize
        widths = np.where(
            (sizes - 1) // item < 1 << 8, 1, np.where((sizes - 2) // item < 1 << 16, 2, 4)
        )
        self._check((sizes >= widths) & ((sizes - widths) % item == 0), 0)
        lengths: OffsetArray = (sizes - widths) // item
        return lengths

    def ids(self, first: int, last: int) -> Tokens:
        """Return the ids of documents ``first`` to ``last - 1``, end to end: a copy."""
        if first >= last:
            return np.zeros(0, self.dtype)
        starts, lengths = self._arrays(first, last)
        self._check(lengths == self.lengths[first:last], first)
        return np.concatenate(
            [
                np.frombuffer(self._data, self.dtype, length, start)
                for start, length in zip(starts.tolist(), lengths.tolist(), strict=True)
            ]
        )

    @property
    def _is_plain(self) -> bool:
        """Whether a sample is a single array that stores its length, but not its type."""
        return self._sizes == [None] and self._has_shape and not self._has_type

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
                self.path, f"has {size:,} bytes, which its places do not fit: cut short?"
            )
        try:
            config = json.loads(self._data[start : places[0]].tobytes())
        except (ValueError, RecursionError) as wrong:
            raise FormatError(self.path, "its settings are no JSON") from wrong
        if not isinstance(config, dict):
            raise FormatError(self.path, "its settings are no JSON object")
        return places, config

    def _column(self, config: dict[str, Any]) -> tuple[list[int | None], int, str]:
        """Return the sizes of all columns, and the number and the encoding of that of ids."""
        names, encodings, sizes = (
            config.get(f"column_{each}") for each in ("names", "encodings", "sizes")
        )
        if not (
            isinstance(names, list)
            and isinstance(encodings, list)
            and isinstance(sizes, list)
            and len(names) == len(encodings) == len(sizes)
            and all(size is None or (type(size) is int and 0 <= size < 1 << 32) for size in sizes)
        ):
            raise FormatError(self.path, "its settings name no columns")
        number = next((names.index(each) for each in _COLUMNS if each in names), None)
        if number is None:
            found = ", ".join(map(str, names))
            raise FormatError(
                self.path, f"has columns {found:.200}: {' or '.join(_COLUMNS)} expected"
            )
        return sizes, number, str(encodings[number])

    def _type_of_first(self) -> str:
        """Return the type of the array in the first sample; all have the same."""
        if not len(self):
            return "int32"
        starts, ends = self._bounds(0, 1)
        self._check(starts < ends, 0)
        code = int(self._data[starts[0]])
        name = next((name for name, known in _CODES.items() if known == code), None)
        if name is None:
            raise FormatError(self.path, f"holds arrays of type {code}: one of integers expected")
        return name

    def _bounds(self, first: int, last: int) -> tuple[OffsetArray, OffsetArray]:
        """Return where the column of ids starts and ends in samples."""
        check_map(self._data)
        samples, ends = self._places[first:last], self._places[first + 1 : last + 1]
        start = samples + 4 * sum(size is None for size in self._sizes)
        self._check(start <= ends, first)
        bounds = [start]
        variable = 0
        for size in self._sizes:
            if size is None:
                start = start + self._numbers(samples + 4 * variable, "<u4")
                variable += 1
            else:
                start = start + size
            bounds.append(start)
        self._check(start == ends, first)
        return bounds[self._number], bounds[self._number + 1]

    def _arrays(self, first: int, last: int) -> tuple[OffsetArray, OffsetArray]:
        """Return where the ids of samples start, and their numbers."""
        starts, ends = self._bounds(first, last)
        if self._has_type:
            self._check(starts < ends, first)
            self._check(self._data[starts] == _CODES[self.dtype.name], first)
            starts = starts + 1
        item = self.dtype.itemsize
        if not self._has_shape:
            self._check((ends - starts) % item == 0, first)
            return starts, (ends - starts) // item
        self._check(starts < ends, first)
        heads = self._data[starts]
        if (heads >> 2 != 1).any():
            raise FormatError(self.path, "holds arrays of several dimensions: one expected")
        codes = (heads & 3).astype(np.int64)
        begins = starts + 1 + (1 << codes)
        self._check(begins <= ends, first)
        lengths = np.zeros(len(starts), np.int64)
        for code in range(4):
            of = np.flatnonzero(codes == code)
            lengths[of] = self._numbers(starts[of] + 1, f"<u{1 << code}")
        # Compared by division: the product of a damaged length may overflow.
        self._check((lengths == (ends - begins) // item) & ((ends - begins) % item == 0), first)
        return begins, lengths

    def _numbers(self, places: OffsetArray, dtype: str) -> OffsetArray:
        """Return the integers at places of the file."""
        size = np.dtype(dtype).itemsize
        found: OffsetArray = self._data[places[:, None] + np.arange(size)].view(dtype)[:, 0]
        return found.astype(np.int64)

    def _check(self, fits: Any, first: int) -> None:
        """Raise an error that names the first sample that does not fit."""
        wrong = np.flatnonzero(~fits)
        if len(wrong):
            number = first + int(wrong[0])
            raise FormatError(self.path, f"sample {number:,} is damaged: its sizes do not fit")
