"""A corpus has the counts of its text, in any storage and any block size."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from tests.counting import PLAIN, same
from tests.strategies import texts
from toksmith._base.documents import document_bounds
from toksmith.corpus import Files, Reading
from toksmith.corpus.blocks import Block, cut_bounds, split_stream
from toksmith.corpus.text_reader import text_blocks
from toksmith.engine.counting import ChunkCounter, LineCounter
from toksmith.splitters import splitter

MAKERS: dict[str, Callable[[], ChunkCounter | LineCounter]] = {
    **{
        name: lambda name=name: ChunkCounter(splitter(name), 1)
        for name in ("gpt2", "gpt4", "o200k")
    },  # type: ignore[misc]
    "lines": lambda: LineCounter(2),
    "plain lines": lambda: LineCounter(2, plain=PLAIN),
}


@settings(max_examples=60, deadline=None)
@given(
    data=st.binary(max_size=60)
    | st.text(max_size=80).map(lambda text: text.encode("utf-8", "replace")),
    separator=st.none() | st.sampled_from([b"\n", b"aa", "é".encode(), b" a "]),
    sizes=st.lists(st.integers(1, 20), min_size=1, max_size=6),
    most=st.integers(1, 40),
    name=st.sampled_from(sorted(MAKERS)),
)
def test_streams_are_split_as_files_are(
    data: bytes, separator: bytes | None, sizes: list[int], most: int, name: str
) -> None:
    def parts():  # type: ignore[no-untyped-def]
        start, turn = 0, 0
        while start < len(data):
            end = start + sizes[turn % len(sizes)]
            yield data[start:end], end
            start, turn = end, turn + 1

    bounds = document_bounds(data, None if separator is None else separator.decode())
    whole, streamed = MAKERS[name](), MAKERS[name]()
    whole.add_slices(data, bounds)
    documents = 0
    for block in split_stream(parts(), separator, streamed.cut, most):
        streamed.add_slices(block.data, block.bounds)
        documents += block.documents
    assert documents == len(bounds)
    assert same(whole, streamed)


@settings(max_examples=60, deadline=None)
@given(
    data=st.binary(max_size=60)
    | st.text(max_size=80).map(lambda text: text.encode("utf-8", "replace")),
    separator=st.none() | st.sampled_from(["\n", "aa", "é", " a "]),
    size=st.integers(1, 40),
    can_cut=st.booleans(),
    name=st.sampled_from(sorted(MAKERS)),
)
def test_files_are_read_block_by_block(
    data: bytes, separator: str | None, size: int, can_cut: bool, name: str
) -> None:
    bounds = document_bounds(data, separator)
    whole, read = MAKERS[name](), MAKERS[name]()
    whole.add_slices(data, bounds)
    documents = done = 0
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.txt")
        path.write_bytes(data)
        for block in text_blocks(path, separator, read.cut if can_cut else None, size):
            read.add_slices(block.data, block.bounds)
            documents += block.documents
            done = block.done
    assert documents == len(bounds)
    assert done == len(data) or separator is not None
    assert same(whole, read)


@settings(max_examples=15, deadline=None)
@given(documents=st.lists(texts, max_size=6), streamed=st.integers(1, 50))
def test_all_kinds_of_files_count_alike(documents: list[str], streamed: int) -> None:
    documents = [text.encode("utf-8", "replace").decode() for text in documents]
    whole = ChunkCounter(splitter("gpt4"), 1)
    whole.add_texts(documents)
    wanted = whole.finish()
    with TemporaryDirectory() as folder:
        lines = "".join(json.dumps({"text": text}) + "\n" for text in documents).encode()
        paths = [Path(folder, name) for name in ("a.jsonl", "a.jsonl.gz", "a.parquet")]
        paths[0].write_bytes(lines)
        paths[1].write_bytes(gzip.compress(lines))
        table = pa.table({"text": pa.array(documents, pa.string())})
        parquet.write_table(table, paths[2], row_group_size=2)
        for path in paths:
            counter = ChunkCounter(splitter("gpt4"), 1)
            files = Files(path, Reading(), streamed=streamed)
            assert files.feed(counter, lambda done: None) == len(documents)
            for want, have in zip(wanted, counter.finish(), strict=True):
                assert np.array_equal(want, have)


@settings(max_examples=30, deadline=None)
@given(lengths=st.lists(st.integers(0, 60), max_size=8), block=st.integers(1, 12))
def test_long_documents_are_cut_in_order(lengths: list[int], block: int) -> None:
    from toksmith.corpus import blocks

    ends = np.cumsum(lengths, dtype=np.int64)
    bounds = np.stack([ends - lengths, ends], axis=1).reshape(-1, 2)
    data = bytes(range(97, 107)) * (int(ends[-1]) // 10 + 1 if lengths else 0)

    def cut(text: object, start: int, end: int) -> int:
        return min(start + start % 3, end)

    before, blocks.BLOCK = blocks.BLOCK, block
    try:
        found = [*cut_bounds(Block(data, bounds, len(bounds), 0), cut)]
    finally:
        blocks.BLOCK = before
    pieces = [piece for part in found for piece in part.tolist()]
    assert b"".join(data[a:b] for a, b in pieces) == data[: int(ends[-1]) if lengths else 0]
    assert all(a[1] == b[0] for a, b in pairwise(pieces))
    assert {end for _, end in bounds.tolist()} <= {end for _, end in pieces}
