"""Token files in folders with an index (MDS, litData, WebDataset) against bytes written by hand."""

from __future__ import annotations

import gzip
import hashlib
import json
import struct
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.unit.tokenfiles.documents import lists, read, write
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles import convert_tokens

DOCUMENTS = [[5, 6, 0], [0], [7, 300, 0]]


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


SETTINGS = (
    b'{"column_encodings": ["ndarray:int32"], "column_names": ["tokens"], '
    b'"column_sizes": [null], "compression": null, "format": "mds", "hashes": [], '
    b'"size_limit": %d, "version": 2}'
)


def mds_entry(number: int, size: int, samples: int, limit: int) -> str:
    return (
        '{"column_encodings": ["ndarray:int32"], "column_names": ["tokens"], '
        '"column_sizes": [null], "compression": null, "format": "mds", "hashes": [], '
        f'"raw_data": {{"basename": "shard.0000{number}.mds", "bytes": {size}, "hashes": {{}}}}, '
        f'"samples": {samples}, "size_limit": {limit}, "version": 2, "zip_data": null}}'
    )


def test_mds(tmp_path: Path) -> None:
    write("mds", DOCUMENTS, tmp_path)
    settings = SETTINGS % (1 << 26)
    start = 4 + 4 * 4 + len(settings)
    shard = (
        struct.pack("<5I", 3, start, start + 18, start + 28, start + 46) + settings
        + struct.pack("<IBB3i", 14, 4, 3, 5, 6, 0) + struct.pack("<IBBi", 6, 4, 1, 0)
        + struct.pack("<IBB3i", 14, 4, 3, 7, 300, 0)
    )  # fmt: skip
    entry = mds_entry(0, len(shard), 3, 1 << 26)
    assert content(tmp_path) == {
        "train/index.json": f'{{"shards": [{entry}], "version": 2}}'.encode(),
        "train/shard.00000.mds": shard,
    }
    for path in (tmp_path, tmp_path / "train", tmp_path / "train/shard.00000.mds"):
        tokens = read("mds", path, eos=None)
        assert lists(tokens) == DOCUMENTS
        assert tokens.dtype == np.int32


def test_shards_of_mds_end_as_those_of_its_own_writer(tmp_path: Path) -> None:
    """Before a sample is added, its size and 4 bytes are counted, and the head of the shard."""
    head = 8 + len(SETTINGS % 320)
    room = (320 - head - 4 - 4 - 2) // 4  # the ids of one document that fills a shard
    write("mds", [[1] * room, [1], [2], [3] * 300, [4]], tmp_path, shard_tokens=80)
    shards = json.loads((tmp_path / "train/index.json").read_bytes())["shards"]
    assert [each["samples"] for each in shards] == [1, 2, 1, 1]
    assert {each["size_limit"] for each in shards} == {320}
    large = (tmp_path / "train/shard.00002.mds").read_bytes()
    assert struct.pack("<IBHi", 3 + 1200, 5, 300, 3) in large  # its shape takes two bytes


def test_a_first_document_above_the_limit_leaves_an_empty_shard_of_mds(tmp_path: Path) -> None:
    write("mds", [[3] * 300, [4]], tmp_path, shard_tokens=80)
    settings = SETTINGS % 320
    assert (tmp_path / "train/shard.00000.mds").read_bytes() == (
        struct.pack("<2I", 0, 8 + len(settings)) + settings
    )
    assert [len(each) for each in read("mds", tmp_path)] == [300, 1]


def test_mds_refuses_empty_documents(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match='use empty="drop"'):
        write("mds", [[1], [], [2]], tmp_path)


def sample_file(config: dict[str, object], samples: list[bytes]) -> bytes:
    """A shard as other programs may write it."""
    text = json.dumps(config).encode()
    places = np.cumsum([8 + 4 * len(samples) + len(text), *map(len, samples)])
    return struct.pack(f"<{len(places) + 1}I", len(samples), *places) + text + b"".join(samples)


