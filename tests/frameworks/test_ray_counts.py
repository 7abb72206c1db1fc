"""Counts of shards on a Ray cluster, started on this machine."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith._base.progress import listen
from toksmith.errors import FormatError

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Ray itself


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
    yield
    ray.shutdown()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    with path.open("w") as file:
        for number in range(40_000):
            file.write(json.dumps({"text": f"low lower {number} lowest " * 4}) + "\n")
    return path


def test_counts_are_those_of_one_process(corpus: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.counts"
    toksmith.count_corpus(corpus, output=one)
    seen: list[tuple[Any, ...]] = []
    with listen(lambda kind, figures: seen.append(figures)):
        made = toksmith.count_corpus(corpus, output=tmp_path / "shards", runner="ray", shards=5)
    assert len(made) == 5
    assert seen[-1] == (corpus.stat().st_size, corpus.stat().st_size)
    toksmith.merge_counts(tmp_path / "shards", output=tmp_path / "merged")
    assert (tmp_path / "merged").read_bytes() == one.read_bytes()


def test_a_lost_worker_is_replaced(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toksmith.trainers.counting import jobs

    task, mark = jobs._ray_task, tmp_path / "killed"

    def dying(*arguments: Any) -> None:
        if arguments[-1] == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        task(*arguments)

    monkeypatch.setattr(jobs, "_ray_task", dying)
    toksmith.count_corpus(corpus, output=tmp_path / "shards", runner="ray", shards=3)
    assert mark.exists()
    toksmith.count_corpus(corpus, output=tmp_path / "one")
    toksmith.merge_counts(tmp_path / "shards", output=tmp_path / "merged")
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "one").read_bytes()


def test_an_error_of_a_shard(corpus: Path, tmp_path: Path) -> None:
    with corpus.open("a") as file:
        file.write("{\n")
    with pytest.raises(FormatError, match="line 40,001 is not JSON"):
        toksmith.count_corpus(corpus, output=tmp_path / "shards", runner="ray", shards=3)
