"""Token files opened for reading: documents of ids, read lazily from memory maps."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from toksmith._base.arrays import OffsetArray
from toksmith._base.checks import vector, whole
from toksmith._base.lazy import np
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles.mapped_pickle import dumps
from toksmith.tokenfiles.maps import check_map, map_ids
from toksmith.tokenfiles.regular import open_regular
from toksmith.tokenfiles.source import Tokens, TokenSource

if TYPE_CHECKING:
    from toksmith.tokenfiles.packing.index import PackIndex
    from toksmith.tokenfiles.packing.rows import PackedRows

STEP = 1 << 20
"""The number of documents whose bounds are checked or converted at once."""

_SEARCHED = 1 << 24
"""The number of ids that are searched for an end-of-text id at once."""


class Part(Protocol):
    """One file of a set: documents of ids."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def lengths(self) -> OffsetArray:
        """The number of tokens of each document: int64, shape ``(documents,)``."""

    def __len__(self) -> int:
        """Return the number of documents; where possible without reading their lengths."""

    def ids(self, first: int, last: int) -> Tokens:
        """Return the ids of documents ``first`` to ``last - 1`` of this file, end to end."""


class IndexedPart(ABC):
    """A file whose bounds of documents are in an index that is read where it is needed.

    Args:
        path: the file.
        ids: its ids.
        count: the number of documents.
    """

    def __init__(self, path: Path, ids: Tokens, count: int) -> None:
        self.path = path
        self._ids = ids
        self._count = count

    @abstractmethod
    def bounds(self, first: int, last: int) -> OffsetArray:
        """Return where in the ids documents ``first`` to ``last - 1`` start, and the last ends.

        Args:
            first: the number of a document, or the number of documents.
            last: the same, ``first`` at least.

        Returns:
            int64, shape ``(last - first + 1,)``.
        """

    def check(self) -> None:
        """Check that the mapped files did not become shorter; see :func:`check_map`."""
        check_map(self._ids)

    @property
    def all_ids(self) -> Tokens:
        """The ids of all documents, end to end: a plain array, whose slices cost less."""
        return np.asarray(self._ids)

    @property
    def lengths(self) -> OffsetArray:
        """The number of tokens of each document."""
        self.check()
        lengths: OffsetArray = np.empty(self._count, np.int64)
        for first in range(0, self._count, STEP):
            last = min(first + STEP, self._count)
            lengths[first:last] = np.diff(self.bounds(first, last))
        return lengths

    def __len__(self) -> int:
        """Return the number of documents."""
        return self._count

    def ids(self, first: int, last: int) -> Tokens:
        """Return the ids of documents ``first`` to ``last - 1``, a view of the memory map."""
        self.check()
        return self._ids[int(self.bounds(first, first)[0]) : int(self.bounds(last, last)[0])]


class RawPart(IndexedPart):
    """A file that holds ids end to end, with the bounds of its documents known.

    Args:
        path: the file.
        dtype: the type of its ids.
        lengths: int64, shape ``(documents,)``: the tokens of each; ``None`` makes the file one
            document.
        offset: the number of bytes before the first id.

    Raises:
        FormatError: the file cannot be read, or its size does not match the lengths.
    """

    def __init__(
        self,
        path: Path,
        dtype: np.dtype[Any],
        lengths: OffsetArray | None = None,
        *,
        offset: int = 0,
    ) -> None:
        ids = map_ids(path, dtype, offset)
        if lengths is None:
            lengths = np.array([len(ids)], np.int64)
        super().__init__(path, ids, len(lengths))
        self._all: OffsetArray = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=self._all[1:])
        check_size(path, len(ids), int(self._all[-1]))

    def bounds(self, first: int, last: int) -> OffsetArray:
        """Return the bounds of documents ``first`` to ``last - 1``."""
        return self._all[first : last + 1]


