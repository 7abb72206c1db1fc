"""Options of reading: which files, and which documents of them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "a.json.gz"
    documents = [f"low lower {i % 7} lowest" for i in range(40)]
    path.write_bytes(
        gzip.compress("".join(json.dumps({"body": text}) + "\n" for text in documents).encode())
    )
    return path


def test_all_options_together(run: Run, lines: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    ran = run(
        *("train", lines, "-o", path, "--vocab-size", 260, "--read-as", "jsonl"),
        *("--field", "body", "--weight", f"{lines}=2.5", "--deduplicate"),
        *("--sample", 0.5, "--seed", 3, "--record"),
    )
    assert ran.code == 0
    record = json.loads((tmp_path / "t.json.training.json").read_text())
    assert sum(record["skipped"].values()) + record["documents"] == 40
    assert set(record["skipped"]) == {"not_sampled", "duplicate"}
    assert record["sources"][0]["weight"] == 2.5
    assert record["bytes"] == record["documents"] * 45  # 18 bytes each
    told = f"{record['documents']} documents ({record['skipped']['not_sampled']} not sampled, "
    assert told in ran.out.decode()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--weight", "x"], "--weight 'x': PATH=NUMBER is wanted, as 'wiki/=2.5'"),
        (["--weight", "=2"], "--weight '=2': PATH=NUMBER is wanted"),
        (["--weight", "nowhere=2"], "nowhere: there is no such file"),
        (["--sample", "2"], "sample is 2.0: use a number above 0, and 1 at most"),
        (["--read-as", "jsonl"], "line 1 has no field 'text'; its fields are 'body'"),
        (["--read-as", "parquet"], "is no Parquet file"),
    ],
)
def test_wrong_options_are_one_line(
    run: Run, lines: Path, tmp_path: Path, options: list[str], reason: str
) -> None:
    ran = run("train", lines, "-o", tmp_path / "t.json", "--vocab-size", 260, *options)
    assert ran.code == 2
    assert reason in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "t.json").exists()
