"""Pieces of files: where they are cut, damaged records, errors, and fingerprints."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.processes import POSIX
from toksmith.corpus import Reading
from toksmith.corpus.blocks import Block, Damage
from toksmith.corpus.pieces import Piece, fingerprint, pieces, read_piece
from toksmith.errors import FormatError, OptionError


def texts(blocks: Iterator[Block]) -> list[bytes]:
    """Return the documents of blocks."""
    return [
        bytes(memoryview(block.data)[start:end])  # type: ignore[arg-type]
        for block in blocks
        for start, end in block.bounds.tolist()
    ]


def read(path: Path, reading: Reading, size: int = 1 << 28) -> list[bytes]:
    """Return the documents of all pieces of a file."""
    return [
        text for piece in pieces(path, reading, size) for text in texts(read_piece(piece, reading))
    ]


def save(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def save_parquet(path: Path, column: Any, rows: int = 2, name: str = "text") -> Path:
    parquet.write_table(
        pa.table({name: column, "id": range(len(column))}), path, row_group_size=rows
    )
    return path


class TestCutting:
    def test_json_lines(self, tmp_path: Path) -> None:
        path = save(tmp_path / "a.jsonl", '{"text": "a"}\n' * 5)
        found = pieces(path, Reading(), 30)
        assert found == [
            Piece(path, 0, 30, 30),
            Piece(path, 30, 60, 30),
            Piece(path, 60, 70, 10),
        ]
        assert [len(texts(read_piece(piece, Reading()))) for piece in found] == [3, 2, 0]

    @pytest.mark.parametrize(
        ("name", "reading"),
        [
            ("a.txt", Reading()),
            ("a.txt", Reading(separator="\n\n")),
            ("a.csv", Reading()),
            ("a.jsonl.gz", Reading()),
        ],
    )
    def test_files_that_stay_whole(self, tmp_path: Path, name: str, reading: Reading) -> None:
        data = b"text\n" + b"a\n" * 50
        path = save(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data)
        size = path.stat().st_size
        assert pieces(path, reading, 10) == [Piece(path, 0, size, size)]

    def test_parquet_by_row_groups(self, tmp_path: Path) -> None:
        path = save_parquet(tmp_path / "a.parquet", ["a", None, "b", "c", "", "é"])
        stored = path.stat().st_size
        single = pieces(path, Reading(), 1)
        assert [(piece.start, piece.end) for piece in single] == [(0, 1), (1, 2), (2, 3)]
        assert sum(piece.size for piece in single) == stored
        assert [texts(read_piece(piece, Reading())) for piece in single] == [
            [b"a"], [b"b", b"c"], [b"", "é".encode()],
        ]  # fmt: skip
        assert pieces(path, Reading()) == [Piece(path, 0, 3, stored)]
        assert sum(block.nulls for block in read_piece(single[0], Reading())) == 1

    def test_parquet_without_rows(self, tmp_path: Path) -> None:
        path = save_parquet(tmp_path / "a.parquet", pa.array([], pa.string()))
        assert read(path, Reading()) == []

    @pytest.mark.parametrize("separator", [None, "|"])
    def test_empty_files(self, tmp_path: Path, separator: str | None) -> None:
        path = save(tmp_path / "a.txt", b"")
        assert read(path, Reading(separator=separator)) == ([b""] if separator is None else [])

    def test_the_sample_is_that_of_the_file(self, tmp_path: Path) -> None:
        data = "".join(json.dumps({"text": f"text {i}"}) + "\n" for i in range(50))
        path = save(tmp_path / "a.jsonl", data)
        reading = Reading(sample=0.3, seed=4)
        whole = read(path, reading)
        assert 5 < len(whole) < 30
        assert read(path, reading, 100) == whole

    @pytest.mark.parametrize("options", [{"deduplicate": True}, {"weights": {"a.txt": 2.0}}])
    def test_options_over_all_pieces(self, tmp_path: Path, options: dict[str, Any]) -> None:
        with pytest.raises(OptionError, match="each piece of a corpus is read by itself"):
            pieces(save(tmp_path / "a.txt", b"a"), Reading(**options))

    @POSIX
    def test_a_pipe(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(FormatError, match="save its text to a file"):
            pieces(tmp_path / "pipe", Reading())


def check_damage(
    path: Path, reading: Reading, kept: list[bytes], number: int, reason: str, size: int = 1 << 28
) -> None:
    """Check that one record is damaged, and that reading without ``skip`` fails."""
    found: list[Damage] = []
    documents = []
    for piece in pieces(path, reading, size):
        documents += texts(read_piece(piece, reading, found.append))
    assert documents == kept
    (damage,) = found
    assert (damage.path, damage.number) == (path, number)
    assert reason in damage.reason
    with pytest.raises(FormatError):
        read(path, reading, size)


class TestDamage:
    @pytest.mark.parametrize("size", [1, 20, 1000])
    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            (b'{"text": ', "is not JSON"),
            (b'{"txt": "b"}', "has no field 'text'"),
            (b'{"text": 7}', "a string is wanted"),
            (b'{"text": ["b"]}', "has a list as its 'text': lists as documents are not supported"),
            (b'{"text": "\xff"}', "is not UTF-8 text"),
        ],
    )
    def test_json_lines(self, tmp_path: Path, line: bytes, reason: str, size: int) -> None:
        data = b'{"text": "a"}\n\n' + line + b'\n{"text": "c"}'
        path = save(tmp_path / "a.jsonl", data)
        check_damage(path, Reading(), [b"a", b"c"], 3, reason, size)

    @pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
    def test_text(self, tmp_path: Path, name: str) -> None:
        data = b"one\ntwo|three\n\xff|four|\n"
        path = save(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data)
        kept = [b"one\ntwo", b"four", b"\n"]
        check_damage(path, Reading(separator="|"), kept, 3, "is not UTF-8 text", 12)

    @pytest.mark.parametrize(
        ("row", "reason"), [(b"2", "column 'text' is missing"), (b"2,\xff", "is not UTF-8 text")]
    )
    def test_tables(self, tmp_path: Path, row: bytes, reason: str) -> None:
        path = save(tmp_path / "a.csv", b'id,text\n1,"a\nb"\n' + row + b"\n3,c\n")
        check_damage(path, Reading(), [b"a\nb", b"c"], 4, reason)

    def test_parquet(self, tmp_path: Path) -> None:
        column = pa.array([b"a", b"b", None, b"\xff", b"c"], pa.binary())
        path = save_parquet(tmp_path / "a.parquet", column)
        check_damage(path, Reading(), [b"a", b"b", b"c"], 4, "is not UTF-8 text", 1)

    def test_invalid_utf8_is_replaced(self, tmp_path: Path) -> None:
        path = save(tmp_path / "a.jsonl", b'{"text": "\xff"}\n')
        found: list[Damage] = []
        (piece,) = pieces(path, Reading(encoding_errors="replace"))
        assert texts(read_piece(piece, Reading(encoding_errors="replace"), found.append)) == [
            "\ufffd".encode()
        ]
        assert not found

    @pytest.mark.parametrize("name", ["a.jsonl.gz", "a.parquet", "a.csv"])
    def test_damaged_files_cannot_be_skipped(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / name
        if name == "a.parquet":
            save_parquet(path, ["a" * 100] * 10)
            data = bytearray(path.read_bytes())
            data[10:40] = bytes(30)
            save(path, bytes(data))
        elif name == "a.csv":
            save(path, b'text\n"a\n')
        else:
            save(path, gzip.compress(b'{"text": "a"}\n' * 9)[:-9])
        (piece,) = pieces(path, Reading())
        found: list[Damage] = []
        with pytest.raises(FormatError, match="This cannot be skipped"):
            texts(read_piece(piece, Reading(), found.append))
        assert not found


class TestSeveralFields:
    def test_a_list_of_fields(self) -> None:
        with pytest.raises(OptionError, match="several fields are not supported"):
            Reading(field=["title", "text"])  # type: ignore[arg-type]

    @pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
    def test_fields_with_commas(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / name
        if name == "a.parquet":
            save_parquet(path, ["a"])
        else:
            save(path, "id,text\n1,a\n" if name == "a.csv" else '{"id": 1, "text": "a"}\n')
        with pytest.raises(FormatError, match="several fields are not supported"):
            read(path, Reading(field="id, text"))
        with pytest.raises(FormatError, match=r"(?!.*several)has no"):
            read(path, Reading(field="id, url"))

    def test_a_column_of_lists(self, tmp_path: Path) -> None:
        path = save_parquet(tmp_path / "a.parquet", [["a", "b"]])
        with pytest.raises(FormatError, match="lists as documents are not supported"):
            read(path, Reading())


class TestFingerprint:
    def test_parts_of_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        data = bytearray(1 << 19)
        found = {fingerprint(save(path, bytes(data)))}
        for place in (0, 1 << 18, (1 << 19) - 1):
            data[place] = 1
            found.add(fingerprint(save(path, bytes(data))))
        found.add(fingerprint(save(path, bytes(data) + b"1")))
        assert len(found) == 5
        assert fingerprint(save(tmp_path / "b.txt", bytes(data) + b"1")) in found

    def test_small_files(self, tmp_path: Path) -> None:
        assert fingerprint(save(tmp_path / "a", b"")).startswith("0-e3b0c442")
        assert fingerprint(save(tmp_path / "a", b"a")) != fingerprint(save(tmp_path / "b", b"b"))

    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(FormatError, match="cannot be read"):
            fingerprint(tmp_path / "missing")
