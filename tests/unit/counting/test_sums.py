"""Training from files of counts, which need not fit into memory."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith import Counts, CountsFile
from toksmith.errors import OptionError


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("counts")
    paths = []
    for seed in range(3):
        rng = random.Random(seed)
        words = ["".join(rng.choices("abcdefg", k=rng.randint(1, 9))) for _ in range(30_000)]
        paths.append(folder / f"{seed}.counts")
        Counts.from_texts([" ".join(words)]).save(paths[-1])
    return paths


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("options", [{}, {"unit": "characters"}, {"min_count": 2}], ids=str)
def test_files_train_as_their_sum(files: list[Path], number: int, options: dict[str, Any]) -> None:
    chosen = files[:number]
    wanted = toksmith.train(counts=Counts.merge(chosen), vocab_size=600, **options)
    for memory in (None, "1M", "1G"):
        found = toksmith.train(
            counts=[CountsFile(path) for path in chosen], vocab_size=600, memory=memory, **options
        )
        assert found.pipeline == wanted.pipeline
        assert found.training is not None
        assert wanted.training is not None
        for name in ("documents", "bytes", "chunks", "tokens"):
            assert getattr(found.training, name) == getattr(wanted.training, name)


def test_one_file_and_a_checkpoint(files: list[Path], tmp_path: Path) -> None:
    wanted = toksmith.train(counts=Counts.load(files[0]), vocab_size=600)
    for _ in range(2):
        found = toksmith.train(
            counts=CountsFile(files[0]), vocab_size=600, checkpoint=tmp_path / "kept"
        )
        assert found.pipeline == wanted.pipeline
    with pytest.raises(OptionError, match="of another training"):
        toksmith.train(counts=CountsFile(files[1]), vocab_size=600, checkpoint=tmp_path / "kept")


def test_wrong_counts(files: list[Path], tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="use Counts, such as"):
        toksmith.train(counts=[files[0]], vocab_size=600)  # type: ignore[list-item]
    with pytest.raises(OptionError, match="empty list"):
        toksmith.train(counts=[], vocab_size=600)
    other = tmp_path / "other.counts"
    Counts.from_texts(["a b"], split="words").save(other)
    with pytest.raises(OptionError, match="counts of different splitters"):
        toksmith.train(counts=[CountsFile(files[0]), CountsFile(other)], vocab_size=600)
