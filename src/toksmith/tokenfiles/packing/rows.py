"""Packed rows: the sequences of a pack index over open token files."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from toksmith._base.arrays import OffsetArray
from toksmith._base.checks import check_index
from toksmith._base.lazy import np
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles.maps import check_map
from toksmith.tokenfiles.packing.index import PackIndex
from toksmith.tokenfiles.source import Tokens, TokenSource

if TYPE_CHECKING:
    from toksmith._base.lazy import npt


class PackedRow(NamedTuple):
    """A sequence of pieces of documents.

    Attributes:
        ids: shape ``(tokens,)``, in the type of the token files: the pieces end to end.
        cu_seqlens: int32, shape ``(pieces + 1,)``: piece ``i`` is
            ``ids[cu_seqlens[i]:cu_seqlens[i + 1]]``, as attention of variable length takes it.
        positions: int32, shape ``(tokens,)``: the position of each token in its piece.
        documents: int64, shape ``(pieces,)``: the number of each piece's document.
        starts: int64, shape ``(pieces,)``: the first token of each piece in its document.

    Example:
        >>> import numpy as np, pathlib, tempfile, toksmith
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "train.bin")
        ...     np.array([5, 6, 0, 7, 0], np.uint16).tofile(path)
        ...     tokens = toksmith.open_tokens(path, format="nanogpt", eos=0)
        ...     rows = PackedRows(tokens, toksmith.tokenfiles.pack(tokens, length=8))
        ...     len(rows), rows[0].ids.tolist(), rows[0].positions.tolist()
        (1, [5, 6, 0, 7, 0], [0, 1, 2, 0, 1])
    """

    ids: Tokens
    cu_seqlens: npt.NDArray[np.int32]
    positions: npt.NDArray[np.int32]
    documents: OffsetArray
    starts: OffsetArray


class PackedRows:
    """The sequences of a pack index, read lazily; ``rows[i]`` is a :class:`PackedRow`.

    Args:
        tokens: the token files.
        index: the index, or its path.

    Attributes:
        tokens: the token files.
        index: the index.

    Raises:
        OptionError: the index was made for other token files.
        FormatError: the index is damaged.

    Example:
        >>> import numpy as np, pathlib, tempfile, toksmith
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "train.bin")
        ...     np.array([5, 6, 0, 7, 0], np.uint16).tofile(path)
        ...     tokens = toksmith.open_tokens(path, format="nanogpt", eos=0)
        ...     rows = PackedRows(tokens, toksmith.tokenfiles.pack(tokens, length=8))
        ...     len(rows), rows[0].ids.tolist(), rows[0].positions.tolist()
        (1, [5, 6, 0, 7, 0], [0, 1, 2, 0, 1])
    """

    def __init__(self, tokens: TokenSource, index: PackIndex | str | PathLike[str]) -> None:
        if not isinstance(index, PackIndex):
            index = PackIndex.load(index)
        index.check_source(tokens)
        self.tokens = tokens
        self.index = index
        self._lengths = tokens.lengths

    def __len__(self) -> int:
        """Return the number of sequences."""
        return len(self.index)

    def __getitem__(self, number: int) -> PackedRow:
        """Return a sequence; negative numbers count from the end.

        Raises:
            OptionError: the number is no whole number.
            IndexError: there is no such sequence.
            FormatError: the index is damaged.
        """
        if isinstance(number, slice):
            raise OptionError(f"sequence {number!r}: use a whole number, not a slice")
        check_index(number, "sequence", f"an index of {len(self)}")
        place = number.__index__()
        if not -len(self) <= place < len(self):
            raise IndexError(f"sequence {place:,} of {len(self):,}")
        place %= len(self)
        check_map(self.index.bounds)
        first, last = map(int, self.index.bounds[place : place + 2])
        pieces = np.asarray(self.index.rows[first:last])
        documents, starts, lengths = (
            pieces[name].astype(np.int64) for name in ("document", "start", "length")
        )
        ends = starts + lengths
        if (
            not len(pieces)
            or documents.max() >= len(self._lengths)
            or (ends > self._lengths[documents]).any()
            or lengths.sum() > self.index.report.length
        ):
            raise FormatError(
                self.index.name, f"sequence {place:,} holds no pieces of these documents"
            )
        found = [
            self.tokens.ids(document, document + 1)[start:end]
            for document, start, end in zip(
                documents.tolist(), starts.tolist(), ends.tolist(), strict=True
            )
        ]
        bounds = np.zeros(len(pieces) + 1, np.int32)
        np.cumsum(lengths, out=bounds[1:])
        positions = np.arange(bounds[-1], dtype=np.int32) - np.repeat(bounds[:-1], lengths)
        return PackedRow(np.concatenate(found), bounds, positions, documents, starts)

    def __iter__(self) -> Iterator[PackedRow]:
        """Yield all sequences."""
        return map(self.__getitem__, range(len(self)))

    def __repr__(self) -> str:
        return f"<PackedRows: {self.index!r} over {self.tokens!r}>"
