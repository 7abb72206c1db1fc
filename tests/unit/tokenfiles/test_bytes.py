"""Token files against bytes written out by hand after the descriptions of the formats."""

from __future__ import annotations

import gzip
import pickle
import struct
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.unit.tokenfiles.documents import lists, read, write
from toksmith.errors import OptionError
from toksmith.models import LongestMatch
from toksmith.pipeline import Pipeline
from toksmith.tokenfiles.formats import NAMES, format_of

AFTER = [[5, 6, 0], [0], [7, 300, 0]]
BEFORE = [[0, 5, 6], [0], [0, 7, 300]]


def test_nanogpt(tmp_path: Path) -> None:
    written = write("nanogpt", AFTER, tmp_path)
    assert written == {"train.bin": b"\x05\0\x06\0\0\0\0\0\x07\0\x2c\x01\0\0"}
    assert lists(read("nanogpt", tmp_path)) == AFTER
    assert lists(read("nanogpt", tmp_path, eos=None)) == [[5, 6, 0, 0, 7, 300, 0]]


def test_llmc(tmp_path: Path) -> None:
    written = write("llmc", BEFORE, tmp_path, shard_tokens=5)
    header = struct.pack("<iii", 20240520, 1, 5) + bytes(1012)
    assert written == {
        "train_000000.bin": header + b"\0\0\x05\0\x06\0\0\0\0\0",
        "train_000001.bin": header[:8] + b"\x02\0\0\0" + bytes(1012) + b"\x07\0\x2c\x01",
    }
    assert lists(read("llmc", tmp_path)) == BEFORE
    assert lists(read("llmc", tmp_path, eos=None)) == [[0, 5, 6, 0, 0], [7, 300]]


def test_llmc_of_llama_3(tmp_path: Path) -> None:
    written = write("llmc", [[100_000]], tmp_path, vocab_size=100_001)
    header = struct.pack("<iii", 20240801, 7, 1) + bytes(1012)
    assert written == {"train_000000.bin": header + b"\xa0\x86\x01\0"}
    assert lists(read("llmc", tmp_path)) == [[100_000]]


def test_megatron(tmp_path: Path) -> None:
    written = write("megatron", [[5, 6, 0], [], [7, 300, 0]], tmp_path)
    assert written["train_text_document.bin"] == b"\x05\0\x06\0\0\0\x07\0\x2c\x01\0\0"
    assert written["train_text_document.idx"] == (
        b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, 2, 4) + struct.pack("<2i", 3, 3)
        + struct.pack("<2q", 0, 6) + struct.pack("<4q", 0, 1, 1, 2)
    )  # fmt: skip
    assert lists(read("megatron", tmp_path)) == [[5, 6, 0], [], [7, 300, 0]]


def test_datatrove(tmp_path: Path) -> None:
    written = write("datatrove", AFTER, tmp_path, shard_tokens=3, tokenizer_name="gpt2")
    assert written == {
        "000_train.ds": b"\x05\0\x06\0\0\0",
        "000_train.ds.index": struct.pack("<Q", 3),
        "000_train.ds.metadata": b"gpt2|2\n3\n3.00 T",
        "001_train.ds": b"\0\0\x07\0\x2c\x01\0\0",
        "001_train.ds.index": struct.pack("<2Q", 1, 4),
        "001_train.ds.metadata": b"gpt2|2\n4\n4.00 T",
        "train.ds.metadata": b"gpt2|2\n7\n7.00 T",
    }
    assert lists(read("datatrove", tmp_path)) == AFTER
    assert read("datatrove", tmp_path).metadata == {"tokenizer": "gpt2"}


def test_dolma(tmp_path: Path) -> None:
    written = write("dolma", AFTER, tmp_path, shard_tokens=5)
    rows = written.pop("train-00000.csv.gz")
    assert gzip.decompress(rows) == b"0,3,0,train,1\r\n3,4,1,train,2\r\n"
    assert rows[:8] == b"\x1f\x8b\x08\0\0\0\0\0"  # no name, no time
    assert gzip.decompress(written.pop("train-00001.csv.gz")) == b"0,3,2,train,3\r\n"
    assert written == {
        "train-00000.npy": b"\x05\0\x06\0\0\0\0\0",
        "train-00001.npy": b"\x07\0\x2c\x01\0\0",
    }
    assert lists(read("dolma", tmp_path)) == AFTER


def test_names_of_splits_in_tables_are_quoted(tmp_path: Path) -> None:
    written = write("dolma", [[5, 0]], tmp_path, stem='a,"b"')
    rows = gzip.decompress(written['a,"b"-00000.csv.gz'])
    assert rows == b'0,2,0,"a,""b""",1\r\n'
    assert lists(read("dolma", tmp_path)) == [[5, 0]]


