"""Token files in folders, read by the frameworks they are for, and written by their own writers."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.tokenfiles.documents import lists, read, write

pytestmark = pytest.mark.filterwarnings("ignore")

RNG = random.Random(48)
LENGTHS = [*(RNG.choice([1, 2, 9, 40, 255, 256, 300]) for _ in range(60)), 66_000, 3]
DOCUMENTS = [[RNG.randrange(50_000) for _ in range(length)] for length in LENGTHS]
LARGE_FIRST = [DOCUMENTS[-2], *DOCUMENTS[:5], DOCUMENTS[-2]]


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("documents", [DOCUMENTS, LARGE_FIRST], ids=["mixed", "large first"])
@pytest.mark.parametrize("tokens", [80, 300, 1000, None])
def test_mds_is_what_its_writer_writes(
    documents: list[list[int]], tokens: int | None, tmp_path: Path
) -> None:
    streaming = pytest.importorskip("streaming")
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    write("mds", documents, ours, shard_tokens=tokens)
    limit = 1 << 26 if tokens is None else 4 * tokens
    columns = {"tokens": "ndarray:int32"}
    with streaming.MDSWriter(out=str(theirs), columns=columns, size_limit=limit) as writer:
        for each in documents:
            writer.write({"tokens": np.array(each, np.int32)})
    assert content(ours / "train") == content(theirs)
    assert lists(read("mds", theirs)) == documents


def test_mds_is_read(tmp_path: Path) -> None:
    streaming = pytest.importorskip("streaming")
    write("mds", DOCUMENTS, tmp_path, shard_tokens=1000)
    found = streaming.StreamingDataset(
        local=str(tmp_path), split="train", shuffle=False, batch_size=1
    )
    assert [found[number]["tokens"].tolist() for number in range(len(found))] == DOCUMENTS
    assert found[0]["tokens"].dtype == np.int32


def test_other_columns_of_mds_are_read(tmp_path: Path) -> None:
    streaming = pytest.importorskip("streaming")
    for encoding in ("ndarray", "ndarray:uint16", "ndarray:uint32:3", "ndarray:int64", "bytes"):
        folder = tmp_path / encoding.replace(":", "-")
        columns = {"label": "str", "number": "int", "tokens": encoding}
        dtype = encoding.split(":")[1] if ":" in encoding else "int64"
        array: Any = np.array([1, 2, 50_000], dtype)
        with streaming.MDSWriter(out=str(folder), columns=columns) as writer:
            for number in range(4):
                tokens = array.tobytes() if encoding == "bytes" else array
                writer.write({"label": "é" * number, "number": number, "tokens": tokens})
        found = read("mds", folder)
        assert lists(found) == [[1, 2, 50_000]] * 4
        assert found.dtype == dtype


@pytest.mark.parametrize("vocab_size", [50_000, 100_000])
@pytest.mark.parametrize("tokens", [80, 300, 1000, None])
def test_litdata_is_what_its_writer_writes(
    vocab_size: int, tokens: int | None, tmp_path: Path
) -> None:
    pytest.importorskip("litdata")
    import torch
    from litdata.streaming.item_loader import TokensLoader
    from litdata.streaming.writer import BinaryWriter

    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    write("litdata", DOCUMENTS, ours, vocab_size=vocab_size, shard_tokens=tokens)
    writer = BinaryWriter(
        str(theirs), chunk_size=tokens, chunk_bytes=None if tokens else 1 << 26,
        item_loader=TokensLoader(),
    )  # fmt: skip
    dtype = torch.uint16 if vocab_size <= 65_536 else torch.int32
    for number, each in enumerate(DOCUMENTS):
        writer[number] = torch.tensor(each, dtype=dtype)
    writer.done()
    (theirs / "0.index.json").rename(theirs / "index.json")  # what merging adds is the time
    assert content(ours / "train") == content(theirs)
    assert lists(read("litdata", theirs)) == DOCUMENTS


@pytest.mark.parametrize("vocab_size", [50_000, 100_000])
def test_litdata_is_read(vocab_size: int, tmp_path: Path) -> None:
    litdata = pytest.importorskip("litdata")
    from litdata.streaming.item_loader import TokensLoader

    documents = [DOCUMENTS[-2][start : start + 33] for start in range(0, 660, 33)]
    write("litdata", documents, tmp_path, vocab_size=vocab_size, shard_tokens=99)
    found = litdata.StreamingDataset(
        str(tmp_path / "train"), item_loader=TokensLoader(block_size=33)
    )
    assert [found[number].tolist() for number in range(len(found))] == documents
    batches = litdata.StreamingDataLoader(found, batch_size=4)
    assert [row for batch in batches for row in batch.long().tolist()] == documents


def test_webdataset_is_what_its_writer_writes(tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset")
    import gzip
    import hashlib

    documents = [[1, 2, 3], [0], [50_000] * 400]
    write("webdataset", documents, tmp_path)
    file = io.BytesIO()
    with webdataset.TarWriter(file, mtime=0, encoder=False) as writer:
        for each in documents:
            text = json.dumps(each)
            key = hashlib.md5(text.encode()).hexdigest()
            data = gzip.compress(text.encode(), mtime=0)
            # Versions of Python differ in two bytes of the head: speed and system.
            writer.write({"__key__": key, "json.gz": data[:8] + b"\x02\xff" + data[10:]})
    assert (tmp_path / "train/00000001.tar").read_bytes() == file.getvalue()


def test_webdataset_is_read(tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset")
    documents = [[0], [0], *DOCUMENTS, [0]]
    write("webdataset", documents, tmp_path, shard_tokens=1000)
    manifest = [json.loads(each) for each in (tmp_path / "train/manifest.jsonl").open()]
    files = [str(tmp_path / f"train/{each['shard']}.tar") for each in manifest]
    found = webdataset.WebDataset(files, shardshuffle=False).decode()
    samples = [each["json.gz"] for each in found]
    assert samples == documents
    assert sum(each["num_sequences"] for each in manifest) == len(documents)
