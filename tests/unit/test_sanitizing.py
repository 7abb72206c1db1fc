"""`make sanitize`: the tests it names exist, and it counts what ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sanitizing import FORKS, LEFT_OUT, reason
from tools import sanitize

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", [*LEFT_OUT, *sanitize.THREADED])
def test_the_tests_exist(name: str) -> None:
    path, *names = name.split("::")
    code = (ROOT / path).read_text(encoding="utf-8")
    assert all(f"def {part}" in code or f"class {part}" in code for part in names)


def test_only_what_is_named_is_left_out() -> None:
    gcc, clang = "/usr/lib/libasan.so", "/usr/lib/libclang_rt.asan-x86_64.so"
    assert "shadow memory" in reason("tests/cli/test_faults.py::test_too_little_memory", gcc)
    assert not reason("tests/cli/test_faults.py::test_full_disk", gcc)
    for name in FORKS:
        assert reason(name, gcc)
        assert not reason(name, clang)


def test_every_folder_of_tests_is_a_piece() -> None:
    pieces = sanitize.folders()
    for path in (ROOT / "tests").rglob("test_*.py"):
        name = path.relative_to(ROOT).as_posix()
        assert sum(name == piece or name.startswith(f"{piece}/") for piece in pieces) == 1, name


def test_outcomes_of_a_report(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").write_text(
        "<testsuites><testsuite><testcase/><testcase><failure/></testcase>"
        "<testcase><error/></testcase><testcase><skipped message='no such framework'/></testcase>"
        "<testcase><skipped message='left out: too slow'/></testcase></testsuite></testsuites>"
    )
    counted = list(sanitize.outcomes(tmp_path / "junit.xml"))
    assert counted == ["ran", "failed", "failed", "skipped", "left_out"]


def test_a_leak_has_as_many_blocks_as_rounds() -> None:
    stack = "\n    #0 malloc\n    #1 make (/x/_kernel.so+0x1)"
    leaks = [
        f"Direct leak of 3200 byte(s) in {blocks} object(s) allocated from:{stack}"
        for blocks in (1, sanitize.ROUNDS)
    ]
    leaks.append(leaks[1].replace("/_kernel.so+0x1", "/x/native/kernel/base/pages.hpp:7"))
    other = leaks[1].replace("/_kernel.", "/libpython.")
    report = "\n\n".join([*leaks, other])
    assert list(sanitize.leaks_of_rounds(report)) == leaks[1:]
    assert not sanitize.has_planted_leak(report)
    planted = f"Direct leak of {3 * sanitize.PLANTED} byte(s) in 3 object(s) allocated from:"
    assert sanitize.has_planted_leak(f"{report}\n\n{planted}")
