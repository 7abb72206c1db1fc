"""Packing methods, and the files of pack indexes."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles import PackIndex, pack
from toksmith.tokenfiles.packing import index as pack_index
from toksmith.tokenfiles.packing import methods as packing
from toksmith.tokenfiles.packing.methods import METHODS, Method
from toksmith.tokenfiles.packing.permutation import Permutation

LENGTHS = st.lists(st.integers(0, 30), max_size=60)
Piece = tuple[int, int, int]


def sequences(index: PackIndex) -> list[list[Piece]]:
    bounds = index.bounds.tolist()
    return [index.rows[start:end].tolist() for start, end in pairwise(bounds)]


def concat_by_token(lengths: list[int], length: int) -> list[list[Piece]]:
    tokens = [(document, place) for document, size in enumerate(lengths) for place in range(size)]
    made = []
    for start in range(0, len(tokens), length):
        pieces: list[list[int]] = []
        for document, place in tokens[start : start + length]:
            if pieces and pieces[-1][0] == document:
                pieces[-1][2] += 1
            else:
                pieces.append([document, place, 1])
        made.append([(piece[0], piece[1], piece[2]) for piece in pieces])
    return made


def best_fit_by_piece(lengths: list[int], length: int) -> list[list[Piece]]:
    """Best-fit decreasing as its definition has it."""
    pieces = [
        (document, start, min(length, size - start))
        for document, size in enumerate(lengths)
        for start in range(0, size, length)
    ]
    bins: list[list[Piece]] = []
    room: list[int] = []
    for piece in sorted(pieces, key=lambda piece: -piece[2]):
        fits = [number for number in range(len(bins)) if room[number] >= piece[2]]
        if fits:
            best = min(fits, key=lambda number: room[number])
            bins[best].append(piece)
            room[best] -= piece[2]
        else:
            bins.append([piece])
            room.append(length - piece[2])
    return bins


@given(LENGTHS, st.integers(1, 40))
def test_concat_is_all_tokens_cut(lengths: list[int], length: int) -> None:
    index = pack(lengths, length=length, method="concat")
    assert sequences(index) == concat_by_token(lengths, length)


@given(LENGTHS, st.integers(1, 40))
def test_truncate_is_the_start_of_each_document(lengths: list[int], length: int) -> None:
    index = pack(lengths, length=length, method="truncate")
    assert sequences(index) == [
        [(number, 0, min(size, length))] for number, size in enumerate(lengths) if size
    ]
    assert index.report.lost_tokens == sum(max(size - length, 0) for size in lengths)


@given(LENGTHS, st.integers(1, 40))
def test_best_fit_is_best_fit_decreasing(lengths: list[int], length: int) -> None:
    def fills(packed: list[list[Piece]]) -> list[int]:
        return sorted(sum(piece[2] for piece in pieces) for pieces in packed)

    found = sequences(pack(lengths, length=length, method="best-fit"))
    assert fills(found) == fills(best_fit_by_piece(lengths, length))


@pytest.mark.parametrize("method", METHODS)
@given(lengths=LENGTHS, length=st.integers(1, 40), seed=st.none() | st.integers(0, 3))
def test_every_token_is_in_one_sequence(
    method: Method, lengths: list[int], length: int, seed: int | None
) -> None:
    index = pack(lengths, length=length, method=method, seed=seed)
    held = [np.zeros(size, int) for size in lengths]
    for pieces in sequences(index):
        assert 0 < sum(size for _, _, size in pieces) <= length
        for document, start, size in pieces:
            held[document][start : start + size] += 1
    limits = lengths if method != "truncate" else [min(size, length) for size in lengths]
    assert [count.tolist() for count in held] == [
        [1] * limit + [0] * (size - limit) for size, limit in zip(lengths, limits, strict=True)
    ]
    report = index.report
    assert report.packed_tokens == sum(limits)
    assert report.tokens == sum(lengths)
    assert report.empty_documents == lengths.count(0)
    assert report.padding == len(index) * length - sum(limits)
    parts = [piece for pieces in sequences(index) for piece in pieces]
    cut = {document for document, _, size in parts if size < lengths[document]}
    assert report.cut_documents == len(cut)


@pytest.mark.parametrize("method", METHODS)
@given(lengths=LENGTHS, length=st.integers(1, 40), seed=st.none() | st.integers(0, 3))
def test_blocks_make_no_difference(
    method: Method, lengths: list[int], length: int, seed: int | None
) -> None:
    index = pack(lengths, length=length, method=method, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "BLOCK", 3)
        patch.setattr(pack_index, "_BLOCK", 2)
        again = pack(lengths, length=length, method=method, seed=seed)
    assert again.report == index.report
    assert again.source == index.source
    assert again.rows.tolist() == index.rows.tolist()
    assert again.bounds.tolist() == index.bounds.tolist()


def test_best_fit_keeps_the_order_of_documents() -> None:
    index = pack([3, 9, 2, 4, 1], length=5)
    assert sequences(index) == [
        [(0, 0, 3), (2, 0, 2)], [(1, 0, 5)], [(1, 5, 4), (4, 0, 1)], [(3, 0, 4)],
    ]  # fmt: skip


def test_a_seed_shuffles_documents() -> None:
    lengths = [1] * 200
    plain, one, again, other = (
        pack(lengths, length=1, method="concat", seed=seed).rows["document"].tolist()
        for seed in (None, 1, 1, 2)
    )
    assert plain == list(range(200))
    assert one == again
    assert len({tuple(order) for order in (plain, one, other)}) == 3
    # Recorded: an index must be the same on all machines and with all versions of NumPy.
    assert pack([1] * 9, length=1, seed=7).rows["document"].tolist() == [2, 5, 3, 7, 6, 8, 0, 4, 1]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 17, 64, 1000])
def test_permutations(count: int) -> None:
    places = np.arange(count)
    for seed in range(20):
        assert sorted(Permutation(count, seed)(places).tolist()) == places.tolist()


def test_permutations_are_uneven_by_chance_only() -> None:
    count, seeds = 5, 700
    orders = np.array([Permutation(count, 3, seed)(np.arange(count)) for seed in range(seeds)])
    for place in range(count):
        found = np.bincount(orders[:, place], minlength=count)
        expected = seeds / count
        chi = ((found - expected) ** 2 / expected).sum()
        assert chi < 18.5  # 4 degrees of freedom, p = 0.001
    assert len(np.unique(orders, axis=0)) >= 117  # of 120


def test_save_and_load(tmp_path: Path) -> None:
    path = tmp_path / "a.pack"
    index = pack([3, 0, 9, 2], length=5, seed=3)
    index.save(path)
    loaded = PackIndex.load(path)
    assert loaded.report == index.report
    assert loaded.source == index.source
    assert loaded.rows.tolist() == index.rows.tolist()
    assert loaded.bounds.tolist() == index.bounds.tolist()
    assert isinstance(loaded.rows, np.memmap)
    copied = pickle.loads(pickle.dumps(loaded))
    assert isinstance(copied.rows, np.memmap)
    assert copied.rows.tolist() == index.rows.tolist()
    assert pickle.loads(pickle.dumps(index)).rows.tolist() == index.rows.tolist()
    loaded.save(path)  # over itself
    assert PackIndex.load(path).bounds.tolist() == index.bounds.tolist()


def test_the_bytes_of_an_index(tmp_path: Path) -> None:
    path = tmp_path / "a.pack"
    pack([3, 9], length=5, method="concat").save(path)
    data = path.read_bytes()
    assert data[:8] == b"TOKPACK1"
    start = 16 + int.from_bytes(data[8:16], "little")
    assert start % 64 == 0
    rows = [(0, 0, 3), (1, 0, 2), (1, 2, 5), (1, 7, 2)]
    assert data[start:] == (
        np.array(rows, "<u4").tobytes() + np.array([0, 2, 3, 4], "<u8").tobytes()
    )


def test_wide_integers(tmp_path: Path) -> None:
    size = (1 << 32) + 5
    index = pack([size, 1], length=1 << 30, method="best-fit")
    path = tmp_path / "a.pack"
    index.save(path)
    rows = PackIndex.load(path).rows
    assert rows.dtype.itemsize == 24
    assert rows[4].tolist() == (0, 1 << 32, 5)


@pytest.mark.parametrize("lengths", [[], [0, 0]])
@pytest.mark.parametrize("method", METHODS)
def test_nothing_to_pack(method: Method, lengths: list[int], tmp_path: Path) -> None:
    index = pack(lengths, length=4, method=method, seed=1)
    assert (len(index), index.report.utilisation) == (0, 1.0)
    index.save(tmp_path / "a.pack")
    assert len(PackIndex.load(tmp_path / "a.pack")) == 0


def test_the_table() -> None:
    assert str(pack([3, 0, 9, 2], length=5, method="truncate", seed=1)).splitlines() == [
        "method       truncate, 5 tokens, shuffled by 1",
        "sequences    3",
        "utilisation  66.6667%",
        "padding      5  (33.33%)",
        "documents    4",
        "empty        1  (25.00%)",
        "cut          1  (25.00%)",
        "tokens       14",
        "left out     4  (28.57%)",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 0}, "length is 0"),
        ({"length": 1 << 31}, "length is 2147483648: use 2147483647 or less"),
        ({"length": 4, "method": "first-fit"}, "method is 'first-fit': use 'best-fit'"),
        ({"length": 4, "seed": -1}, "seed is -1"),
        ({"length": 4, "tokens": [-1]}, "negative length"),
        ({"length": 4, "tokens": "x"}, r"tokens is 'x', a path: use open_tokens\('x'\)"),
        ({"length": 4, "tokens": ["x"]}, r"tokens is \['x'\]: use a list or an array"),
        ({"length": 4, "tokens": [2**63 - 1, 5]}, r"add up to 2\^62 tokens or more"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        pack(**{"tokens": [1, 2], **options})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"", "no pack index"),
        (lambda data: b"x" + data[1:], "no pack index"),
        (lambda data: data[:-1], "its head calls for"),
        (lambda data: data + b"x", "its head calls for"),
        (lambda data: data[:30], "head is damaged"),
        (lambda data: data[:8] + b"\xff" * 8 + data[16:], "head is damaged"),
        (lambda data: data.replace(b'{"method"', b'["method"'), "head is damaged"),
        (lambda data: data.replace(b'"rows"', b'"rowz"'), "head is damaged: 'rows' is"),
        (lambda data: data.replace(b'"<u4"', b'"<i4"'), "integers is '<i4'"),
        (lambda data: data.replace(b'"sequences": 3', b'"sequences":-3'), "sequences is -3"),
        (lambda data: data.replace(b'"sequences": 3', b'"sequences":"3'), "head is damaged"),
        (lambda data: data.replace(b'"sequences": 3', b'"sequences":[]'), "head is damaged"),
        (lambda data: data.replace(b'"length": 5', b'"length": 0'), "length is 0"),
        (lambda data: data.replace(b'"seed": null', b'"seed": -123'), "seed is -123"),
        (lambda data: data.replace(b'"best-fit"', b'"best-fat"'), "method is 'best-fat'"),
        (lambda data: data.replace(b'"best-fit"', b'["bestfit]'), "head is damaged"),
        (lambda data: data.replace(b'"sequences": 3', b'"sequences": 9'), "its head calls for"),
        (lambda data: data[:-8] + b"\7" + data[-7:], "not in order"),
    ],
)
def test_damaged_files(tmp_path: Path, damage: Any, message: str) -> None:
    path = tmp_path / "a.pack"
    pack([3, 9, 2], length=5).save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(FormatError, match=message):
        PackIndex.load(path)
    with pytest.raises(FormatError, match=r"b\.pack: cannot be read"):
        PackIndex.load(tmp_path / "b.pack")
