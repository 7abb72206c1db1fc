"""A killed training, run again, ends with the same bytes, whatever the model."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import training_kills

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return training_kills.write_corpus(tmp_path_factory.mktemp("corpus"), 200_000, 2)


@pytest.mark.parametrize("model", training_kills.MODELS)
def test_killed_trainings_end_in_equal_files(files: list[Path], tmp_path: Path, model: str) -> None:
    training_kills.train_trial(files, tmp_path, model, kills=1)


def test_killed_counts_are_equal(files: list[Path], tmp_path: Path) -> None:
    training_kills.counts_trial(files[:1], tmp_path, kills=1)
