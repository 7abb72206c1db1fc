"""Samples of texts: spread evenly, of bounded size, and independent of how the text is read."""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toksmith.corpus.text_sample import TextSample, sample_size


def fed(documents: list[bytes], size: int, blocks: int = 1) -> TextSample:
    """Return a sample of documents that come in a number of blocks."""
    sample = TextSample(size)
    cuts = np.linspace(0, len(documents), blocks + 1).astype(int).tolist()
    for first, last in pairwise(cuts):
        ends = [*accumulate(map(len, documents[first:last]), initial=0)]
        bounds = np.array([*pairwise(ends)], np.int64).reshape(-1, 2)
        sample.add(b"".join(documents[first:last]), bounds)
    return sample


TEXT = "".join(f"word{i} grün 語{i % 7}語 \n" for i in range(40_000)).encode()


@pytest.mark.parametrize("size", [300, 4096, 1 << 15])
def test_a_text_of_at_most_the_size_is_held_whole(size: int) -> None:
    for length in (0, 1, size // 2, size // 256 * 256 // 2 * 2):
        assert b"".join(fed([TEXT[:length]], size).documents()) == TEXT[:length]
    document = TEXT[: size // 2]
    assert fed([document], size).documents() == [document]


def test_a_sample_is_spread_evenly_and_starts_and_ends_between_words() -> None:
    found = fed([TEXT], 1 << 16).documents()
    size = sum(map(len, found))
    assert 1 << 14 < size <= 1 << 16
    places = [TEXT.index(text.decode().encode()) for text in found]  # valid UTF-8, in the text
    distances = np.diff(places)
    assert distances.min() > 0.9 * distances.mean()
    assert places[-1] > 0.9 * len(TEXT)
    for place, text in zip(places, found, strict=True):
        after = place + len(text)
        assert place == 0 or TEXT[place : place + 1] in b" \n"
        assert after == len(TEXT) or TEXT[after : after + 1] in b" \n"


def test_text_without_spaces_is_cut_between_characters() -> None:
    text = "語言模型".encode() * 30_000
    found = fed([text], 1 << 14).documents()
    assert len(found) > 10
    for part in found:
        part.decode()


@given(st.lists(st.binary(max_size=400).map(lambda b: b.hex().encode()), max_size=60), st.data())
def test_blocks_do_not_change_the_sample(documents: list[bytes], data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([256, 512, 2000, 8192]))
    blocks = data.draw(st.integers(1, 8))
    one, other = fed(documents, size), fed(documents, size, blocks)
    assert one.documents() == other.documents() == one.documents()
    assert sum(map(len, one.documents())) <= max(size, 512)
    if sum(map(len, documents)) <= size // 2:
        assert one.documents() == [text for text in documents if text]


def test_the_sample_of_a_corpus_is_bounded() -> None:
    for files in (1, 4, 100, 10_000):
        for size in (None, 0, 10**6, 10**9, 10**13):
            assert files * sample_size(files, size) <= max(1 << 22, 256 * files)
