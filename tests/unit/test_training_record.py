"""The record of a training, and the file that it is saved in."""

from __future__ import annotations

import gzip
import json
import pickle
import re
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith.errors import FormatError
from toksmith.tokenizer.training_record import SourceRecord, TrainingRecord, sidecar


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "a.txt", tmp_path / "b.jsonl.gz"]
    paths[0].write_text("low lower lowest|newer newest")
    lines = "".join(json.dumps({"text": f"wide {i % 2} wider"}) + "\n" for i in range(4))
    paths[1].write_bytes(gzip.compress(lines.encode()))
    return paths


def same(a: TrainingRecord | None, b: TrainingRecord | None) -> bool:
    if a is None or b is None:
        return a is b
    pairs = [(getattr(a, field.name), getattr(b, field.name)) for field in fields(a)]
    return all(np.array_equal(x, y) if hasattr(x, "dtype") else x == y for x, y in pairs)


def trained(corpus: list[Path], **options: Any) -> toksmith.Tokenizer:
    return toksmith.train(corpus, vocab_size=262, separator="|", split="gpt2", **options)


def test_the_fields_of_a_record(corpus: list[Path]) -> None:
    record = trained(corpus, weights={corpus[1]: 2.5}, deduplicate=True).training
    assert record is not None
    hashes = [sha256(path.read_bytes()).hexdigest() for path in corpus]
    sizes = [path.stat().st_size for path in corpus]
    found = [
        replace(source, sampled=0, chunks=None, tokens=None, merge_share=None)
        for source in record.sources
    ]
    assert found == [
        SourceRecord(str(corpus[0]), sizes[0], hashes[0], 2, 28, 1.0),
        SourceRecord(str(corpus[1]), sizes[1], hashes[1], 2, 24, 2.5),
    ]
    assert record.documents == 4
    assert record.bytes == 28 + 60
    assert record.skipped == {"duplicate": 2}
    assert record.options["weights"] == {str(corpus[1]): 2.5}
    assert record.options["separator"] == "|"
    assert record.version == toksmith.__version__
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", record.time)
    assert len(record.counts) == len(record.tokens_after) == record.merges == 6


def test_texts_and_counts_have_no_sources(corpus: list[Path]) -> None:
    counts = toksmith.Counts.from_files(corpus[0])
    for given in ({"texts": ["low lower"]}, {"counts": counts}):
        record = toksmith.train(**given, vocab_size=257).training  # type: ignore[arg-type]
        assert record is not None
        assert record.sources == ()


@pytest.mark.parametrize("name", ["a.model", "a.json", "a.tiktoken", "folder", "gpt2"])
def test_saved_and_loaded(corpus: list[Path], tmp_path: Path, name: str) -> None:
    tok = trained(corpus)
    path = tmp_path / "out" / name
    path.parent.mkdir()
    tok.save(path, format="gpt2" if name == "gpt2" else None, record=True)
    beside = (
        path / "training.json"
        if name in ("folder", "gpt2")
        else path.parent / f"{name}.training.json"
    )
    assert sidecar(path) == beside
    assert beside.exists()
    given = {"split": "gpt2"} if name == "a.tiktoken" else {}
    found = toksmith.load(path, **given)
    again = pickle.loads(pickle.dumps(found))
    assert same(found.training, tok.training)
    assert same(again.training, tok.training)
    assert json.loads(beside.read_text())["tokens_after"][-1] == tok.training.tokens  # type: ignore[union-attr]
    other = tmp_path / "other.json"
    found.save(other, record=True)
    assert same(toksmith.load(other).training, tok.training)


def test_none_is_written_where_none_is_wanted_or_known(corpus: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    trained(corpus).save(path)
    assert not sidecar(path).exists()
    tok = toksmith.load(path)
    assert tok.training is None
    tok.save(tmp_path / "b.json", record=True)
    assert not sidecar(tmp_path / "b.json").exists()


def test_a_directory_with_a_tokenizer_json(corpus: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    tok = trained(corpus)
    tok.save(folder / "tokenizer.json", record=True)
    assert same(toksmith.load(folder).training, tok.training)


def damaged(record: dict[str, Any], **values: Any) -> bytes:
    return json.dumps({**record, **values}).encode()


def test_a_damaged_record_does_not_stop_loading(corpus: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    trained(corpus).save(path, record=True)
    whole = sidecar(path).read_bytes()
    record = json.loads(whole)
    without = {name: value for name, value in record.items() if name != "merges"}
    for data in (
        b"",
        b"\xff",
        b"[]",
        whole[:-200],
        b"{}",
        damaged(record, toksmith_training=2),
        damaged(record, files=[]),
        damaged(record, files={"a.json": "0" * 64}),
        damaged(record, merges="6"),
        damaged(record, counts=[-1]),
        damaged(record, counts=["x"]),
        damaged(record, sources=[{"path": "a"}]),
        damaged(record, sources=[{**record["sources"][0], "documents": None}]),
        damaged(record, skipped={"empty": "1"}),
        damaged(record, extra=1),
        damaged(without),
    ):
        sidecar(path).write_bytes(data)
        tok = toksmith.load(path)
        with pytest.warns(UserWarning, match=r"this training record is not used: .*a\.json"):
            assert tok.training is None
        assert tok.training is None  # said once
        assert tok.decode(tok.encode("lower")) == "lower"


def test_another_tokenizer_at_its_place(corpus: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    trained(corpus).save(path, record=True)
    toksmith.train(texts=["other words"], vocab_size=259).save(path)
    with pytest.warns(UserWarning, match="is not the file that was written with it"):
        assert toksmith.load(path).training is None


def test_a_source_that_vanishes(corpus: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from toksmith.corpus import file_blocks

    blocks = file_blocks.text_blocks

    def vanishing(path: Path, *args: Any) -> Any:
        yield from blocks(path, *args)
        path.rename(path.with_name("gone"))
        path.mkdir()

    monkeypatch.setattr(file_blocks, "text_blocks", vanishing)
    with pytest.raises(FormatError, match=r"a\.txt: cannot be read"):
        trained(corpus[:1])
