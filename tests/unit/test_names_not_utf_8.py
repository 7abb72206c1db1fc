"""Files whose names are not UTF-8: Linux allows them, and Python holds them as lone surrogates."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import toksmith

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names are UTF-8 on this system")

TEXT = "low lower lowest newest newer new " * 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / os.fsdecode(b"d\xff")
    path.mkdir()
    return path


def named(folder: Path, suffix: str) -> Path:
    return folder / os.fsdecode(b"a\xff" + suffix.encode())


def test_counts(folder: Path) -> None:
    path = named(folder, ".parquet")
    counts = toksmith.Counts.from_texts([TEXT], split="gpt2")
    counts.save(path)
    assert list(toksmith.Counts.load(path)) == list(counts)
    source = named(folder, ".txt")
    source.write_text(TEXT)
    made = toksmith.count_corpus(source, output=folder / "shards", shard="0/1", split="gpt2")
    assert toksmith.Counts.merge([folder / "shards"]).bytes == counts.bytes
    assert made[0].shard is not None


@pytest.mark.parametrize("model", ["bpe", "unigram", "sentencepiece-bpe"])
def test_checkpoints_and_records(folder: Path, model: str) -> None:
    sources = [named(folder, ".txt"), named(folder, "b.txt")]
    for source in sources:
        source.write_text(TEXT)
    options: dict[str, Any] = {"model": model, "vocab_size": 260 if model == "bpe" else 16}
    wanted = toksmith.train(sources, **options)
    for _ in range(2):  # the second goes on from what the first has stored
        tok = toksmith.train(sources, checkpoint=folder / "run", **options)
        assert tok.pipeline == wanted.pipeline
        assert tok.training is not None
        assert wanted.training is not None
        assert tok.training.sources == wanted.training.sources


def test_a_training_record(folder: Path) -> None:
    source = named(folder, ".txt")
    source.write_text(TEXT)
    tok = toksmith.train(source, vocab_size=260)
    path = named(folder, ".model")
    tok.save(path, record=True)
    again = toksmith.load(path)
    assert again == tok
    assert again.training is not None
    assert again.training.sources == tok.training.sources  # type: ignore[union-attr]
    assert again.training.sources[0].path == str(source)


def test_parquet_as_text_and_as_token_files(folder: Path) -> None:
    source = named(folder, ".parquet")
    table = pa.table({"text": [TEXT, "low"]})
    with source.open("wb") as file:
        pq.write_table(table, file)
    tok = toksmith.train(source, vocab_size=260)
    assert tok.pipeline == toksmith.train(texts=[TEXT, "low"], vocab_size=260).pipeline
    for form in ("parquet", "arrow"):
        out = folder / form
        made: Any = {"tokenizer": tok, "format": form, "output": out, "eos": False}
        toksmith.tokenize_corpus(source, **made)
        found = [ids.tolist() for ids in toksmith.open_tokens(out)]
        assert found == [tok.encode(TEXT), tok.encode("low")]