@pytest.mark.parametrize(
    ("encodings", "samples", "dtype"),
    [
        (["ndarray"], [struct.pack("<IBBB2H", 7, 16, 4, 2, 9, 65_000)], "uint16"),
        (["ndarray:uint16:2"], [struct.pack("<2H", 9, 65_000)], "uint16"),
        (["bytes"], [struct.pack("<I2q", 16, 9, 65_000)], "int64"),
        (["str", "ndarray:int64"], [struct.pack("<II3sBB2q", 3, 18, b"abc", 4, 2, 9, 65_000)],
         "int64"),
        (["int", "ndarray:uint32"], [struct.pack("<IqBH2I", 11, 1, 5, 2, 9, 65_000)], "uint32"),
    ],
)  # fmt: skip
def test_other_columns_of_mds(
    tmp_path: Path, encodings: list[str], samples: list[bytes], dtype: str
) -> None:
    sizes = {"ndarray:uint16:2": 4, "int": 8}
    names = ["a", "tokens"][-len(encodings) :]
    config: dict[str, object] = {
        "column_names": names,
        "column_encodings": encodings,
        "column_sizes": [sizes.get(each) for each in encodings],
    }
    file = tmp_path / "shard.00000.mds"
    file.write_bytes(sample_file(config, samples * 2))
    tokens = read("mds", file)
    assert lists(tokens) == [[9, 65_000]] * 2
    assert tokens.dtype == dtype


LITDATA = (
    '{"chunks": [%s], "config": {"chunk_bytes": %s, "chunk_size": %s, "compression": null, '
    '"compression_batch_size": null, "compression_level": null, '
    '"data_format": ["no_header_tensor:%d"], '
    '"data_spec": "[1, {\\"type\\": null, \\"context\\": null, \\"children_spec\\": []}]", '
    '"encryption": null, "ipc_compression": null, "item_loader": "TokensLoader", '
    '"types": "tensor"}}'
)


def test_litdata(tmp_path: Path) -> None:
    write("litdata", DOCUMENTS, tmp_path)
    entry = '{"chunk_bytes": 34, "chunk_size": 3, "dim": 7, "filename": "chunk-0-0.bin"}'
    assert content(tmp_path) == {
        "train/index.json": (LITDATA % (entry, 1 << 26, "null", 20)).encode(),
        "train/chunk-0-0.bin": struct.pack("<5I7H", 3, 20, 26, 28, 34, 5, 6, 0, 0, 7, 300, 0),
    }
    for path in (tmp_path, tmp_path / "train/index.json", tmp_path / "train/chunk-0-0.bin"):
        assert lists(read("litdata", path, eos=None)) == DOCUMENTS
    assert read("litdata", tmp_path).dtype == np.uint16


def test_chunks_of_litdata(tmp_path: Path) -> None:
    """An empty item counts as one token towards the size of a chunk."""
    documents = [[1, 2], [], [3], [4, 5, 6, 7, 8], [], [100_000]]
    write("litdata", documents, tmp_path, vocab_size=100_001, shard_tokens=3)
    entries = [
        f'{{"chunk_bytes": {size}, "chunk_size": {items}, "dim": {tokens}, '
        f'"filename": "chunk-0-{number}.bin"}}'
        for number, (size, items, tokens) in enumerate(
            [(24, 2, 2), (16, 1, 1), (32, 1, 5), (20, 2, 1)]
        )
    ]
    files = content(tmp_path)
    index = files.pop("train/index.json")
    assert index.decode() == LITDATA % (", ".join(entries), "null", 3, 16)
    assert files["train/chunk-0-0.bin"] == struct.pack("<4I2i", 2, 16, 24, 24, 1, 2)
    assert list(files) == [f"train/chunk-0-{number}.bin" for number in range(4)]
    assert lists(read("litdata", tmp_path)) == documents


def test_arrays_of_litdata(tmp_path: Path) -> None:
    """Chunks of NumPy arrays instead of tensors have other codes of types."""
    write("litdata", DOCUMENTS, tmp_path)
    index = tmp_path / "train/index.json"
    index.write_text(index.read_text().replace("no_header_tensor:20", "no_header_numpy:5"))
    assert read("litdata", tmp_path).dtype == np.uint16
    index.write_text(index.read_text().replace("no_header_numpy:5", "no_header_numpy:1"))
    assert read("litdata", tmp_path).dtype == np.int16


