"""Shards of token files on Spark, started on this machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import toksmith
from toksmith.errors import FormatError

pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)
pytestmark = pytest.mark.filterwarnings("ignore")  # of Spark itself


def write(corpus: Path, output: Path, **options: object) -> toksmith.tokenfiles.Manifest:
    return toksmith.tokenize_corpus(
        corpus, tokenizer="toksmith-small", format="megatron", output=output, **options
    )


def test_files_are_those_of_one_process(tmp_path: Path) -> None:
    corpus, log = tmp_path / "corpus.jsonl", tmp_path / "log.jsonl"
    with corpus.open("w") as file:
        for number in range(40_000):
            file.write(json.dumps({"text": f"low lower {number} lowest " * 4}) + "\n")
    alone = write(corpus, tmp_path / "alone")
    done = write(corpus, tmp_path / "out", runner="spark", shards=3, log_json=log)
    assert done.files == alone.files
    assert [json.loads(line)["shard"] for line in log.read_text().splitlines()] == [0, 1, 2]
    with corpus.open("a") as file:
        file.write("no JSON\n")
    with pytest.raises(FormatError, match=r"corpus\.jsonl: line 40,001 is not JSON"):
        write(corpus, tmp_path / "damaged", runner="spark", shards=2)
