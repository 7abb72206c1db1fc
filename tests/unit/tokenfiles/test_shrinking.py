"""Token files that become shorter while they are open: an error that names the file, not SIGBUS."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.unit.tokenfiles.documents import read, write
from toksmith.errors import FormatError
from toksmith.tokenfiles import pack
from toksmith.tokenfiles.formats import NAMES
from toksmith.tokenfiles.packing.index import PackIndex
from toksmith.tokenfiles.token_files import TokenFiles

DOCUMENTS = [[0, *range(1, 900)]] * 20
SHORTER = r"(became shorter since it was opened|cannot be read|ends within)"

READS: dict[str, Callable[[TokenFiles], object]] = {
    "one": lambda tokens: tokens[3],
    "several": lambda tokens: tokens.ids(1, 5),
    "each": lambda tokens: tokens.each(np.array([7, 2])),
    "all": lambda tokens: [*tokens],
    "blocks": lambda tokens: [*tokens.blocks(2000)],
}


def opened(name: str, folder: Path) -> tuple[TokenFiles, list[Path]]:
    """Return open token files, and the files."""
    if name in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    write(name, DOCUMENTS, folder, tokenizer_name="t")
    return read(name, folder), [file for file in folder.rglob("*") if file.is_file()]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", READS)
def test_a_file_that_becomes_empty(name: str, how: str, tmp_path: Path) -> None:
    tokens, files = opened(name, tmp_path)
    if name != "parquet":  # which keeps the rows that it reads
        assert tokens.lengths.sum() == 20 * 900  # the bounds of documents are known
    for file in files:
        os.truncate(file, 0)
    with pytest.raises(FormatError, match=SHORTER) as caught:
        READS[how](tokens)
    assert Path(caught.value.path).resolve() in [file.resolve() for file in files]


@pytest.mark.parametrize("name", NAMES)
def test_before_the_bounds_of_documents_are_read(name: str, tmp_path: Path) -> None:
    tokens, files = opened(name, tmp_path)
    for file in files:
        os.truncate(file, 0)
    with pytest.raises(FormatError, match=SHORTER):
        print(tokens.lengths, tokens[3])


@pytest.mark.parametrize("name", ["megatron", "datatrove"])
def test_an_index_alone(name: str, tmp_path: Path) -> None:
    tokens, files = opened(name, tmp_path)
    index = next(file for file in files if file.suffix in (".idx", ".index"))
    os.truncate(index, index.stat().st_size - 1)
    with pytest.raises(FormatError, match=rf"{index.name}: became shorter .* open it again"):
        print(tokens[3])


def test_another_file_of_a_set_can_be_read(tmp_path: Path) -> None:
    write("megatron", DOCUMENTS, tmp_path, stem="a")
    write("megatron", DOCUMENTS, tmp_path, stem="b")
    tokens = read("megatron", tmp_path)
    assert tokens.num_tokens == 40 * 900
    os.truncate(tmp_path / "b_text_document.bin", 100)
    assert [len(ids) for ids in tokens.each(np.array([3, 5]))] == [900, 900]
    with pytest.raises(FormatError, match=r"b_text_document\.bin: became shorter"):
        tokens.each(np.array([3, 25]))


def test_a_file_that_grows_or_is_replaced(tmp_path: Path) -> None:
    tokens, _ = opened("megatron", tmp_path)
    file = tmp_path / "train_text_document.bin"
    os.truncate(file, file.stat().st_size + 5000)
    assert len(tokens[3]) == 900
    other = tmp_path / "other"
    other.write_bytes(b"")
    other.replace(file)  # the map is of the old file
    assert len(tokens[3]) == 900


def test_in_a_worker_process(tmp_path: Path) -> None:
    tokens, _ = opened("megatron", tmp_path)
    file = tmp_path / "train_text_document.bin"
    held = pickle.dumps(tokens)
    os.truncate(file, 100)
    with pytest.raises(FormatError, match=r"from 36,000 to 100 bytes"):
        pickle.loads(held)
    file.unlink()
    with pytest.raises(FormatError, match=r"cannot be read: No such file"):
        pickle.loads(held)


def test_the_index_of_packed_rows(tmp_path: Path) -> None:
    tokens, _ = opened("megatron", tmp_path)
    path = tmp_path / "a.pack"
    pack(tokens, length=1000).save(path)
    rows = tokens.packed(PackIndex.load(path))
    assert len(rows[0].ids) == 900
    os.truncate(path, 0)
    with pytest.raises(FormatError, match=r"a\.pack: became shorter"):
        print(rows[0])
