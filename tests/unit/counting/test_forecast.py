"""A limit that cannot be kept is named early, from the first per cent of the text."""

from __future__ import annotations

import random
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith._base.progress import listen
from toksmith._base.sizes import parse_size
from toksmith.corpus import blocks
from toksmith.engine.counting import ChunkCounter, LineCounter
from toksmith.errors import OptionError
from toksmith.splitters import splitter
from toksmith.trainers.counting import counted_parts, forecast


def words(number: int, kinds: int, seed: int = 1) -> str:
    """Return words, of which some are frequent."""
    rng = random.Random(seed)
    return " ".join(f"w{int(kinds ** rng.random()):x}" for _ in range(number))


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize(("number", "kinds"), [(20_000, 10_000), (150_000, 10**8)])
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
            start = 0
            while start < len(text):
                end = text.find(" ", start + (1 << 17))
                end = len(text) if end < 0 else end
                counter.add_texts([text[start:end]])
                start = end
            chunks, sizes = counter.estimate(1)
            assert (counter.spilled > 0) == (counter.file_size > 0)
            for least in (1, 2, 5):
                wanted = [word for word, count in counted.items() if count >= least]
                near = 0.03 + 5 * (64 / len(wanted)) ** 0.5  # at least 1 of 64 is in the sample
                assert int(chunks[least:].sum()) == pytest.approx(len(wanted), rel=near)
                size = sum(map(len, wanted)) + (len(wanted) if lines else 0)
                assert int(sizes[least:].sum()) == pytest.approx(size, rel=near)


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


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small text is a sample of the rest; a block has some kB; each file is a part."""
    monkeypatch.setattr(forecast, "_LEAST", 1 << 12)
    monkeypatch.setattr(blocks, "STREAMED", 1 << 12)
    monkeypatch.setattr(counted_parts, "PART_BYTES", 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty files of 20 kB, half of whose words are new and the others frequent."""
    found = tmp_path_factory.mktemp("files")
    for number in range(40):
        rng = random.Random(number)
        new = ("".join(rng.choices("abcdefghijklmnop", k=7)) for _ in range(1500))
        lines = (f"{word} {rng.choice(FREQUENT)}\n" for word in new)
        (found / f"{number:02}.txt").write_text("".join(lines), encoding="utf-8")
    return found


FREQUENT = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]


def test_the_training_ends_early(early: None, folder: Path) -> None:
    done: list[float] = []
    with (
        listen(lambda kind, figures: done.append(figures[0] / figures[1])),
        pytest.raises(OptionError, match=r"^after 1?\d% of the text, about \d\d,000 distinct"),
    ):
        toksmith.train(folder, memory="2M", model="word")
    assert done[-1] < 0.2


def test_what_is_advised_does(early: None, folder: Path) -> None:
    with pytest.raises(OptionError) as refused:
        toksmith.train(folder, memory="2M", model="word")
    size = re.search(r"give more memory \(memory=([0-9.]+M)\)", str(refused.value))
    count = re.search(r"min_count=(\d+)", str(refused.value))
    assert size
    assert count
    wanted = toksmith.train(folder, model="word")
    assert toksmith.train(folder, memory=size[1], model="word").pipeline == wanted.pipeline
    wanted = toksmith.train(folder, min_count=int(count[1]), model="word")
    found = toksmith.train(folder, memory="2M", min_count=int(count[1]), model="word")
    assert found.pipeline == wanted.pipeline


def test_counts_are_kept(early: None, folder: Path, tmp_path: Path) -> None:
    """With a checkpoint, the part is counted to its end, and the advised training uses it."""
    kept = tmp_path / "kept"
    with (
        pytest.warns(UserWarning, match="Counting goes on to the end of this part"),
        pytest.raises(OptionError, match=r"after .*Counting ends here: the counts of \d+ part"),
    ):
        toksmith.train(folder, memory="2M", checkpoint=kept, model="word")
    counted = {path: path.stat().st_mtime_ns for path in kept.glob("counts-*")}
    assert 0 < len(counted) < 20
    found = toksmith.train(folder, memory="2M", checkpoint=kept, min_count=3, model="word")
    assert found.pipeline == toksmith.train(folder, min_count=3, model="word").pipeline
    assert all(path.stat().st_mtime_ns == time for path, time in counted.items())


def test_a_forecast_near_the_limit_is_a_warning(early: None, folder: Path) -> None:
    with (
        pytest.warns(UserWarning, match=r"after .*Counting goes on, because a forecast is not exa"),
        pytest.raises(OptionError, match=r"^\d\d,\d\d\d distinct chunks take about"),
    ):
        toksmith.train(folder, model="word", memory="11M")


def test_a_limit_that_is_kept_is_not_spoken_of(early: None, folder: Path) -> None:
    toksmith.train(folder, model="word", memory="25M")  # a warning fails the test
    toksmith.train(folder, model="word", vocab_size=100, memory="1M")
    toksmith.train(folder, vocab_size=300, memory="1M")


@pytest.mark.parametrize("less", [0.5, 1.0])
def test_weighted_files_are_forecast(early: None, folder: Path, less: float) -> None:
    weights = {str(folder / "03.txt"): 2.0, str(folder / "30.txt"): less}
    with pytest.raises(OptionError, match=r"^after .* of the text, about \d\d,000 distinct chunks"):
        toksmith.train(folder, model="word", memory="2M", weights=weights)


def test_the_space_that_is_advised_leads_to_enough(early: None, folder: Path) -> None:
    given: dict[str, Any] = {"vocab_size": 300, "memory": "1M"}

    def advised(limit: int | None) -> int | None:
        """Return the limit that an error advises; ``None`` if the given one is enough."""
        try:
            trained = toksmith.train(folder, spill_limit=limit, **given)
        except OptionError as wrong:
            found = re.search(r"spill_limit=(\S+) (is a start|would do)", str(wrong))
            return parse_size(found[1]) if found else 0
        assert trained == toksmith.train(folder, **given)
        return None

    limits = [parse_size("1M")]
    while len(limits) < 6 and (higher := advised(limits[-1])) is not None:
        limits.append(higher)
    assert 1 < len(limits) < 6
    assert limits == sorted(set(limits))
