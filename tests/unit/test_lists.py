"""Python lists made from arrays of ids."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from toksmith import train
from toksmith.engine.portable import to_array, to_lists
from toksmith.results import Batch

EDGES = [0, 255, 256, 257, 2**18 - 1, 2**18, 2**31, 2**32 - 1]


def test_every_id_is_an_int_of_its_own_value() -> None:
    ids = np.array(EDGES * 40, np.uint32)  # more than are looked at ahead
    offsets = np.array([0, 0, 3, 300, len(ids)])
    found = to_lists(ids, offsets)
    assert found == [(EDGES * 40)[:0], EDGES[:3], (EDGES * 40)[3:300], (EDGES * 40)[300:]]
    assert {type(i) for i in found[2]} == {int}


def test_lists_are_the_callers() -> None:
    batch = Batch(np.array([7, 7, 8], np.uint32), np.array([0, 2, 3]))
    first = batch.to_lists()
    first[0][0] = 1
    first[1].append(2)
    assert batch.to_lists() == [[7, 7], [8]]


def test_arrays_of_other_kinds() -> None:
    ids = np.arange(10)[::2]
    assert to_lists(ids, np.array([1, 3], np.int32)) == [[2, 4]]  # type: ignore[arg-type]
    assert to_lists(np.zeros(0, np.uint32), np.zeros(0, np.int64)) == []


def test_a_list_becomes_the_array_of_its_ids() -> None:
    found = to_array(EDGES)
    assert found is not None
    assert found.dtype == np.uint32
    assert found.tolist() == EDGES
    assert to_array([]) is not None


@pytest.mark.parametrize("odd", [-1, 2**32, 2**64, -(2**70), True, 1.0, "1", None, np.uint32(1)])
def test_lists_of_anything_else_are_for_numpy(odd: object) -> None:
    assert to_array([1, odd]) is None  # type: ignore[list-item]


@pytest.mark.parametrize("offsets", [[0, 4], [-1, 2], [2, 1]])
def test_offsets_outside_are_refused(offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="in order"):
        to_lists(np.arange(3, dtype=np.uint32), np.array(offsets))


def test_the_collector_is_left_as_it_was() -> None:
    ids, good, bad = np.arange(3, dtype=np.uint32), np.array([0, 3]), np.array([0, 4])
    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        try:
            to_lists(ids, good)
            assert gc.isenabled() == enabled
            with pytest.raises(ValueError, match="in order"):
                to_lists(ids, bad)
            assert gc.isenabled() == enabled
        finally:
            gc.enable()


def test_lists_of_texts_of_any_length() -> None:
    tokenizer = train(texts=["low lower lowest"], vocab_size=259)
    for size in (0, 1, 9, 500, 3000, 5000, 70_000):
        text = ("lowest low é\n" * size)[:size]
        assert tokenizer.encode(text) == tokenizer.encode_array(text).tolist()