def test_meta_of_nanogpt(tmp_path: Path) -> None:
    tok = toksmith.train(texts=["aaé☃"], model="char", special_tokens=["<e>"])
    written = write("nanogpt", [[1, 4]], tmp_path, tokenizer=tok)
    texts = ["<UNK>", "a", "é", "☃", "<e>"]
    assert list(written) == ["train.bin", "meta.pkl"]
    assert pickle.loads(written["meta.pkl"]) == {
        "vocab_size": 5,
        "itos": {0: "<UNK>", 1: "a", 2: "é", 3: "☃", 4: "<e>"},
        "stoi": {"<UNK>": 0, "a": 1, "é": 2, "☃": 3, "<e>": 4},
    }
    assert read("nanogpt", tmp_path).metadata == pickle.loads(written["meta.pkl"])
    assert written["meta.pkl"][:2] == b"\x80\4"  # one protocol for every Python
    assert written["meta.pkl"].count(texts[3].encode()) == 1  # shared, as in prepare.py's


def test_meta_of_nanogpt_is_for_characters(tmp_path: Path) -> None:
    for tok in (toksmith.get("toksmith-small"), toksmith.train(texts=["ab c"], model="word")):
        folder = tmp_path / type(tok.pipeline.model).__name__
        folder.mkdir()
        assert list(write("nanogpt", [[1]], folder, tokenizer=tok)) == ["train.bin"]


def test_splits_of_nanogpt_share_their_meta(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b\nc\n" * 20)
    tok = toksmith.train(texts=["ab c"], model="char")
    toksmith.tokenize_corpus(
        tmp_path / "a.txt", tokenizer=tok, format="nanogpt", eos=False, separator="\n",
        split={"train": 0.5, "val": 0.5}, output=tmp_path / "out", progress=False,
    )  # fmt: skip
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["meta.pkl", "token-manifest.json", "train.bin", "val.bin"]


def test_shards_of_llmc_that_others_wrote(tmp_path: Path) -> None:
    """A document goes on in the next number, not in another split and not across a gap."""
    for name, number, ids in (
        ("edu_val", 0, [0, 1]), ("edu_train", 1, [2, 0, 3]), ("edu_train", 2, [4, 4]),
        ("edu_train", 3, [5, 0]), ("edu_train", 5, [6, 0]),
    ):  # fmt: skip
        write("llmc", [ids], tmp_path, stem="x")
        (tmp_path / "x_000000.bin").rename(tmp_path / f"{name}_{number:06d}.bin")
    found = read("llmc", tmp_path)
    assert lists(found) == [[2], [0, 3, 4, 4, 5], [0], [6], [0], [0, 1]]
    assert [part.path.name for part in found.parts] == [
        "edu_train_000001.bin", "edu_train_000005.bin", "edu_val_000000.bin",
    ]  # fmt: skip
    assert lists(read("llmc", tmp_path / "edu_train_000003.bin")) == [[5], [0]]


@pytest.mark.parametrize(
    ("name", "types"),
    {
        "nanogpt": {1: "uint16", 65_536: "uint16"},
        "llmc": {65_536: "uint16", 65_537: "uint32", 1 << 32: "uint32"},
        "megatron": {65_499: "uint16", 65_500: "int32", 1 << 31: "int32"},
        "datatrove": {65_536: "uint16", 65_537: "uint32", 1 << 32: "uint32"},
        "dolma": {256: "uint8", 65_536: "uint16", 65_537: "uint32", 1 << 32: "uint32"},
        "mds": {1: "int32", 1 << 31: "int32"},
        "litdata": {65_536: "uint16", 65_537: "int32", 1 << 31: "int32"},
        "webdataset": {65_536: "uint16", 65_537: "uint32", 1 << 32: "uint32"},
        "parquet": {1: "int32", 1 << 31: "int32"},
        "arrow": {1: "int32", 1 << 31: "int32"},
    }.items(),
)
def test_types_of_ids(name: str, types: dict[int, str]) -> None:
    chosen = format_of(name)
    assert {size: chosen.dtype(size).name for size in types} == types
    with pytest.raises(OptionError, match=f"{max(types):,} at most"):
        chosen.dtype(max(types) + 1)


@pytest.mark.parametrize("name", NAMES)
def test_formats_are_recognized(name: str, tmp_path: Path) -> None:
    write(name, BEFORE, tmp_path)
    assert next(each for each in NAMES if format_of(each).find(tmp_path)) == name


@pytest.mark.parametrize("name", ["nanogpt", "llmc"])
@pytest.mark.parametrize(
    ("options", "framed"),
    [
        ({}, [[3, 5, 4], [3, 4], [3, 6, 4]]),
        ({"eos_place": "before"}, [[3, 4, 5], [3, 4], [3, 4, 6]]),
        ({"eos": False}, [[3, 5], [3], [3, 6]]),
    ],
)
def test_documents_are_found_by_bos_too(
    name: str, options: dict[str, Any], framed: list[list[int]], tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{"text": ""}\n{"text": "b"}\n')
    tok = toksmith.Tokenizer(Pipeline(LongestMatch((b"0", b"1", b"2", b"3", b"4", b"a", b"b"))))
    toksmith.tokenize_corpus(
        tmp_path / "a.jsonl", tokenizer=tok, format=name, output=tmp_path / "out", progress=False,
        **({"bos": 3, "eos": 4, "eos_place": "after"} | options),
    )  # fmt: skip
    assert lists(toksmith.open_tokens(tmp_path / "out")) == framed
