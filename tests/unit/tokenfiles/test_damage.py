"""Damaged, truncated and foreign files: an error that names the file and the reason."""

from __future__ import annotations

import gzip
import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.unit.tokenfiles.documents import Documents, lists, read, write
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles.format import Settings
from toksmith.tokenfiles.formats import NAMES, format_of

FORMATS = ["megatron", "datatrove", "dolma", "llmc", "nanogpt"]
DOCUMENTS = [[0, 5, 6], [0, 7], [0, 8, 9]]
ALL = [0, 5, 6, 0, 7, 0, 8, 9]
HEADERS = {"llmc": 12}  # bytes that are read; the rest of the header is zero


def tokens(path: Path, name: str) -> list[int] | None:
    """Return all tokens of a folder, ``None`` where reading fails as it should."""
    try:
        found = toksmith.open_tokens(path, format=name, eos=0)
        return found.ids(0, len(found)).tolist()  # type: ignore[no-any-return]
    except FormatError as wrong:
        reason = str(wrong)
    assert reason.startswith(str(path))
    return None


@pytest.mark.parametrize("name", FORMATS)
def test_each_byte_but_those_of_ids(name: str, tmp_path: Path) -> None:
    written = write(name, DOCUMENTS, tmp_path, tokenizer_name="t")
    assert tokens(tmp_path, name) == ALL
    for file, content in written.items():
        is_data = file.endswith((".bin", ".ds", ".npy"))
        stop = HEADERS.get(name, 0) if is_data else len(content)
        for place in range(stop):
            for change in (1, 0x80, 0xFF):
                damaged = bytearray(content)
                damaged[place] ^= change
                (tmp_path / file).write_bytes(damaged)
                found = tokens(tmp_path, name)
                assert found is None or found == ALL, (file, place, change)
                # The numbers of the documents' sequences may be others.
                if is_data or (file.endswith(".idx") and place < 70):
                    assert found is None, (file, place, change)
        (tmp_path / file).write_bytes(content)


@pytest.mark.parametrize("name", FORMATS)
def test_each_truncation(name: str, tmp_path: Path) -> None:
    written = write(name, DOCUMENTS, tmp_path, tokenizer_name="t")
    for file, content in written.items():
        for size in (*range(min(50, len(content))), *range(1000, len(content))):
            (tmp_path / file).write_bytes(content[:size])
            found = tokens(tmp_path, name)
            if name == "nanogpt" and size % 2 == 0:  # nothing tells it
                assert found == ALL[: size // 2]
            elif file.endswith(".npy") and 2 * size == len(content):
                assert found == [0, 0, 5, 0, 6, 0, 0, 0]  # one byte an id, as the table says
            elif file.endswith(".metadata"):
                assert found in (None, ALL)
            else:
                assert found is None, (file, size)
        (tmp_path / file).write_bytes(content)


def _index(lengths: list[int], places: list[int], firsts: list[int], code: int = 8) -> bytes:
    return (
        b"MMIDIDX\0\0"
        + struct.pack("<QBQQ", 1, code, len(lengths), len(firsts))
        + np.array(lengths, "<i4").tobytes()
        + np.array(places, "<i8").tobytes()
        + np.array(firsts, "<i8").tobytes()
    )


@pytest.mark.parametrize(
    ("index", "reason"),
    [
        (_index([2, 2], [0, 4], [0, 1, 2]), None),
        (_index([2, 2], [0, 4], [0, 1, 2]) + b"\0\1", None),  # with modes
        (_index([2, 2], [0, 4], [0, 0, 2, 2]), None),
        (_index([4], [0], [0, 1], code=3), None),
        (_index([2, 2], [0, 4], [0, 1, 2]) + b"\0", "bytes, and its header calls for"),
        (_index([2, 2], [0, 4], [1, 1, 2]), "documents are not in order"),
        (_index([2, 2], [0, 4], [0, 2, 1, 2]), "documents are not in order"),
        (_index([2, 2], [0, 4], [0, 1]), "documents are not in order"),
        (_index([2, 2], [0, 4], []), "documents are not in order"),
        (_index([2, 2], [0, 2], [0, 1, 2]), "sequences are not end to end"),
        (_index([5, -1], [0, 10], [0, 1, 2]), "sequences are not end to end"),
        (_index([2, 1], [0, 4], [0, 1, 2]), "holds 4 tokens, but its index says 3"),
        (_index([4], [0], [0, 1], code=7), "type 7"),
        (b"TNTIDX\0\0" + bytes(40), "does not start with MMIDIDX"),
        (b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, 1 << 63, 1 << 63), "calls for"),
    ],
)
def test_indexes_of_megatron(index: bytes, reason: str | None, tmp_path: Path) -> None:
    data = tmp_path / "some.name.bin"
    np.arange(4, dtype=np.uint16).tofile(data)
    data.with_suffix(".idx").write_bytes(index)
    for path in (data, data.with_suffix(".idx"), tmp_path / "some.name"):
        if reason is None:
            found = read("megatron", path)
            assert found.ids(0, len(found)).tolist() == [0, 1, 2, 3]
        else:
            with pytest.raises(FormatError, match=reason):
                toksmith.open_tokens(path)


