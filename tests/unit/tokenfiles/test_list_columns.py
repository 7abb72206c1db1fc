"""Token files of lists in Parquet and Arrow, read with pyarrow and written by it."""

from __future__ import annotations

import random
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import toksmith
from tests.unit.tokenfiles.documents import Documents, lists, read, write
from toksmith.errors import FormatError, MissingExtraError
from toksmith.tokenfiles.format import Settings
from toksmith.tokenfiles.formats import format_of

DOCUMENTS = [[5, 6], [], [7, 100_000, 0]]
FACTS = (
    b'{"tokenizer": "gpt2", "tokenizer_hash": "ab12", "vocab_size": 1000, "dtype": "int32", '
    b'"eos": 0, "sequence_length": null}'
)
SETTINGS = {"tokenizer_name": "gpt2", "tokenizer_hash": "ab12", "eos": 0}


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_files_hold_lists_and_facts(name: str, tmp_path: Path) -> None:
    written = write(name, DOCUMENTS, tmp_path, shard_tokens=3, **SETTINGS)
    assert list(written) == [f"train-0000{n}-of-00002.{name}" for n in (0, 1)]
    first = tmp_path / f"train-00000-of-00002.{name}"
    table = pq.read_table(first) if name == "parquet" else pa.ipc.open_stream(first).read_all()
    assert table.schema.field("input_ids").type == pa.list_(pa.int32())
    assert table.schema.metadata == {b"toksmith": FACTS}
    assert table.to_pydict() == {"input_ids": [[5, 6], []]}
    tokens = read(name, tmp_path)
    assert lists(tokens) == DOCUMENTS
    assert tokens.dtype == np.int32
    assert tokens.metadata["tokenizer_hash"] == "ab12"
    assert lists(read(name, first)) == DOCUMENTS[:2]


def test_row_groups_of_parquet_hold_a_limited_number_of_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toksmith.tokenfiles.formats.parquet._GROUP", 4)
    documents = [[1, 2], [3], [4, 5], [6] * 9, [], [7]]
    write("parquet", documents, tmp_path)
    file = pq.ParquetFile(tmp_path / "train-00000-of-00001.parquet")
    groups = [file.metadata.row_group(n) for n in range(file.metadata.num_row_groups)]
    assert [each.num_rows for each in groups] == [2, 1, 1, 2]
    assert {each.column(0).compression for each in groups} == {"ZSTD"}
    assert not any(
        "DICTIONARY" in encoding for each in groups for encoding in each.column(0).encodings
    )
    tokens = read("parquet", tmp_path)
    assert lists(tokens) == documents
    assert tokens.ids(1, 5).tolist() == [3, 4, 5, *[6] * 9]
    assert tokens.lengths.tolist() == [2, 1, 2, 9, 0, 1]


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_no_documents_are_one_file_without_rows(name: str, tmp_path: Path) -> None:
    assert list(write(name, [], tmp_path)) == [f"train-00000-of-00001.{name}"]
    assert lists(read(name, tmp_path)) == []


def save(name: str, path: Path, table: pa.Table, *, footer: bool = False) -> None:
    if name == "parquet":
        pq.write_table(table, path)
        return
    with path.open("wb") as file:
        kind = pa.ipc.new_file if footer else pa.ipc.new_stream
        with kind(file, table.schema) as writer:
            writer.write_table(table)


@pytest.mark.parametrize("name", ["parquet", "arrow"])
@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (pa.list_(pa.int64()), "int64"),
        (pa.large_list(pa.uint16()), "uint16"),
        (pa.list_(pa.uint32(), 2), "uint32"),
    ],
)
def test_files_of_other_programs(name: str, kind: pa.DataType, dtype: str, tmp_path: Path) -> None:
    column = pa.array([[1, 2], [3, 4]], kind)
    table = pa.table({"text": ["a", "b"], "input_ids": column, "length": [2, 2]})
    save(name, tmp_path / f"a.{name}", table)
    tokens = read(name, tmp_path)
    assert lists(tokens) == [[1, 2], [3, 4]]
    assert tokens.dtype == dtype
    assert tokens.metadata == {}


def test_arrow_with_a_footer(tmp_path: Path) -> None:
    save("arrow", tmp_path / "a.arrow", pa.table({"tokens": [[1], [2, 3]]}), footer=True)
    assert lists(read("arrow", tmp_path)) == [[1], [2, 3]]


@pytest.mark.parametrize("name", ["parquet", "arrow"])
@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"text": ["a"]}, "has columns text: input_ids or tokens expected"),
        ({"input_ids": [1]}, "column input_ids is int64: lists of integers expected"),
        ({"input_ids": [[1.5]]}, "lists of integers expected"),
        ({"input_ids": [[1], None]}, "missing values in its column input_ids"),
        ({"input_ids": [[1, None]]}, "missing values in its column input_ids"),
    ],
)
def test_wrong_columns(
    name: str, columns: dict[str, list[object]], reason: str, tmp_path: Path
) -> None:
    path = tmp_path / f"a.{name}"
    save(name, path, pa.table(columns))
    with pytest.raises(FormatError, match=reason) as wrong:
        lists(read(name, tmp_path))
    assert wrong.value.path == str(path)


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_files_of_several_types(name: str, tmp_path: Path) -> None:
    for number, kind in enumerate((pa.int32(), pa.int64())):
        table = pa.table({"input_ids": pa.array([[1]], pa.list_(kind))})
        save(name, tmp_path / f"{number}.{name}", table)
    with pytest.raises(FormatError, match="holds ids of int32 and int64"):
        read(name, tmp_path)


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_without_pyarrow(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(name, DOCUMENTS, tmp_path)
    for module in ("pyarrow", "pyarrow.ipc", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    assert format_of(name).extra == "arrow"
    assert format_of(name).find(tmp_path)
    with pytest.raises(MissingExtraError, match=r"pip install toksmith\[arrow\]"):
        read(name, tmp_path)
    with pytest.raises(MissingExtraError, match=r"pip install toksmith\[arrow\]"):
        format_of(name).write(Documents([[1]], "int32"), tmp_path, Settings("val", 2))


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_folders_of_splits(name: str, tmp_path: Path) -> None:
    for split, document in (("test", [1]), ("train", [2])):
        (tmp_path / split).mkdir()
        save(name, tmp_path / split / f"data-00000.{name}", pa.table({"input_ids": [document]}))
    assert lists(read(name, tmp_path)) == [[1], [2]]
    assert lists(read(name, tmp_path / "train")) == [[2]]


def test_results_of_datasets_beside_arrow_files_are_left_out(tmp_path: Path) -> None:
    save("arrow", tmp_path / "data-00000-of-00001.arrow", pa.table({"input_ids": [[1]]}))
    save("arrow", tmp_path / "cache-5c3f.arrow", pa.table({"indices": [0]}))
    assert lists(read("arrow", tmp_path)) == [[1]]


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_a_missing_package_is_found_before_any_work(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("low")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install toksmith\[arrow\]"):
        toksmith.tokenize_corpus(
            corpus, tokenizer="toksmith-small", format=name, output=tmp_path / "out", progress=False
        )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_documents_are_read_by_several_threads(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toksmith.tokenfiles.formats.parquet._GROUP", 50)
    write(name, [[number] * 5 for number in range(150)], tmp_path)
    tokens = read(name, tmp_path)
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            numbers = [random.Random(each).sample(range(150), 150) for each in range(4)]
            found = pool.map(lambda row: [tokens[each].tolist() for each in row], numbers)
            assert list(found) == [[[each] * 5 for each in row] for row in numbers]
    finally:
        sys.setswitchinterval(switching)
