"""Packed rows as PyTorch datasets, and functions that make batches of them.

Needs PyTorch (``pip install torch``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toksmith._base.checks import whole
from toksmith._base.lazy import importing, np
from toksmith.errors import OptionError
from toksmith.tokenfiles.packing.order import RowOrder
from toksmith.tokenfiles.packing.rows import PackedRow, PackedRows

with importing("torch", "toksmith.tokenfiles.packing.torch_data needs PyTorch: pip install torch"):
    import torch
    from torch.utils.data import Dataset, IterableDataset

Row = Mapping[str, "torch.Tensor"]
_IGNORED = -100  # the label that PyTorch's cross entropy leaves out


class PackedDataset(Dataset):  # type: ignore[misc]  # torch is not installed for type checks
    """Packed rows by number, as dicts of tensors.

    Keys: ``input_ids`` int64, ``position_ids`` int64 (from 0 in each piece), both of shape
    ``(tokens,)``; ``cu_seqlens`` int32, the bounds of the pieces; ``documents`` int64, the document
    of each piece. Rows have different lengths: give a ``DataLoader`` a ``collate_fn``, such as
    :func:`flatten` or :func:`pad`. For a shuffle that is resumed, give it a
    :class:`~toksmith.tokenfiles.packing.order.RowOrder` as ``sampler``.

    Args:
        rows: the rows, as :meth:`TokenFiles.packed` returns them.
    """

    def __init__(self, rows: PackedRows) -> None:
        self.rows = _check_rows(rows)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __getitem__(self, number: int) -> dict[str, torch.Tensor]:
        """Return a row."""
        return _tensors(self.rows[number])


class PackedStream(IterableDataset):  # type: ignore[misc]
    """Packed rows in the order of a training, as dicts of tensors: see :class:`PackedDataset`.

    The state is that of a :class:`~toksmith.tokenfiles.packing.order.RowOrder`. Each worker of a
    ``DataLoader`` has its own, which torchdata's ``StatefulDataLoader`` saves and restores.

    Args:
        rows: the rows, as :meth:`TokenFiles.packed` returns them.
        seed: shuffles the rows, in another order each epoch; ``None`` keeps their order.
        rank: the number of this process.
        world_size: the number of processes.
        drop_last: leave out the last rows, fewer than ``world_size``, so that all processes read
            the same number.

    Raises:
        OptionError: an argument is out of range.
    """

    def __init__(
        self,
        rows: PackedRows,
        *,
        seed: int | None = None,
        rank: int = 0,
        world_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        self.rows = _check_rows(rows)
        self._order = RowOrder(
            len(rows), seed=seed, rank=rank, world_size=world_size, drop_last=drop_last
        )

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration begin an epoch: see :meth:`RowOrder.set_epoch`."""
        self._order.set_epoch(epoch)

    def state_dict(self) -> dict[str, int]:
        """Return the place after the row that was yielded last."""
        return self._order.state_dict()

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Let the next iteration begin at a place that :meth:`state_dict` returned."""
        self._order.load_state_dict(state)

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        """Yield rows to the end of the epoch."""
        return (_tensors(self.rows[number]) for number in self._order)


def flatten(rows: Sequence[Row]) -> dict[str, Any]:
    """Return a batch as one row of all pieces, for attention of variable length.

    Args:
        rows: rows of a dataset.

    Returns:
        ``input_ids``, ``position_ids`` and ``labels`` of shape ``(1, tokens)``; ``cu_seqlens`` of
        shape ``(pieces + 1,)``; ``max_seqlen``, the length of the longest piece. Labels are the
        ids, with -100 for the first token of each piece, which nothing before it predicts.
    """
    bounds, before = [torch.zeros(1, dtype=torch.int32)], 0
    for row in rows:
        bounds.append(row["cu_seqlens"][1:] + before)
        before += len(row["input_ids"])
    cu_seqlens = torch.cat(bounds).to(torch.int32)
    batch = {
        name: torch.cat([row[name] for row in rows])[None] for name in ("input_ids", "position_ids")
    }
    batch["labels"] = batch["input_ids"].masked_fill(batch["position_ids"] == 0, _IGNORED)
    longest = int((cu_seqlens[1:] - cu_seqlens[:-1]).max())
    return {**batch, "cu_seqlens": cu_seqlens, "max_seqlen": longest}


def pad(rows: Sequence[Row], *, length: int, pad_id: int = 0) -> dict[str, torch.Tensor]:
    """Return a batch of rows that are padded at the right.

    Args:
        rows: rows of a dataset.
        length: the length to pad to, that of the index.
        pad_id: the id of padding.

    Returns:
        Arrays of int64 and shape ``(rows, length)``: ``input_ids``; ``position_ids``, 0 for
        padding; ``piece_ids``, the number of each token's piece in its row, from 1 on, and 0 for
        padding; ``labels``, the ids with -100 for padding and the first token of each piece.

    Raises:
        OptionError: a row is longer.
    """
    length = whole("length", length, 1)
    longest = max((len(row["input_ids"]) for row in rows), default=0)
    if longest > length:
        raise OptionError(f"length is {length}, and a row has {longest} tokens: use that or more")
    shape = (len(rows), length)
    ids = torch.full(shape, pad_id, dtype=torch.int64)
    positions, pieces = (torch.zeros(shape, dtype=torch.int64) for _ in range(2))
    for number, row in enumerate(rows):
        size = len(row["input_ids"])
        ids[number, :size] = row["input_ids"]
        positions[number, :size] = row["position_ids"]
        pieces[number, :size] = (row["position_ids"] == 0).cumsum(0)
    labels = ids.masked_fill(positions == 0, _IGNORED)
    return {"input_ids": ids, "position_ids": positions, "piece_ids": pieces, "labels": labels}


def _check_rows(rows: object) -> PackedRows:
    if not isinstance(rows, PackedRows):
        raise OptionError(f"rows is {rows!r:.80}: use what open_tokens(…).packed(…) returns")
    return rows


def _tensors(row: PackedRow) -> dict[str, torch.Tensor]:
    return {
        "input_ids": torch.from_numpy(row.ids.astype(np.int64)),
        "position_ids": torch.from_numpy(row.positions.astype(np.int64)),
        "cu_seqlens": torch.from_numpy(row.cu_seqlens),
        "documents": torch.from_numpy(row.documents),
    }
