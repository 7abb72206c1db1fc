"""Damaged files of the formats with indexes and columns: each error names its file and reason."""

from __future__ import annotations

import gzip
import io
import json
import random
import shutil
import struct
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.damage import ANY, JSON, Damage
from tests.unit.tokenfiles.documents import lists, read, write
from toksmith.errors import FormatError
from toksmith.tokenfiles.formats import format_of

NAMES = ["mds", "litdata", "webdataset", "parquet", "arrow"]
DOCUMENTS = [[1, 2, 3], [4], [500] * 300, [6, 7], [8], [9, 10, 11, 12]]
FILES = {
    "mds": ["train/index.json", "train/shard.00000.mds"],
    "litdata": ["train/index.json", "train/chunk-0-0.bin"],
    "webdataset": ["train/00000001.tar"],
    "parquet": ["train-00000-of-00001.parquet"],
    "arrow": ["train-00000-of-00001.arrow"],
}


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_refused_or_read(name: str, tmp_path: Path) -> None:
    """No damage leads to another error than FormatError, or to documents out of bounds."""
    rng = random.Random(name)
    refused = read_anyway = 0
    write(name, DOCUMENTS, tmp_path)
    for file in FILES[name]:
        path = tmp_path / file
        sound = path.read_bytes()
        kinds: list[Damage] = JSON if path.suffix == ".json" else ANY
        for _ in range(80):
            data = bytearray(sound)
            rng.choice(kinds)(data, rng)
            path.write_bytes(data)
            try:
                format_of(name).find(tmp_path)
                tokens = read(name, tmp_path)
                documents = lists(tokens)
                assert [len(each) for each in documents] == tokens.lengths.tolist()
            except FormatError as wrong:
                refused += str(tmp_path) in wrong.path
            else:
                read_anyway += 1
        path.write_bytes(sound)
    assert refused > 15
    assert refused + read_anyway == 80 * len(FILES[name])
    assert lists(read(name, tmp_path)) == DOCUMENTS


@pytest.mark.parametrize("name", NAMES)
def test_files_that_were_cut_short(name: str, tmp_path: Path) -> None:
    write(name, DOCUMENTS, tmp_path)
    for file in FILES[name]:
        path = tmp_path / file
        sound = path.read_bytes()
        for size in {0, 1, 4, 8, 20, len(sound) // 2, len(sound) - 8, len(sound) - 1}:
            path.write_bytes(sound[:size])
            with pytest.raises(FormatError) as wrong:
                lists(read(name, tmp_path))
            assert str(tmp_path) in wrong.value.path
            assert wrong.value.reason
        path.write_bytes(sound)


@pytest.mark.parametrize("name", NAMES)
def test_paths_without_such_files(name: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no tokens")
    (tmp_path / "index.json").write_text('{"shards": 3, "chunks": null}')
    (tmp_path / "empty").mkdir()
    for path in (tmp_path, tmp_path / "empty", tmp_path / "notes.txt", tmp_path / "missing"):
        assert format_of(name).find(path) == []
        with pytest.raises(FormatError, match="holds no token files of the format"):
            read(name, path)
    for ending in ("mds", "tar", "parquet", "arrow"):
        missing = tmp_path / f"missing.{ending}"
        assert format_of(name).find(missing) == []
        with pytest.raises(FormatError, match=r"cannot be read|holds no token files"):
            read(name, missing)


@pytest.mark.parametrize("name", NAMES)
def test_files_of_one_format_are_none_of_another(name: str, tmp_path: Path) -> None:
    write(name, DOCUMENTS, tmp_path)
    for other in NAMES:
        assert bool(format_of(other).find(tmp_path)) == (other == name)
    for other in set(NAMES) - {name}:
        with pytest.raises(FormatError):
            read(other, tmp_path)
    file = tmp_path / FILES[name][-1]
    for ending in {".mds", ".tar", ".parquet", ".arrow"} - {file.suffix}:
        alien = tmp_path / f"alien{ending}"
        shutil.copy(file, alien)
        with pytest.raises(FormatError) as wrong:
            lists(read({".mds": "mds", ".tar": "webdataset"}.get(ending, ending[1:]), alien))
        assert wrong.value.path == str(alien)


def change_index(folder: Path, change: Callable[[Any], None]) -> None:
    index = folder / "train/index.json"
    found = json.loads(index.read_text())
    change(found)
    index.write_text(json.dumps(found))


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("mds", lambda index: index["shards"][0].update(format="xsv"), "format 'xsv', not mds"),
        ("mds", lambda index: index["shards"][0].update(compression="zstd"), "compression 'zstd'"),
        ("mds", lambda index: index["shards"][0]["raw_data"].update(bytes=7), "index says 7"),
        ("mds", lambda index: index["shards"][0]["raw_data"].update(basename="../a"), r"'\.\./a'"),
        ("mds", lambda index: index["shards"][0]["raw_data"].update(basename="a"), "names a, "),
        ("mds", lambda index: index["shards"][0]["raw_data"].update(basename="a" * 999),
         "names a{80}, which"),
        ("mds", lambda index: index["shards"].append(index["shards"][0]), "shard.00000.mds twice"),
        ("mds", lambda index: index["shards"].append(1), "has no list of shards"),
        ("mds", lambda index: index["shards"][0].update(samples=7), "6 samples.* says 7"),
        ("litdata", lambda index: index["config"].update(compression="zstd"), "are compressed"),
        ("litdata", lambda index: index["config"].update(data_format=["str"]), "bare arrays"),
        ("litdata", lambda index: index["config"].update(data_format=["no_header_tensor:0"]),
         "bare arrays of integers"),
        ("litdata", lambda index: index.pop("config"), "has no config"),
        ("litdata", lambda index: index["chunks"].append(index["chunks"][0]), "0.bin twice"),
        ("litdata", lambda index: index["chunks"][0].pop("filename"), "names a file None"),
        ("litdata", lambda index: index["chunks"][0].update(chunk_size=7), "6 items.* says 7"),
    ],
)  # fmt: skip
def test_indexes_that_do_not_fit(
    name: str, change: Callable[[Any], None], reason: str, tmp_path: Path
) -> None:
    write(name, DOCUMENTS, tmp_path)
    change_index(tmp_path, change)
    with pytest.raises(FormatError, match=reason):
        read(name, tmp_path)


