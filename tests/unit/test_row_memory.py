"""Memory of model inputs is used again once nothing refers to it, and not before."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import toksmith
from tests.processes import POSIX, holds_in_child
from toksmith import Tokenizer
from toksmith.engine.kernel import CACHE_BYTES
from toksmith.engine.row_memory import CACHE_BYTES as ASSUMED
from toksmith.engine.row_memory import LEAST, RowMemory

ROWS, WIDTH = 2000, 64  # 1 MB of int64
assert ROWS * WIDTH * 8 > LEAST


@pytest.fixture
def tok() -> Tokenizer:
    return toksmith.train(texts=["low lower"], vocab_size=258, special_tokens=["<pad>"])


def ids_of(tok: Tokenizer, text: str, rows: int = ROWS) -> np.ndarray:
    return tok.prepare([text] * rows, padding=WIDTH).ids


def expected(tok: Tokenizer, text: str) -> np.ndarray:
    row = tok.encode(text)
    return np.array([*row, *[tok.token_id("<pad>")] * (WIDTH - len(row))])


def test_memory_is_used_again(tok: Tokenizer) -> None:
    first = tok.prepare(["low"] * ROWS, padding=WIDTH)
    places = {first.ids.ctypes.data, first.attention_mask.ctypes.data}
    del first
    second = tok.prepare(["lower"] * (ROWS - 200), padding=WIDTH)
    assert {second.ids.ctypes.data, second.attention_mask.ctypes.data} == places
    assert second.ids.shape == second.attention_mask.shape == (ROWS - 200, WIDTH)
    assert (second.ids == expected(tok, "lower")).all()
    assert (second.attention_mask.sum(1) == len(tok.encode("lower"))).all()
    assert ids_of(tok, "low").ctypes.data not in places


def test_arrays_in_use_are_left_alone(tok: Tokenizer) -> None:
    part = ids_of(tok, "low")[10:, 3:9].T
    inputs = tok.prepare(["lower low"] * ROWS, padding=WIDTH, spans=True)
    gc.collect()
    assert (expected(tok, "low")[3:9] == part.T).all()
    inputs.ids[:] = 7  # it can be written to
    assert (ids_of(tok, "low") == expected(tok, "low")).all()
    assert (inputs.ids == 7).all()
    assert inputs.spans is not None
    assert inputs.spans[-1, :3].tolist() == tok.encoding("lower low").spans[:3].tolist()


def test_results_outlive_the_tokenizer() -> None:
    own = toksmith.train(texts=["low lower"], vocab_size=258, special_tokens=["<pad>"])
    ids, wanted = ids_of(own, "low"), expected(own, "low")
    own.forget()
    del own
    gc.collect()
    assert (ids == wanted).all()
    assert (pickle.loads(pickle.dumps(ids)) == wanted).all()


def test_memory_is_limited() -> None:
    assert ASSUMED == CACHE_BYTES
    memory = RowMemory(LEAST)  # twelve times as much is kept, but no more than eight blocks
    arrays = [memory.empty((LEAST,), np.uint8) for _ in range(10)]
    places = [array.ctypes.data for array in arrays]
    arrays.reverse()
    while arrays:
        arrays.pop()  # the first one first
    again = [memory.empty((LEAST // 8,), np.int64) for _ in range(8)]
    assert {array.ctypes.data for array in again} == {*places[2:]}
    assert memory.empty((12 * LEAST + 1,), np.uint8).base is None
    del again
    memory.forget(0)
    assert memory.empty((LEAST,), np.uint8).base is None


def test_small_arrays_are_not_kept() -> None:
    assert RowMemory().empty((2, 3), np.int64).base is None
    large = RowMemory().empty((LEAST // 16, 2), np.int64)
    assert (large.shape, large.dtype) == ((LEAST // 16, 2), np.int64)
    assert large.flags.c_contiguous
    assert large.flags.writeable


def test_many_threads(tok: Tokenizer) -> None:
    wanted = {text: expected(tok, text) for text in ("low", "lower", "we", "o r")}

    def hold(text: str) -> bool:
        return all((ids_of(tok, text) == wanted[text]).all() for _ in range(6))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(hold, wanted))


@POSIX
def test_a_fork_goes_on(tok: Tokenizer) -> None:
    ids_of(tok, "low")
    with tok._encoder.row_memory._guard:  # as if another thread held it
        assert holds_in_child(lambda: bool((ids_of(tok, "lower") == expected(tok, "lower")).all()))


def test_nothing_is_printed_at_the_end_of_a_process() -> None:
    program = (
        "import toksmith\n"
        "tok = toksmith.get('toksmith-small')\n"
        f"held = [tok.prepare(['low'] * {ROWS}, padding={WIDTH}) for _ in range(2)]\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
