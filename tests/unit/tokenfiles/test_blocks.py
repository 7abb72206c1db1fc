"""Writers read documents in blocks; folders and columns of them are read back as they were."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.tokenfiles.documents import Documents, lists, read, write
from toksmith.tokenfiles.format import Settings
from toksmith.tokenfiles.formats import NAMES, format_of, parquet, webdataset
from toksmith.tokenfiles.source import TokenSource

IDS = st.integers(1, 60_000)
DOCUMENTS = st.lists(st.lists(IDS, min_size=1, max_size=20) | st.just([7] * 300), max_size=12)
FORMATS = ["mds", "litdata", "webdataset", "parquet", "arrow"]


def joined(documents: list[list[int]]) -> list[int]:
    return [each for document in documents for each in document]


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=20, deadline=None)
@given(
    documents=DOCUMENTS, empty=st.booleans(), shard=st.none() | st.integers(1, 50),
    first=st.integers(0, 12), last=st.integers(0, 12),
)  # fmt: skip
def test_documents_are_read_back(
    name: str, documents: list[list[int]], empty: bool, shard: int | None, first: int, last: int
) -> None:
    if empty and name != "mds":  # which drops empty documents
        documents = [[], *documents[:2], [], [], *documents[2:]]
    with tempfile.TemporaryDirectory() as folder:
        written = write(name, documents, Path(folder), vocab_size=60_001, shard_tokens=shard)
        assert written
        tokens = read(name, Path(folder))
        assert lists(tokens) == documents
        assert tokens.lengths.tolist() == [len(each) for each in documents]
        assert len(tokens) == len(documents)
        last = min(last, len(documents))
        first = min(first, last)
        assert tokens.ids(first, last).tolist() == joined(documents[first:last])
        assert tokens.ids(0, 0).dtype == tokens.dtype
        if documents:
            assert tokens[-1].tolist() == documents[-1]
        blocks = [block.ids.tolist() for block in tokens.blocks(30)]
        assert joined(blocks) == joined(documents)
        again = Path(folder) / "again"
        again.mkdir()
        assert write(name, documents, again, vocab_size=60_001, shard_tokens=shard) == written


@pytest.mark.parametrize("name", NAMES)
def test_writers_read_a_source_in_blocks(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer needs no more of a source at once than a block, and reads no document twice."""
    monkeypatch.setattr(TokenSource.blocks, "__defaults__", (1000,))
    monkeypatch.setattr(webdataset, "_BLOCK", 1000)
    monkeypatch.setattr(parquet, "_GROUP", 1000)
    ranges: list[tuple[int, int]] = []

    class Watched(Documents):
        def ids(self, first: int, last: int) -> object:
            ranges.append((first, last))
            return super().ids(first, last)

    chosen = format_of(name)
    documents = [[number] * 100 for number in range(1, 51)]
    chosen.write(Watched(documents, chosen.dtype(1000)), tmp_path, Settings("train", 1000))
    assert [end for _, end in ranges] == list(range(10, 51, 10))
    assert [start for start, _ in ranges] == list(range(0, 50, 10))


@pytest.mark.parametrize("name", NAMES)
def test_another_process_opens_the_files_again(name: str, tmp_path: Path) -> None:
    documents = [[number, 0] for number in range(1, 500)]
    write(name, documents, tmp_path)
    tokens = read(name, tmp_path)
    assert lists(tokens)[:2]  # what was read once is not copied
    pickled = pickle.dumps(tokens)
    assert lists(pickle.loads(pickled)) == lists(tokens)
    if name in ("parquet", "arrow"):
        assert len(pickled) < 1500


@pytest.mark.parametrize("name", NAMES)
def test_lengths_are_computed_a_few_times_for_any_number_of_files(
    name: str, tmp_path: Path
) -> None:
    """Of chained and shuffled sources, they are as many bytes as documents times eight."""
    calls = []

    class Counted(Documents):
        @property
        def lengths(self) -> Any:
            calls.append(name)
            return super().lengths

    chosen = format_of(name)
    documents = [[1, 2, 3, 0]] * 40
    source = Counted(documents, chosen.dtype(1000))
    written = chosen.write(source, tmp_path, Settings("train", 1000, shard_tokens=4))
    assert len(written) > 20 or name in ("megatron", "nanogpt")
    assert len(calls) <= 4
