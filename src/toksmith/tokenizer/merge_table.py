"""The merges of a BPE model as rows, with their tokens and counts."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex, overload

from toksmith._base.checks import check_index
from toksmith._base.visible import (
    LONGEST_IN_LIST,
    count_of,
    short_repr,
    shorten,
    visible_start,
)

if TYPE_CHECKING:
    from toksmith._base.lazy import np, npt

_PRINTED = 60
"""The most rows printed in full; of a longer table, only the first 40 and the last 10."""
_FIRST, _LAST = 40, 10
_PAIRS = 6
"""The number of pairs that the repr of merges shows."""


@short_repr
class MergeRow(NamedTuple):
    """One merge.

    Attributes:
        rank: its index in the list of merges; lower ranks are applied first.
        left: the id on the left.
        right: the id on the right.
        new: the id of the merged token.
        bytes: the bytes of the merged token.
        count: the number of times the pair occurred in the training text when it was merged;
            ``None`` without a training record.
    """

    rank: int
    left: int
    right: int
    new: int
    bytes: builtins.bytes
    count: int | None  # type: ignore[assignment]  # hides tuple.count


class Merges(tuple[tuple[int, int], ...]):
    """The merges of a BPE model in rank order, as ``(left id, right id)``.

    A tuple of pairs that equals a list of the same pairs; a slice is a Merges too.

    Example:
        >>> import toksmith
        >>> merges = toksmith.train(texts=["low lower lowest"], vocab_size=259).merges
        >>> merges, merges[:2] == [(108, 111), (256, 119)]
        (<Merges: 3 pairs: (108, 111), (256, 119), (32, 257)>, True)
    """

    __slots__ = ()

    @overload
    def __getitem__(self, index: SupportsIndex) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, index: slice) -> Merges: ...
    def __getitem__(self, index: SupportsIndex | slice) -> tuple[int, int] | Merges:
        if isinstance(index, slice):
            return Merges(super().__getitem__(index))
        check_index(index, "merge", f"{len(self):,}")
        try:
            return super().__getitem__(index)
        except IndexError:
            raise IndexError(f"merge {index} of {len(self):,}") from None

    def __eq__(self, other: object) -> bool:
        return super().__eq__(tuple(other) if isinstance(other, list) else other)

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:_PAIRS]))
        more = ", …" if len(self) > _PAIRS else ""
        return f"<Merges: {count_of(len(self), 'pair')}: {shown}{more}>"


class MergeTable(Sequence[MergeRow]):
    """The merges of a BPE model in rank order; print it to read it, slices are tables too.

    Args:
        merges: uint32, shape ``(n, 3)``: left id, right id, resulting id.
        tokens: the bytes of each id.
        counts: the count of each pair, for the last ``len(counts)`` merges; may be empty.
        rows: the ranks in the table; ``None`` for all.

    Example:
        >>> import toksmith
        >>> tok = toksmith.train(texts=["low lower lowest"], vocab_size=259)
        >>> tok.merge_table[1]
        MergeRow(rank=1, left=256, right=119, new=257, bytes=b'low', count=3)
        >>> print(tok.merge_table)
        rank  left + right    id  token  count
           0  l + o          256  lo         3
           1  lo + w         257  low        3
           2  · + low        258  ·low       2
    """

    def __init__(
        self,
        merges: npt.NDArray[np.uint32],
        tokens: Sequence[bytes],
        counts: Sequence[int] | npt.NDArray[np.uint64] = (),
        rows: range | None = None,
    ) -> None:
        self._merges = merges
        self._tokens = tokens
        self._counts = counts
        self._rows = range(len(merges)) if rows is None else rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> MergeRow: ...
    @overload
    def __getitem__(self, index: slice) -> MergeTable: ...
    def __getitem__(self, index: int | slice) -> MergeRow | MergeTable:
        if isinstance(index, slice):
            return MergeTable(self._merges, self._tokens, self._counts, self._rows[index])
        check_index(index, "merge", f"{len(self):,}")
        try:
            rank = self._rows[index]
        except IndexError:
            raise IndexError(f"merge {index} of {len(self):,}") from None
        left, right, new = self._merges[rank].tolist()
        known = rank - len(self._merges) + len(self._counts)
        count = int(self._counts[known]) if known >= 0 else None
        return MergeRow(rank, left, right, new, self._tokens[new], count)

    def __iter__(self) -> Iterator[MergeRow]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, MergeTable | list | tuple):
            return list(self) == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it equals lists, which have none

    def __repr__(self) -> str:
        shown = ", ".join(shorten(self.pair(row), 24) for row in self[:4])
        return (
            f"<MergeTable: {count_of(len(self), 'merge')}: {shown}{', …' if len(self) > 4 else ''}>"
        )

    def _repr_html_(self) -> str:
        from toksmith._base.report import html_of

        return html_of(self)

    def __str__(self) -> str:
        cut = len(self) > _PRINTED
        rows = [*self[:_FIRST], *self[-_LAST:]] if cut else list(self)
        cells: list[tuple[str, ...]] = [("rank", "left + right", "id", "token", "count")]
        for row in rows:
            count = "" if row.count is None else f"{row.count:,}"
            cells.append(
                (
                    str(row.rank),
                    self.pair(row),
                    str(row.new),
                    visible_start(row.bytes, LONGEST_IN_LIST),
                    count,
                )
            )
        if all(row.count is None for row in rows):
            cells = [row[:-1] for row in cells]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        left_aligned = (1, 3)
        lines = [
            "  ".join(
                cell.ljust(width) if place in left_aligned else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in cells
        ]
        if cut:
            lines.insert(1 + _FIRST, f"… {len(self) - _FIRST - _LAST:,} more …")
        return "\n".join(lines)

    def pair(self, row: MergeRow) -> str:
        """Return both tokens of a merge in printable form; long tokens are cut."""
        tokens = self._tokens[row.left], self._tokens[row.right]
        return " + ".join(visible_start(token, LONGEST_IN_LIST) for token in tokens)
