"""Documents written in each format are read back: whole, in ranges, one at a time."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.tokenfiles.documents import Documents, lists, read, write
from toksmith.tokenfiles.format import Settings
from toksmith.tokenfiles.formats import NAMES, format_of

IDS = st.integers(1, 60_000)
DOCUMENTS = st.lists(st.lists(IDS, min_size=1, max_size=20) | st.just([7] * 300), max_size=12)
UNFRAMED = {"mds", "litdata", "webdataset", "parquet", "arrow", "datatrove", "megatron", "dolma"}
"""The formats that store the bounds of documents."""


def joined(documents: list[list[int]]) -> list[int]:
    return [each for document in documents for each in document]


def test_all_formats_are_tested() -> None:
    assert set(NAMES) == UNFRAMED | {"nanogpt", "llmc"}


@pytest.mark.parametrize("name", sorted(UNFRAMED))
@settings(max_examples=25)
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
def test_writers_read_a_source_in_blocks(name: str, tmp_path: Path) -> None:
    """A writer needs no more of a source at once than a block, and reads no document twice."""
    ranges: list[tuple[int, int]] = []

    class Watched(Documents):
        def ids(self, first: int, last: int) -> object:
            ranges.append((first, last))
            return super().ids(first, last)

    chosen = format_of(name)
    documents = [[number] * 100_000 for number in range(1, 51)]
    chosen.write(Watched(documents, chosen.dtype(1000)), tmp_path, Settings("train", 1000))
    starts = [first for first, _ in ranges]
    assert starts == sorted(set(starts))
    assert max(last - first for first, last in ranges) < 45
    assert sum(last - first for first, last in ranges) == 50
