"""Selections of many documents do not depend on memory, threads or the order of files."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.diverse_text import Generator
from toksmith import Counts

DOCUMENTS = 30_000


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two files of some 30,000 documents; 5,000 of the second are in the first as well."""
    folder = tmp_path_factory.mktemp("many")
    text = b"".join(Generator(None).blocks(0, 2_500_000)).replace(b"|", b"/")
    cuts = np.linspace(0, len(text), DOCUMENTS + 1).astype(int).tolist()
    parts = [text[start:end].decode("utf-8", "ignore") for start, end in pairwise(cuts)]
    paths = [folder / "a.txt", folder / "b.txt"]
    paths[0].write_text("|".join(parts[:17_500]), encoding="utf-8", newline="")
    paths[1].write_text("|".join(parts[12_500:]), encoding="utf-8", newline="")
    return paths


def counted(files: list[Path], **options: Any) -> Counts:
    return Counts.from_files(files, separator="|", **options)


@pytest.mark.parametrize(
    "options",
    [
        {"sample": 0.3, "seed": 7},
        {"deduplicate": True},
        {"deduplicate": "lines"},
        {"sample": 0.5, "deduplicate": True},
    ],
)
def test_memory_and_threads_change_nothing(files: list[Path], options: dict[str, Any]) -> None:
    weights = {files[1]: 2.5}
    one = counted(files, threads=1, weights=weights, **options)
    other = counted(files, threads=2, memory="20M", weights=weights, **options)
    assert [*one] == [*other]
    assert one.documents == other.documents


def test_a_sample_is_a_share_and_larger_ones_contain_it(files: list[Path]) -> None:
    total = counted(files).documents
    small, large = (counted(files, sample=share, seed=3, split=None) for share in (0.1, 0.2))
    assert abs(small.documents - 0.1 * total) < 0.007 * total
    assert abs(large.documents - 0.2 * total) < 0.01 * total
    assert not Counter(dict(small)) - Counter(dict(large))
    # a document and its copy are both in the sample, or neither is
    assert dict(small) == dict(counted(files[::-1], sample=0.1, seed=3, split=None))


def test_a_weight_multiplies_the_counts_of_its_file(files: list[Path]) -> None:
    first, second = (dict(counted([path])) for path in files)
    weighted = dict(counted(files, weights={files[0]: 0.25, files[1]: 3}))
    expected = {
        chunk: (first.get(chunk, 0) + 12 * second.get(chunk, 0) + 2) // 4
        for chunk in first | second
    }
    assert weighted == {chunk: count for chunk, count in expected.items() if count}


def test_copies_in_another_file_are_left_out(files: list[Path]) -> None:
    found = counted(files, deduplicate=True, split=None, memory="20M")
    everything = counted(files, split=None)
    assert len(found) == len(everything)
    assert set(dict(found).values()) == {1}
