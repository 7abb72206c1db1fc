"""Rows of pack indexes over token files, and the order in which a training reads them."""

from __future__ import annotations

import pickle
import sys
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.unit.tokenfiles.documents import read, write
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles import RowOrder, pack
from toksmith.tokenfiles.formats import NAMES
from toksmith.tokenfiles.mapped_pickle import dumps
from toksmith.tokenfiles.packing.methods import METHODS, Method
from toksmith.tokenfiles.token_files import RawPart, TokenFiles

LENGTHS = [[3, 0, 9], [], [2, 1, 6], [0, 4]]


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFiles:
    """Three files; the ids count up from 100."""
    parts, first = [], 100
    for number, lengths in enumerate(LENGTHS):
        path = tmp_path / f"{number}.bin"
        np.arange(first, first + sum(lengths), dtype=np.uint16).tofile(path)
        first += sum(lengths)
        parts.append(RawPart(path, np.dtype("uint16"), np.array(lengths, np.int64)))
    return TokenFiles(tmp_path, "raw", np.dtype("uint16"), parts)


def test_ids_across_files(tokens: TokenFiles) -> None:
    ends = np.cumsum([0, *tokens.lengths])
    for first in range(len(tokens) + 1):
        for last in range(first, len(tokens) + 1):
            ids = tokens.ids(first, last)
            assert ids.dtype == np.uint16
            assert ids.tolist() == list(range(100 + ends[first], 100 + ends[last]))


def test_a_row(tokens: TokenFiles) -> None:
    rows = tokens.packed(pack(tokens, length=8, method="concat"))
    assert len(rows) == 4
    row = rows[1]
    assert row.ids.dtype == np.uint16
    assert row.ids.tolist() == list(range(108, 116))
    assert (row.cu_seqlens.dtype, row.cu_seqlens.tolist()) == (np.int32, [0, 4, 6, 7, 8])
    assert (row.positions.dtype, row.positions.tolist()) == (np.int32, [0, 1, 2, 3, 0, 1, 0, 0])
    assert row.documents.tolist() == [2, 3, 4, 5]
    assert row.starts.tolist() == [5, 0, 0, 0]
    assert rows[-1].ids.tolist() == rows[3].ids.tolist() == [124]
    assert len(list(rows)) == 4


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [None, 5])
def test_rows_hold_the_pieces(tokens: TokenFiles, method: Method, seed: int | None) -> None:
    index = pack(tokens, length=5, method=method, seed=seed)
    found = []
    for row in tokens.packed(index):
        for piece, (document, start) in enumerate(zip(row.documents, row.starts, strict=True)):
            first, last = row.cu_seqlens[piece : piece + 2]
            ids = row.ids[first:last].tolist()
            assert ids == tokens[document][start : start + last - first].tolist()
            assert row.positions[first:last].tolist() == list(range(last - first))
            found += ids
    wanted = [id_ for ids in tokens for id_ in (ids[:5] if method == "truncate" else ids).tolist()]
    assert sorted(found) == sorted(wanted)
    if method == "concat" and seed is None:
        assert found == wanted


def test_an_index_by_path_survives_pickling(tokens: TokenFiles, tmp_path: Path) -> None:
    pack(tokens, length=5).save(tmp_path / "a.pack")
    rows = tokens.packed(tmp_path / "a.pack")
    data = pickle.dumps(rows)
    assert [row.ids.tolist() for row in pickle.loads(data)] == [row.ids.tolist() for row in rows]


def test_pickles_hold_no_ids(tmp_path: Path) -> None:
    np.arange(100_000, dtype=np.uint16).tofile(tmp_path / "a.bin")
    part = RawPart(tmp_path / "a.bin", np.dtype("uint16"), offset=10)
    data = pickle.dumps(TokenFiles(tmp_path, "raw", np.dtype("uint16"), [part]))
    assert len(data) < 2000
    again = pickle.loads(data)
    assert again[0].tolist() == np.arange(5, 100_000, dtype=np.uint16).tolist()
    assert isinstance(again[0], np.memmap)