def test_sizes_of_samples_of_mds_that_do_not_fit(tmp_path: Path) -> None:
    write("mds", [[1, 2], [3]], tmp_path)
    path = tmp_path / "train/shard.00000.mds"
    sound = path.read_bytes()
    sample = sound.index(struct.pack("<IBBi", 6, 4, 1, 3))
    for change, reason in {
        struct.pack("<IBB", 7, 4, 1): "sample 1 is damaged",  # beyond the end of the file
        struct.pack("<IBB", 0, 4, 1): "sample 1 is damaged",
        struct.pack("<IBB", 6, 4, 2): "sample 1 is damaged",  # more ids than bytes
        struct.pack("<IBB", 6, 8, 1): "several dimensions",
        struct.pack("<IBB", 6, 7, 1): "sample 1 is damaged",  # a shape of 8 bytes
        struct.pack("<IBB", 5, 4, 1): "sample 1 is damaged",
    }.items():
        path.write_bytes(sound[:sample] + change + sound[sample + 6 :])
        with pytest.raises(FormatError, match=reason):
            lists(read("mds", tmp_path))
    path.write_bytes(sound.replace(b'"ndarray:int32"', b'"ndarray:float"'))
    with pytest.raises(FormatError, match="holds ids as ndarray:float"):
        lists(read("mds", tmp_path))
    path.write_bytes(sound.replace(b'"tokens"', b'"string"'))
    with pytest.raises(FormatError, match="has columns string:"):
        lists(read("mds", tmp_path))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"a": 1}', "is no list of ids"),
        (b"[1, 2.5]", "is no list of ids"),
        (b"[[1], [2]]", "is no list of ids"),
        (b'["1"]', "is no list of ids"),
        (b"7", "is no list of ids"),
        (b"[true]", "is no list of ids"),
        (b"[1, -2]", "ids outside of uint32"),
        (b"[1, 99999999999999999999999]", "ids outside of uint32"),
        (b"[4294967296]", "ids outside of uint32"),
        (b"[1, ", "is damaged"),
        (b"", "is damaged"),
        (b"[1, [2]]", "is damaged"),
    ],
)
def test_members_that_are_no_lists_of_ids(text: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as tar:
        member = tarfile.TarInfo("key.json")
        member.size = len(text)
        tar.addfile(member, io.BytesIO(text))
    with pytest.raises(FormatError, match=f"member key.json {reason}|member key.json has {reason}"):
        lists(read("webdataset", path))


def test_tars_of_other_things_are_not_found(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    caption = b'{"caption": "low"}'
    for name, data, is_found in [
        ("a.json", caption, False),
        ("a.txt", b"[1]", False),
        ("a.json.gz", gzip.compress(caption), False),
        ("a.json.gz", gzip.compress(b" [1]"), True),
    ]:
        with tarfile.open(path, "w") as tar:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        assert format_of("webdataset").find(path) == [path] * is_found
    path.write_bytes(bytes(10240))
    assert format_of("webdataset").find(path) == []


def test_offsets_of_arrow_that_lead_out_of_the_file(tmp_path: Path) -> None:
    write("arrow", [[1, 2], [3]], tmp_path)
    path = tmp_path / "train-00000-of-00001.arrow"
    sound = path.read_bytes()
    offsets = struct.pack("<3i", 0, 2, 3)
    assert sound.count(offsets) == 1
    for wrong in ((0, 2, 1 << 30), (0, -5, 3), (0, 1 << 30, 3)):
        path.write_bytes(sound.replace(offsets, struct.pack("<3i", *wrong)))
        with pytest.raises(FormatError, match="cannot be read"):
            lists(read("arrow", tmp_path))


def test_damaged_ids_of_parquet(tmp_path: Path) -> None:
    """Pages have checksums."""
    write("parquet", [list(range(1000))], tmp_path)
    path = tmp_path / "train-00000-of-00001.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"(?i)cannot be read: .*(checksum|crc)"):
        lists(read("parquet", tmp_path))


def test_rows_of_parquet_that_its_footer_does_not_count(tmp_path: Path) -> None:
    write("parquet", [[1]] * 77, tmp_path)
    path = tmp_path / "train-00000-of-00001.parquet"
    sound = path.read_bytes()
    rows = b"\x16\x9a\x01"  # 77 in Thrift: of the file, of its values, of the row group
    places = [place for place in range(len(sound)) if sound.startswith(rows, place)]
    reasons = []
    for place in [*places, None]:  # each of them, and all
        data = bytearray(sound)
        for each in places if place is None else [place]:
            data[each + 1] = 0x9C  # 78
        path.write_bytes(data)
        try:
            assert lists(read("parquet", tmp_path)) == [[1]] * 77
        except FormatError as wrong:
            reasons.append(wrong.reason)
    assert {"has 78 rows, and 77 in its row groups", "has 77 rows, and 78 in its row groups"} <= {
        *reasons
    }
    assert reasons[-1] == "row group 0 has 77 rows, not 78" or "cannot be read" in reasons[-1]


def test_heads_of_members_in_a_tar(tmp_path: Path) -> None:
    """Python's reader takes a damaged head for the end of the tar."""
    write("webdataset", DOCUMENTS, tmp_path)
    path = tmp_path / "train/00000001.tar"
    sound = path.read_bytes()
    with tarfile.open(path) as tar:
        heads = [member.offset for member in tar]
    assert len(heads) == len(DOCUMENTS)
    for head in heads:
        for place in (head, head + 130, head + 150):  # name, size, checksum
            data = bytearray(sound)
            data[place] ^= 1
            path.write_bytes(data)
            with pytest.raises(FormatError, match="damaged"):
                read("webdataset", path)


def test_arrow_column_whose_name_is_invalid_utf8(tmp_path: Path) -> None:
    write("arrow", [[1, 2], [3]], tmp_path)
    path = tmp_path / "train-00000-of-00001.arrow"
    path.write_bytes(path.read_bytes().replace(b"input_ids", b"\xff\xffput_ids"))
    with pytest.raises(FormatError, match="cannot be read"):
        read("arrow", tmp_path)


def test_members_of_a_tar_that_unpack_to_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toksmith.tokenfiles.formats import webdataset

    write("webdataset", DOCUMENTS, tmp_path)
    monkeypatch.setattr(webdataset, "_LARGEST", 4)
    with pytest.raises(FormatError, match="unpacks to more than 0 MiB"):
        lists(read("webdataset", tmp_path))
