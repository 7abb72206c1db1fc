"""Token files against bytes written out by hand after the descriptions of the formats."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import pytest

from tests.unit.tokenfiles.documents import lists, read, write
from toksmith.errors import OptionError
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
