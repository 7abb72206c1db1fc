"""Documents written and read again, whatever they are."""

from __future__ import annotations

import pickle
import tempfile
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.unit.tokenfiles.documents import Documents, lists, read, write
from toksmith.tokenfiles import source, token_files
from toksmith.tokenfiles.format import Settings
from toksmith.tokenfiles.formats import dolma, format_of, megatron

STORED = ["megatron", "datatrove", "dolma"]  # with bounds of documents
FOUND = ["nanogpt", "llmc"]  # with bounds at end-of-text ids
SIZES = st.none() | st.integers(1, 9)
PLAIN = st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=7)
TEXTS = st.lists(st.lists(st.integers(1, 9), max_size=5), max_size=7)


@pytest.fixture(autouse=True)
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few documents be more than one step."""
    monkeypatch.setattr(source, "_WINDOW", 3)
    monkeypatch.setattr(dolma, "_STEP", 3)
    for module in (token_files, megatron):
        monkeypatch.setattr(module, "STEP", 3)


def round_trip(
    name: str, documents: list[list[int]], size: int | None, vocab_size: int
) -> tuple[list[list[int]], int]:
    """Return the documents as they are read, and the number of files of ids."""
    with tempfile.TemporaryDirectory() as folder:
        written = write(name, documents, Path(folder), shard_tokens=size, vocab_size=vocab_size)
        found = read(name, Path(folder))
        assert found.num_tokens == sum(map(len, documents))
        assert found.lengths.tolist() == list(map(len, found))
        return lists(found), sum(each.endswith((".bin", ".ds", ".npy")) for each in written)


@pytest.mark.parametrize("name", STORED)
@given(documents=PLAIN, size=SIZES, vocab_size=st.sampled_from([10, 70_000]))
@example(documents=[], size=None, vocab_size=10)
@example(documents=[[], [], [], [], [1], [], [], [], []], size=1, vocab_size=10)
@settings(max_examples=40, deadline=None)
def test_with_stored_bounds(
    name: str, documents: list[list[int]], size: int | None, vocab_size: int
) -> None:
    assert round_trip(name, documents, size, vocab_size)[0] == documents


@pytest.mark.parametrize("name", FOUND)
@given(texts=TEXTS, size=SIZES)
@example(texts=[], size=None)
@example(texts=[[], [], []], size=1)
@example(texts=[[1] * 9], size=2)
@settings(max_examples=40, deadline=None)
def test_with_end_of_text_ids(name: str, texts: list[list[int]], size: int | None) -> None:
    documents = [[*text, 0] if name == "nanogpt" else [0, *text] for text in texts]
    found, files = round_trip(name, documents, size, 10)
    assert found == documents
    tokens = sum(map(len, documents))
    assert files == (max(1, -(-tokens // size)) if size and name == "llmc" else 1)


@pytest.mark.parametrize("name", STORED + FOUND)
def test_blocks_and_ranges_of_documents(name: str, tmp_path: Path) -> None:
    documents = [[1, 0], [2, 2, 0], [0], [3, 0]]
    if name == "llmc":
        documents = [[0, *each[:-1]] for each in documents]
    write(name, documents, tmp_path, shard_tokens=3)
    found = read(name, tmp_path)
    for first in range(5):
        for last in range(first, 5):
            assert found.ids(first, last).tolist() == [*chain(*documents[first:last])]
    blocks = list(found.blocks(5))
    assert [block.lengths.tolist() for block in blocks] == [[2, 3], [1, 2]]
    assert np.concatenate([block.ids for block in blocks]).tolist() == [*chain(*documents)]


@given(
    lengths=st.lists(st.integers(0, 5), max_size=12), size=st.integers(1, 12), reach=st.booleans()
)
def test_files_of_whole_documents(lengths: list[int], size: int, reach: bool) -> None:
    expected = []
    held: list[int] = []
    for number, length in enumerate(lengths):
        over = sum(lengths[each] for each in held) + (0 if reach else length) >= size
        if held and over:
            expected.append((held[0], number))
            held = []
        held.append(number)
    expected.append((held[0], len(lengths)) if held else (0, 0))
    found = list(source.ranges(np.array(lengths, np.int64), size, reach=reach))
    assert found == expected


@pytest.mark.parametrize("name", STORED)
def test_a_pickle_holds_neither_ids_nor_bounds(name: str, tmp_path: Path) -> None:
    documents = [[1, 2, 3]] * 3000
    write(name, documents, tmp_path)
    found = read(name, tmp_path)
    state = pickle.dumps(found)
    assert len(state) < (2000 if name != "dolma" else 8 * 3001 + 2000)
    assert lists(pickle.loads(state)) == documents


class Linked(Documents):
    """A source that has its ids in a file."""

    def save_ids(self, path: Path) -> None:
        path.write_bytes(b"linked")


@pytest.mark.parametrize("name", STORED)
def test_one_file_of_ids_is_taken_from_the_source(name: str, tmp_path: Path) -> None:
    chosen = format_of(name)
    source_of_ids = Linked([[1], [2]], chosen.dtype(1000))
    paths = chosen.write(source_of_ids, tmp_path, Settings("train", 1000))
    assert paths[0].read_bytes() == b"linked"
    for path in paths:
        path.unlink()
    several = chosen.write(source_of_ids, tmp_path, Settings("train", 1000, shard_tokens=1))
    assert (several[0].read_bytes() == b"linked") == (name == "megatron")
