"""How many threads work: the caller's number, or the cores that this process may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toksmith._base import threads
from toksmith._base.threads import thread_count
from toksmith.errors import OptionError


@pytest.fixture
def quota(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the control group's limit stands; six of the machine's cores may be used."""
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 5, 6, 7}, raising=False)
    monkeypatch.setattr(threads, "_QUOTA", tmp_path / "cpu.max")
    return tmp_path / "cpu.max"


@pytest.mark.parametrize(
    ("limit", "cores"),
    [
        ("400000 100000", 4),
        ("350000 100000", 3),  # whole cores
        ("50000 100000", 1),  # half a core is one thread
        ("900000 100000", 6),
        ("max 100000", 6),
        ("", 6),
    ],
)
def test_cores_are_those_that_may_be_used(quota: Path, limit: str, cores: int) -> None:
    quota.write_text(limit)
    assert thread_count(None) == cores


def test_without_control_groups_affinity_counts(quota: Path) -> None:
    assert not quota.exists()
    assert thread_count(None) == 6


def test_the_argument_overrides_the_detected_number(quota: Path) -> None:
    quota.write_text("100000 100000")
    assert thread_count(9, size=1) == 9


def test_short_texts_take_one_thread(quota: Path) -> None:
    assert not quota.exists()
    assert [thread_count(None, size) for size in (0, 65_535, 65_536)] == [1, 1, 6]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2"])
def test_no_number_of_threads(wrong: object) -> None:
    with pytest.raises(OptionError, match="threads"):
        thread_count(wrong)  # type: ignore[arg-type]
