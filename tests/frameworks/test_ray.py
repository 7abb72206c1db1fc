"""Shards of token files on a Ray cluster, started on this machine."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith.errors import FormatError

ray = pytest.importorskip("ray")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of Ray itself
]


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


def write(corpus: Path, output: Path, **options: Any) -> toksmith.tokenfiles.Manifest:
    return toksmith.tokenize_corpus(
        corpus, tokenizer="toksmith-small", format="megatron", output=output, **options
    )


def hashes(done: toksmith.tokenfiles.Manifest) -> list[tuple[str, str]]:
    return [(file.name, file.sha256) for file in done.files]


def test_files_are_those_of_one_process(corpus: Path, tmp_path: Path) -> None:
    alone = write(corpus, tmp_path / "alone")
    log = tmp_path / "log.jsonl"
    for shards in (1, 4):
        done = write(corpus, tmp_path / str(shards), runner="ray", shards=shards, log_json=log)
        assert hashes(done) == hashes(alone)
        assert len(done.shards) == shards
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert sorted(line["shard"] for line in lines) == [0, 0, 1, 2, 3]
    assert sum(line["documents"] for line in lines) == 2 * 40_000


def test_a_lost_worker_is_replaced(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toksmith.tokenfiles import ray_runner

    alone = write(corpus, tmp_path / "alone")
    task = ray_runner._task
    mark = tmp_path / "killed"

    def dying(*arguments: Any) -> Any:
        if arguments[2] == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return task(*arguments)

    monkeypatch.setattr(ray_runner, "_task", dying)
    done = write(corpus, tmp_path / "out", runner="ray", shards=3)
    assert mark.exists()
    assert hashes(done) == hashes(alone)


def test_a_damaged_file_ends_the_run_with_its_error(corpus: Path, tmp_path: Path) -> None:
    with corpus.open("a") as file:
        file.write("no JSON\n")
    with pytest.raises(FormatError, match=r"corpus\.jsonl: line 40,001 is not JSON"):
        write(corpus, tmp_path / "out", runner="ray", shards=2)
    done = write(corpus, tmp_path / "skipped", runner="ray", shards=2, on_error="skip")
    assert [line for _, line, _ in done.damaged] == [40_001]
