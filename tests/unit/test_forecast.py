"""A limit that cannot be kept is named early, from the first per cent of the text."""

from __future__ import annotations

import random
import tempfile
from collections import Counter

import numpy as np
import pytest

from toksmith.engine.counting import ChunkCounter, LineCounter
from toksmith.splitters import splitter


def words(number: int, kinds: int, seed: int = 1) -> str:
    """Return words, of which some are frequent."""
    rng = random.Random(seed)
    return " ".join(f"w{int(kinds ** rng.random()):x}" for _ in range(number))


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize(("number", "kinds"), [(20_000, 10_000), (400_000, 10**8)])
def test_distinct_chunks_are_estimated_while_they_are_counted(
    lines: bool, number: int, kinds: int
) -> None:
    text = words(number, kinds)
    counted = Counter(text.split(" "))
    with tempfile.TemporaryFile() as one, tempfile.TemporaryFile() as two:
        for limit in (None, 1 << 20):
            counter = LineCounter(2) if lines else ChunkCounter(splitter(r"[^ ]+| "), 2)
            if limit:
                files = (one.fileno(), two.fileno())
                counter.spill_to(limit, *files[: counter.spill_files])
            for start in range(0, len(text), 1 << 17):
                end = start + (1 << 17)
                if end < len(text):  # cut between words
                    end = text.rindex(" ", start, end)
                counter.add_texts([text[start:end]])
            chunks, sizes = counter.estimate(1)
            assert (counter.spilled > 0) == (counter.file_size > 0)
            for least in (1, 2, 5):
                wanted = [word for word, count in counted.items() if count >= least]
                assert int(chunks[least:].sum()) == pytest.approx(len(wanted), rel=0.05, abs=30)
                size = sum(map(len, wanted)) + (len(wanted) if lines else 0)
                assert int(sizes[least:].sum()) == pytest.approx(size, rel=0.05, abs=200)


def test_weights_count_in_an_estimate() -> None:
    counter = ChunkCounter(splitter(r"[^ ]+| "), 1)
    with tempfile.TemporaryFile() as file:
        counter.spill_to(1 << 20, file.fileno())
        counter.weigh(5)
        counter.add_texts(["a b"])
        counter.weigh(3)
        counter.add_texts(["a"])
        chunks, _ = counter.estimate(2)
    assert np.flatnonzero(chunks).tolist() == [3, 4]  # 5 and 8 halves, rounded half up