def test_stretches_of_maps_are_pickled_by_place(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    np.arange(40_000, dtype=np.uint16).tofile(path)
    whole = np.memmap(path, np.uint16, "r", 6000, (30_000,))
    for ids in (whole, whole[5:], whole[20_000:][:3].view(np.uint8), whole[2:].view("<u4")[7:]):
        data = dumps([ids])
        assert len(data) < 500
        (again,) = pickle.loads(data)
        assert (again.dtype, again.tolist()) == (ids.dtype, ids.tolist())
    for ids in (whole[:0], whole[::2][:5], whole[:6].reshape(2, 3)):
        (again,) = pickle.loads(dumps([ids]))
        assert again.tolist() == ids.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_all_formats(name: str, tmp_path: Path) -> None:
    documents = [[*range(5 * number, 6 * number + 2), 999] for number in range(1, 20)]
    write(name, documents, tmp_path, shard_tokens=40)
    tokens = read(name, tmp_path, eos=999)
    rows = tokens.packed(pack(tokens, length=16))
    data = pickle.dumps(rows)
    assert [each.ids.tolist() for each in pickle.loads(data)] == [row.ids.tolist() for row in rows]
    found = [id_ for row in rows for id_ in row.ids.tolist()]
    assert sorted(found) == sorted(id_ for ids in documents for id_ in ids)


def test_other_token_files_are_refused(tokens: TokenFiles, tmp_path: Path) -> None:
    index = pack([3, 0, 9, 2, 1, 6, 0, 5], length=5)
    with pytest.raises(OptionError, match="was made for 8 documents of 26 tokens, and these are 8"):
        tokens.packed(index)
    with pytest.raises(FormatError, match="cannot be read"):
        tokens.packed(tmp_path / "none.pack")


@pytest.mark.parametrize(
    ("field", "value"), [("document", 8), ("start", 3), ("length", 4), ("length", 2**32 - 1)]
)
def test_wrong_rows_are_found(tokens: TokenFiles, field: str, value: int) -> None:
    index = pack(tokens, length=5, method="truncate")
    index.rows[field][0] = value
    rows = tokens.packed(index)
    with pytest.raises(FormatError, match="sequence 0 holds no pieces of these documents"):
        rows[0]
    assert rows[1].ids.tolist() == [103, 104, 105, 106, 107]


def test_any_damaged_byte_is_an_error_or_a_valid_index(tokens: TokenFiles, tmp_path: Path) -> None:
    path = tmp_path / "a.pack"
    pack(tokens, length=5).save(path)
    whole = path.read_bytes()
    found = 0
    for place, byte in enumerate(whole):
        value = ord("7") if chr(byte).isdigit() else byte ^ 255 if place % 2 else byte + 1
        path.write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
        try:
            rows = tokens.packed(path)
            lengths = {len(row.ids) for row in rows}
        except (FormatError, OptionError):
            found += 1
        else:
            assert lengths <= set(range(1, rows.index.report.length + 1))
    assert found > 100


def test_wrong_numbers(tokens: TokenFiles) -> None:
    rows = tokens.packed(pack(tokens, length=5))
    for number in (len(rows), -len(rows) - 1):
        with pytest.raises(IndexError, match=f"of {len(rows)}"):
            rows[number]
    for wrong in ("a", 1.0, None, slice(2)):
        with pytest.raises(OptionError, match="use a whole number"):
            rows[wrong]  # type: ignore[index]
    assert rows[np.int64(1)].ids.tolist() == rows[1].ids.tolist()  # type: ignore[index]


def test_an_order_is_shuffled_anew_each_epoch() -> None:
    order = RowOrder(100, seed=1)
    first, second = list(order), list(order)
    assert sorted(first) == sorted(second) == list(range(100))
    assert len({tuple(first), tuple(second), tuple(range(100))}) == 3
    order.set_epoch(0)
    assert list(order) == first
    assert list(RowOrder(100)) == list(range(100))


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A worker of PyTorch's DataLoader, as torch describes it."""
    info = SimpleNamespace(id=0, num_workers=1)
    monkeypatch.setitem(
        sys.modules, "torch.utils.data", SimpleNamespace(get_worker_info=lambda: info)
    )
    return info


@pytest.mark.parametrize("seed", [None, 9])
@pytest.mark.parametrize("count", [0, 1, 7, 5000])
@pytest.mark.parametrize(("world_size", "num_workers"), [(1, 3), (3, 1), (2, 4)])
def test_shares_do_not_overlap(
    workers: SimpleNamespace, count: int, world_size: int, num_workers: int, seed: int | None
) -> None:
    def rows_of(rank: int, **options: Any) -> list[int]:
        found = []
        for number in range(workers.num_workers):
            workers.id = number
            found += RowOrder(count, seed=seed, rank=rank, world_size=world_size, **options)
        return found

    workers.num_workers = num_workers
    every = [rows_of(rank) for rank in range(world_size)]
    assert sorted(chain.from_iterable(every)) == list(range(count))
    even = [rows_of(rank, drop_last=True) for rank in range(world_size)]
    assert {len(rows) for rows in even} == {count // world_size}
    assert len({row for rows in even for row in rows}) == count // world_size * world_size
    workers.num_workers = 1
    for rank, rows in enumerate(every):
        assert sorted(rows_of(rank)) == sorted(rows), "a process has the same rows"
        assert len(RowOrder(count, rank=rank, world_size=world_size)) == len(rows)


def test_an_order_goes_on_where_it_stopped() -> None:
    def made() -> RowOrder:
        return RowOrder(20, seed=4, rank=1, world_size=2)

    straight = made()
    whole = [*straight, *straight]
    for done in range(15):
        order = made()
        rows = iter(order)
        left = [next(rows) for _ in range(min(done, 10))]
        if done >= 10:
            assert next(rows, None) is None
            rows = iter(order)
            left += [next(rows) for _ in range(done - 10)]
        state = pickle.loads(pickle.dumps(order.state_dict()))
        again = made()
        again.load_state_dict(state)
        assert again.state_dict() == state
        again.set_epoch(state["epoch"])  # as a training loop does: it keeps the place
        assert [*left, *again] == whole[: 10 if done < 10 else 20]


def test_a_state_of_other_shares_is_refused(workers: SimpleNamespace) -> None:
    workers.num_workers = 2
    order = RowOrder(20)
    next(iter(order))
    state = order.state_dict()
    assert state == {"epoch": 0, "row": 1, "shares": 2}
    workers.num_workers = 1
    again = RowOrder(20)
    again.load_state_dict(state)
    with pytest.raises(OptionError, match="2 processes × workers, and these are 1"):
        next(iter(again))
    again.set_epoch(1)
    assert next(iter(again)) == 0
    with pytest.raises(OptionError, match=r"use what state_dict\(\) returned"):
        again.load_state_dict({"row": 1})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": -1}, "count is -1"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"rank": 1}, "rank is 1: it must be less than world_size=1"),
        ({"drop_last": "no"}, "drop_last is 'no'"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        RowOrder(**{"count": 5, **options})