def test_webdataset(tmp_path: Path) -> None:
    write("webdataset", [*DOCUMENTS, [0]], tmp_path, shard_tokens=4)
    files = content(tmp_path)
    assert files.pop("train/manifest.jsonl") == (
        b'{"shard": "00000001", "num_sequences": 2}\n{"shard": "00000002", "num_sequences": 2}\n'
    )
    assert list(files) == ["train/00000001.tar", "train/00000002.tar"]
    with tarfile.open(tmp_path / "train/00000001.tar") as tar:
        members = tar.getmembers()
        data = [tar.extractfile(each).read() for each in members]  # type: ignore[union-attr]
    assert [each.name for each in members] == [
        f"{hashlib.md5(text).hexdigest()}.json.gz" for text in (b"[5, 6, 0]", b"[0]")
    ]
    assert [gzip.decompress(each) for each in data] == [b"[5, 6, 0]", b"[0]"]
    assert {each[:10] for each in data} == {b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"}
    assert {
        (each.mode, each.mtime, each.uid, each.uname, each.gname) for each in members
    } == {(0o444, 0, 0, "bigdata", "bigdata")}  # fmt: skip
    assert lists(read("webdataset", tmp_path)) == [*DOCUMENTS, [0]]
    assert read("webdataset", tmp_path).dtype == np.uint32
    assert read("webdataset", tmp_path, dtype="uint16").dtype == np.uint16


def test_equal_documents_of_webdataset_have_different_names(tmp_path: Path) -> None:
    write("webdataset", [[0], [0], [1], [0]], tmp_path)
    key, other = hashlib.md5(b"[0]").hexdigest(), hashlib.md5(b"[1]").hexdigest()
    with tarfile.open(tmp_path / "train/00000001.tar") as tar:
        assert tar.getnames() == [
            f"{each}.json.gz" for each in (key, f"{key}-1", other, f"{key}-2")
        ]


@pytest.mark.parametrize("name", ["mds", "litdata", "webdataset"])
def test_splits_have_folders_of_their_own(name: str, tmp_path: Path) -> None:
    write(name, DOCUMENTS, tmp_path)
    write(name, [[1, 0]], tmp_path, stem="val")
    assert lists(read(name, tmp_path)) == [*DOCUMENTS, [1, 0]]
    assert lists(read(name, tmp_path / "val")) == [[1, 0]]


def test_lengths_of_mds_need_no_sample(tmp_path: Path) -> None:
    documents = [[1] * size for size in (1, 254, 255, 256, 257, 65_535, 65_536)]
    write("mds", documents, tmp_path)
    file = tmp_path / "train/shard.00000.mds"
    sound = file.read_bytes()
    start = sound.index(b"}") + 1
    file.write_bytes(sound[:start] + bytes(len(sound) - start))
    tokens = read("mds", tmp_path)
    assert tokens.lengths.tolist() == [len(each) for each in documents]
    with pytest.raises(FormatError, match="sample 3 is damaged"):
        tokens.ids(3, 5)
    file.write_bytes(sound)
    assert lists(read("mds", tmp_path)) == documents


def test_empty_documents_of_mds_are_refused_before_any_work(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"text": "low"}\n{"text": ""}\n')
    options: dict[str, Any] = {"tokenizer": "toksmith-small", "progress": False}

    def tokenize(name: str, output: str, **more: Any) -> Any:
        return toksmith.tokenize_corpus(
            corpus, format=name, output=tmp_path / output, **options, **more
        )

    for more in ({"empty": "bare"}, {"empty": "frame", "eos": False}):
        with pytest.raises(OptionError, match="mds files cannot hold documents without tokens"):
            tokenize("mds", "a", **more)
    assert not (tmp_path / "a").exists()
    assert tokenize("mds", "dropped").documents == 1
    assert tokenize("mds", "framed", empty="frame").documents == 2
    tokenize("parquet", "bare")
    done = convert_tokens(tmp_path / "bare", format="mds", output=tmp_path / "b", progress=False)
    assert done.documents == 1
