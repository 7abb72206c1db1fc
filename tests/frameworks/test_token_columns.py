"""Parquet and Arrow files of tokens, read by ``datasets`` and written by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.tokenfiles.documents import lists, read, write

datasets = pytest.importorskip("datasets", reason="datasets is not installed")

pytestmark = pytest.mark.filterwarnings("ignore")

DOCUMENTS = [[5, 6, 7], [], [100_000], [1] * 500, [2]]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_files_are_loaded(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "tokens"
    folder.mkdir()
    write(name, DOCUMENTS, folder, shard_tokens=4)
    write(name, [[9]], folder, stem="val")
    (folder / "token-manifest.json").write_text('{"format": "a file that is no data"}')
    files = str(folder / f"train-*.{name}")
    by_name = datasets.load_dataset(name, data_files=files, split="train")
    by_folder = datasets.load_dataset(str(folder))
    assert by_name["input_ids"][:] == by_folder["train"]["input_ids"][:] == DOCUMENTS
    assert by_folder["validation"]["input_ids"][:] == [[9]]
    assert list(by_name.features) == ["input_ids"]
    assert by_name.features["input_ids"].feature.dtype == "int32"
    streamed = datasets.load_dataset(name, data_files=files, split="train", streaming=True)
    assert [each["input_ids"] for each in streamed] == DOCUMENTS


def test_arrow_is_mapped_into_memory(tmp_path: Path) -> None:
    write("arrow", DOCUMENTS, tmp_path)
    found = datasets.Dataset.from_file(str(tmp_path / "train-00000-of-00001.arrow"))
    assert found["input_ids"][:] == DOCUMENTS


def test_rows_are_tensors(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    write("parquet", DOCUMENTS, tmp_path)
    found = datasets.load_dataset("parquet", data_files=str(tmp_path / "*.parquet"), split="train")
    row = found.with_format("torch")[0]["input_ids"]
    assert row.dtype == torch.int64
    assert row.tolist() == [5, 6, 7]


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_files_of_datasets_are_read(name: str, tmp_path: Path) -> None:
    columns: dict[str, Any] = {"input_ids": DOCUMENTS, "attention_mask": [[1]] * 5}
    made = datasets.Dataset.from_dict(columns)
    if name == "parquet":
        made.to_parquet(str(tmp_path / "a.parquet"))
    else:
        made.save_to_disk(str(tmp_path))
    found = read(name, tmp_path)
    assert lists(found) == DOCUMENTS
    assert found.dtype == "int32"  # which datasets takes for columns of this name