def test_a_damaged_file_among_others_is_not_left_out(tmp_path: Path) -> None:
    for name, file in (("llmc", "train_000001.bin"), ("megatron", "val_text_document.idx")):
        folder = tmp_path / name
        folder.mkdir()
        for stem in ("train", "val"):
            write(name, DOCUMENTS, folder, stem=stem, shard_tokens=4)
        content = (folder / file).read_bytes()
        (folder / file).write_bytes(b"XX" + content[2:])
        with pytest.raises(FormatError, match=f"{file}: .* start with"):
            toksmith.open_tokens(folder)


def test_types_that_differ_are_refused(tmp_path: Path) -> None:
    for name in ("megatron", "datatrove", "dolma", "llmc"):
        folder = tmp_path / name
        folder.mkdir()
        write(name, DOCUMENTS, folder, stem="a")
        write(name, DOCUMENTS, folder, stem="b", vocab_size=70_000)
        with pytest.raises(FormatError, match=r"holds ids of u?int\d+ and uint\d+"):
            toksmith.open_tokens(folder)


class _Code:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.mkdir, ("made-by-a-pickle",)


def _nested() -> bytes:
    return b"\x80\x04" + b"]" * 100_000 + b"a" * 99_999 + b"."


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (pickle.dumps({"vocab_size": _Code()}), "holds an object, .*mkdir"),
        (pickle.dumps([1]), "no pickled dictionary"),
        (_nested(), "no pickled dictionary"),
        (b"", "is no pickle"),
        (b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f", "is no pickle"),
        (pickle.dumps({"vocab_size": 65})[:-1], "is no pickle"),
        (b"cos\nsystem\n(S'true'\ntR.", "holds an object, os.system"),
        (b"(lp0\ni\n.", "is no pickle"),
    ],
)
def test_pickles_of_nanogpt(
    content: bytes, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.bin").write_bytes(b"\1\0")
    (tmp_path / "meta.pkl").write_bytes(content)
    with pytest.raises(FormatError, match=rf"meta\.pkl: .*{reason}"):
        toksmith.open_tokens(tmp_path)
    assert not (tmp_path / "made-by-a-pickle").exists()


def _numpy(path: Path) -> None:
    np.save(path / "x.npy", np.arange(3))


FOREIGN: list[Callable[[Path], object]] = [
    _numpy,
    lambda path: (path / "pytorch_model.bin").write_bytes(b"PK\3\4\0\0\x08\x08" + bytes(8)),
    lambda path: (path / "old.bin").write_bytes(pickle.dumps(0x1950A86A20F9469CFC6C, 2)[:14]),
    lambda path: (path / "model.bin").write_bytes(b"GGUF\3\0\0\0" + bytes(8)),
    lambda path: (path / "gpt2.bin").write_bytes(struct.pack("<ii", 20240326, 3)),
    lambda path: (path / "hellaswag_val.bin").write_bytes(struct.pack("<ii", 20240522, 1)),
    lambda path: (path / "odd.bin").write_bytes(b"\1\0\1"),
    lambda path: [(path / f"x.{each}").write_bytes(b"12345678") for each in ("bin", "idx")],
    lambda path: (path / ".DS_Store").write_bytes(b"\0\0\0\1"),
    lambda path: (path / "lone.ds").write_bytes(b"\0\0\0\1"),
    lambda path: (path / "train.bin").mkdir(),
    lambda path: (path / "train.ds").mkdir(),
    lambda path: (path / "train.npy").mkdir(),
]


@pytest.mark.parametrize("number", range(len(FOREIGN)))
def test_foreign_files_are_no_token_files(number: int, tmp_path: Path) -> None:
    FOREIGN[number](tmp_path)
    assert [each for each in NAMES if format_of(each).find(tmp_path)] == []
    for file in tmp_path.iterdir():
        found = [each for each in FORMATS if format_of(each).find(file)]
        assert found == (["megatron"] if file.stem == "x" and file.suffix != ".npy" else [])
    with pytest.raises(FormatError, match="holds no token files"):
        toksmith.open_tokens(tmp_path)


class _Huge(Documents):
    """A document that is too long to be made."""

    @property
    def lengths(self) -> Any:
        return np.array([3, 1 << 31], np.int64)


def test_what_a_file_cannot_hold_is_refused_first(tmp_path: Path) -> None:
    source = _Huge([])
    with pytest.raises(OptionError, match=r"document 1 has 2,147,483,648 tokens.* below 2\^31"):
        format_of("megatron").write(source, tmp_path, Settings("train", 10))
    for size in (0, -1, 1 << 31):
        with pytest.raises(OptionError, match=r"llmc files hold 1 to 2\^31 - 1"):
            format_of("llmc").write(source, tmp_path, Settings("train", 10, shard_tokens=size))
    assert list(tmp_path.iterdir()) == []


def test_types_of_ids_are_checked(tmp_path: Path) -> None:
    np.array([1, 70_000], np.uint32).tofile(tmp_path / "train.bin")
    assert lists(read("nanogpt", tmp_path, dtype="uint32")) == [[1, 70_000]]
    with pytest.raises(OptionError, match="dtype is 'float16': use 'int8'"):
        read("nanogpt", tmp_path, dtype="float16")
    with pytest.raises(OptionError, match="eos is '</s>': use a whole number, the id of a token"):
        toksmith.open_tokens(tmp_path, eos="</s>")  # type: ignore[arg-type]
    (tmp_path / "train.bin").write_bytes(bytes(6))
    with pytest.raises(FormatError, match="has 6 bytes: ids of uint32"):
        read("nanogpt", tmp_path, dtype="uint32")


def test_tables_of_others(tmp_path: Path) -> None:
    ids = np.array([5, 6, 0, 7, 0], np.uint16)
    ids.tofile(tmp_path / "part-0-00000.npy")
    table = tmp_path / "part-0-00000.csv.gz"
    with gzip.open(table, "wt") as file:  # as OLMo-core writes it
        file.write("0,3\n3,5\n")
    assert lists(read("dolma", tmp_path)) == [[5, 6, 0], [7, 0]]
    for rows, reason in {
        "0,3,a\n4,5,b\n": "row 2: its documents are not end to end",
        "0,3\n3,2\n": "row 2: its documents are not end to end",
        "0,3\n3\n": "cannot be read",
        "0,x\n": "cannot be read",
        "0,3\n": "holds 5 tokens, but its index says 3",
        "0,99999999999999999999\n": "cannot be read",
    }.items():
        with gzip.open(table, "wt") as file:
            file.write(rows)
        with pytest.raises(FormatError, match=reason):
            read("dolma", tmp_path)
    table.unlink()
    assert lists(read("dolma", tmp_path)) == [[5, 6, 0], [7, 0]]
    assert lists(read("dolma", tmp_path, eos=None)) == [[5, 6, 0, 7, 0]]
