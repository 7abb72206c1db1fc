"""Counts against a plain Counter, on any text and in any parts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from hypothesis import given
from hypothesis import strategies as st

from toksmith import Counts
from toksmith.engine.counting import ChunkCounter
from toksmith.splitters import splitter
from toksmith.stages.split_patterns import chunk_spans

WORDS = st.text("ab 'é\n1", max_size=12)
TEXTS = st.lists(st.lists(WORDS | st.text(max_size=8), max_size=6).map(" ".join), max_size=6)
SPLITS = st.sampled_from([None, "gpt2", "gpt4", "o200k", r"[ab]+"])


def counted(texts: list[str], split: str | None) -> Counter[bytes]:
    """Count in plain Python; a Counter keeps the order of first appearance."""
    chunks: Counter[bytes] = Counter()
    for text in texts:
        data = text.encode()
        chunks.update(data[a:b] for a, b in chunk_spans(splitter(split), data) if a < b)
    return chunks


@given(TEXTS, SPLITS, st.integers(1, 3))
def test_made(texts: list[str], split: str | None, threads: int) -> None:
    counts = Counts.from_texts(texts, split=split, threads=threads)
    assert list(counts) == list(counted(texts, split).items())
    assert counts.documents == len(texts)


@given(TEXTS, SPLITS, st.data())
def test_parts(texts: list[str], split: str | None, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(texts)), max_size=3)))
    bounds = zip([0, *cuts], [*cuts, len(texts)], strict=True)
    parts = [Counts.from_texts(texts[a:b], split=split) for a, b in bounds]
    first, *others = parts
    expected = list(counted(texts, split).items())
    assert list(sum(others, first)) == expected
    with TemporaryDirectory() as folder:
        paths = [Path(folder, str(number)) for number in range(len(parts))]
        for path, part in zip(paths, parts, strict=True):
            part.save(path)
        merged = Counts.merge(paths)
    assert (list(merged), merged.documents) == (expected, len(texts))


@given(st.dictionaries(st.binary(min_size=1, max_size=4), st.integers(0, 9)), st.integers(0, 9))
def test_filter_and_most_common(chunks: dict[bytes, int], least: int) -> None:
    counts = Counts.of(chunks)
    assert list(counts.filter(least)) == [(c, n) for c, n in chunks.items() if n >= least]
    assert counts.most_common() == Counter(chunks).most_common()
    assert counts.most_common(3) == Counter(chunks).most_common()[:3]


@given(TEXTS, SPLITS, st.integers(1, 3), st.integers(0, 3), st.integers(1, 5000))
def test_spilled(
    texts: list[str], split: str | None, threads: int, least: int, memory: int
) -> None:
    counter = ChunkCounter(splitter(split), threads)
    with TemporaryFile(buffering=0) as file:
        counter.spill_to(1, file.fileno())  # at every chance
        for text in texts:
            counter.add_texts([text])
        chunks, sizes = counter.merge(least, 1, memory)
        found = Counts(*counter.finish())
    expected = counted(texts, split)
    assert list(found) == [(chunk, n) for chunk, n in expected.items() if n >= least]
    if counter.spilled:
        assert (chunks.sum(), sizes.sum()) == (len(expected), sum(map(len, expected)))
        assert chunks[1] == sum(n == 1 for n in expected.values())