def check_size(path: Path, held: int, indexed: int) -> None:
    """Compare the number of tokens of a file with that of its index.

    Raises:
        FormatError: they differ.
    """
    if held != indexed:
        raise FormatError(
            path,
            f"holds {held:,} tokens, but its index says {indexed:,}: one of the two is cut short "
            "or belongs to another file",
        )


def one_type(path: Path, types: Iterable[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the type of the ids of all files at a path; uint16 if there is no file.

    Raises:
        FormatError: the files are of several types.
    """
    several = set(types)
    if len(several) > 1:
        names = " and ".join(sorted(each.name for each in several))
        raise FormatError(path, f"holds ids of {names}: open files of one type at a time")
    return several.pop() if several else np.dtype("<u2")


def head(path: Path, size: int) -> bytes:
    """Return the first bytes of a file.

    Raises:
        FormatError: the file cannot be read.
    """
    try:
        with open_regular(path) as file:
            return file.read(size)
    except OSError as wrong:
        raise FormatError(path, f"cannot be read: {wrong.strerror or wrong}") from wrong


class StreamPart:
    """Files that hold one stream of ids: a document may start in one file and end in another.

    The bounds of the documents are searched for when they are needed for the first time.

    Args:
        paths: the files, in order.
        maps: their ids.
        eos: the id that ends or precedes each document; ``None`` makes each file one document.
        place: ``"before"`` if the id precedes each document; else it ends each.

    Example:
        >>> files, ids = [Path("a"), Path("b")], [np.array([5, 6, 0, 7]), np.array([8, 0])]
        >>> StreamPart(files, ids, 0, "after").lengths.tolist()
        [3, 3]
        >>> StreamPart(files, ids, 0, "before").lengths.tolist()
        [2, 3, 1]
        >>> StreamPart(files, ids, None, "after").lengths.tolist()
        [4, 2]
    """

    def __init__(
        self, paths: Sequence[Path], maps: Sequence[Tokens], eos: int | None, place: str | None
    ) -> None:
        self.path = paths[0]
        self._paths = list(paths)
        self._maps = list(maps)
        self._starts: OffsetArray = np.cumsum([0, *(len(each) for each in maps)], dtype=np.int64)
        self._eos = eos
        self._place = place

    @cached_property
    def _bounds(self) -> OffsetArray:
        """The bounds of the documents in the stream, each once: no document is empty."""
        if self._eos is None:
            found = [self._starts]
        else:
            found = [self._starts[:1]]
            for ids, before in zip(self._maps, self._starts.tolist(), strict=False):
                shift = before + (self._place != "before")
                for start in range(0, len(ids), _SEARCHED):
                    check_map(ids)
                    places = np.flatnonzero(ids[start : start + _SEARCHED] == self._eos)
                    found.append(places + (start + shift))
            found.append(self._starts[-1:])
        every = np.concatenate(found)
        bounds: OffsetArray = every[np.append(True, every[1:] > every[:-1])]
        return bounds

    @property
    def lengths(self) -> OffsetArray:
        """The number of tokens of each document."""
        return np.diff(self._bounds)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._bounds) - 1

    def check(self) -> None:
        """Check that the files did not become shorter; see :func:`check_map`."""
        for ids in self._maps:
            check_map(ids)

    @property
    def all_ids(self) -> Tokens | None:
        """The ids of all documents of a single file: a plain array; ``None`` for several files."""
        return np.asarray(self._maps[0]) if len(self._maps) == 1 else None

    def path_of(self, document: int) -> Path:
        """Return the file in which a document starts."""
        start = self._bounds[document]
        return self._paths[int(np.searchsorted(self._starts, start, side="right")) - 1]

    def ids(self, first: int, last: int) -> Tokens:
        """Return the ids of documents ``first`` to ``last - 1``: a view, or a copy of several."""
        start, end = int(self._bounds[first]), int(self._bounds[last])
        found = []
        file = int(np.searchsorted(self._starts, start, side="right")) - 1
        for ids, before in zip(self._maps[file:], self._starts[file:].tolist(), strict=False):
            if before >= end:
                break
            check_map(ids)
            found.append(ids[max(0, start - before) : end - before])
        if len(found) == 1:
            return found[0]
        return np.concatenate(found) if found else self._maps[0][:0]


class TokenFiles(TokenSource):
    """The documents of token files, in order.

    Arrays of ids may share the memory map of their file. Before each read, the size of the file is
    checked: one that became shorter raises FormatError. If it becomes shorter later, reading such
    an array ends the process, so copy what you keep if others may change the files.

    Attributes:
        path: the path that was opened.
        format: the name of the format.
        metadata: what the files say about themselves, such as the tokenizer's name.
        parts: the files.

    Example:
        >>> import pathlib, tempfile, toksmith
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     corpus = pathlib.Path(folder, "corpus.txt")
        ...     _ = corpus.write_text("low|lower")
        ...     _ = toksmith.tokenize_corpus(
        ...         corpus, separator="|", tokenizer="toksmith-small", format="megatron",
        ...         output=folder + "/tokens",
        ...     )
        ...     tokens = toksmith.open_tokens(folder + "/tokens")
        ...     len(tokens), tokens[0].tolist(), tokens.dtype.name
        (2, [5393, 16382], 'uint16')
    """

    def __init__(
        self,
        path: Path,
        format_name: str,
        dtype: np.dtype[Any],
        parts: Sequence[Part],
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        self.path = path
        self.format = format_name
        self.metadata = dict(metadata or {})
        self.parts = list(parts)
        self._dtype = dtype
        self._lengths: OffsetArray | None = None

    @cached_property
    def _firsts(self) -> OffsetArray:
        """The number of documents before each part, and of all."""
        return np.cumsum([0, *(len(part) for part in self.parts)], dtype=np.int64)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The integer type of the ids.

        Example:
            >>> import numpy as np, pathlib, tempfile, toksmith
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "train.bin")
            ...     np.array([5, 6, 0, 7, 0], np.uint16).tofile(path)
            ...     tokens = toksmith.open_tokens(path, format="nanogpt", eos=0)
            ...     tokens.dtype
            dtype('uint16')
        """
        return self._dtype

    @property
    def lengths(self) -> OffsetArray:
        """The number of tokens of each document: int64, shape ``(documents,)``.

        Example:
            >>> import numpy as np, pathlib, tempfile, toksmith
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "train.bin")
            ...     np.array([5, 6, 0, 7, 0], np.uint16).tofile(path)
            ...     tokens = toksmith.open_tokens(path, format="nanogpt", eos=0)
            ...     tokens.lengths
            array([3, 2])
        """
        if self._lengths is None:
            several = [part.lengths for part in self.parts] or [np.zeros(0, np.int64)]
            self._lengths = np.concatenate(several) if len(several) != 1 else several[0]
        return self._lengths

    def __len__(self) -> int:
        """Return the number of documents."""
        return int(self._firsts[-1])

    def __getitem__(self, number: int) -> Tokens:
        """Return the ids of a document; negative numbers count from the end.

        Raises:
            OptionError: the number is no whole number.
            IndexError: there is no such document.
            FormatError: a file became shorter since it was opened.
        """
        try:
            index = number.__index__()
        except AttributeError:
            raise OptionError(f"{number!r:.40} is no number of a document") from None
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"document {index:,} of {count:,}")
        index %= count
        part = int(np.searchsorted(self._firsts, index, side="right")) - 1
        place = index - int(self._firsts[part])
        return self.parts[part].ids(place, place + 1)

    def __iter__(self) -> Iterator[Tokens]:
        """Yield the ids of each document."""
        return (self[number] for number in range(len(self)))

    def ids(self, first: int, last: int) -> Tokens:
        """Return the ids of consecutive documents, end to end.

        Args:
            first: the number of the first document, from 0.
            last: the number after the last one.

        Raises:
            OptionError: there are no such documents.

        Example:
            >>> import numpy as np, pathlib, tempfile, toksmith
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "train.bin")
            ...     np.array([5, 6, 0, 7, 0], np.uint16).tofile(path)
            ...     tokens = toksmith.open_tokens(path, format="nanogpt", eos=0)
            ...     tokens.ids(0, 2).tolist()
            [5, 6, 0, 7, 0]
        """
        last = whole("last", last, least=0)
        if not whole("first", first, least=0) <= last <= len(self):
            raise OptionError(f"documents {first:,} to {last:,}: there are {len(self):,}")
        found = []
        number = int(np.searchsorted(self._firsts, first, side="right")) - 1
        while first < last:
            before, end = map(int, self._firsts[number : number + 2])
            if first < end:
                found.append(self.parts[number].ids(first - before, min(last, end) - before))
                first = end
            number += 1
        if len(found) == 1:
            return found[0]
        return np.concatenate(found) if found else np.zeros(0, self._dtype)

    def each(self, numbers: OffsetArray) -> list[Tokens]:
        """Return the ids of each of some documents, in any order.

        Args:
            numbers: the numbers of the documents, from 0.

        Raises:
            OptionError: there is no such document.

        Example:
            >>> import numpy as np, pathlib, tempfile, toksmith
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "train.bin")
            ...     np.array([5, 6, 0, 7, 0], np.uint16).tofile(path)
            ...     tokens = toksmith.open_tokens(path, format="nanogpt", eos=0)
            ...     [ids.tolist() for ids in tokens.each(np.array([1, 0]))]
            [[7, 0], [5, 6, 0]]
        """
        numbers = vector("numbers", numbers, np.int64)
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(self):
            raise OptionError(
                f"numbers goes from {numbers.min():,} to {numbers.max():,}: documents go from 0 to "
                f"{len(self) - 1:,}"
            )
        parts = [part for part in self.parts if isinstance(part, IndexedPart | StreamPart)]
        flat = [each for part in parts if (each := part.all_ids) is not None]
        if len(flat) < len(self.parts):
            return super().each(numbers)
        before = np.cumsum([0, *map(len, flat)])
        owners = np.searchsorted(self._firsts, numbers, side="right") - 1
        for owner in {*owners.tolist()}:
            parts[owner].check()
        ends = self._ends[numbers] - before[owners]
        starts = ends - self.lengths[numbers]
        return [
            flat[owner][start:end]
            for owner, start, end in zip(
                owners.tolist(), starts.tolist(), ends.tolist(), strict=True
            )
        ]

    @cached_property
    def _ends(self) -> OffsetArray:
        """The number of tokens up to the end of each document."""
        return np.cumsum(self.lengths, dtype=np.int64)

    def packed(self, index: PackIndex | str | PathLike[str]) -> PackedRows:
        """Return the sequences of a pack index.

        Args:
            index: what :func:`toksmith.tokenfiles.pack` returned, or the path of an index.

        Raises:
            OptionError: the index was made for other token files.
            FormatError: the file is no index, or it is damaged.

        Example:
            >>> import numpy as np, pathlib, tempfile, toksmith
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "train.bin")
            ...     np.array([5, 6, 0, 7, 0], np.uint16).tofile(path)
            ...     tokens = toksmith.open_tokens(path, format="nanogpt", eos=0)
            ...     rows = tokens.packed(toksmith.tokenfiles.pack(tokens, length=8))
            ...     rows[0].ids.tolist(), rows[0].cu_seqlens.tolist()
            ([5, 6, 0, 7, 0], [0, 3, 5])
        """
        from toksmith.tokenfiles.packing.rows import PackedRows

        return PackedRows(self, index)

    def __getstate__(self) -> bytes:
        return dumps({name: held for name, held in self.__dict__.items() if name != "_ends"})

    def __setstate__(self, state: bytes) -> None:
        self.__dict__.update(pickle.loads(state))

    def __repr__(self) -> str:
        return (
            f"<TokenFiles {self.format}: {len(self):,} documents, {self.num_tokens:,} tokens, "
            f"{self._dtype.name}>"
        )
