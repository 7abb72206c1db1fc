"""tools/tests_never_run.py: tests that every environment skips."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import tests_never_run as tool

ONE = """<testsuites><testsuite>
<testcase classname="tests.a" name="test_x[1]"/>
<testcase classname="tests.a" name="test_y"><skipped message="torch is not installed"/></testcase>
<testcase classname="" name="tests.b"><skipped message="could not import 'b'"/></testcase>
<testcase classname="" name="tests.c"><skipped message="could not import 'c'"/></testcase>
</testsuite></testsuites>"""
TWO = """<testsuites><testsuite>
<testcase classname="tests.a" name="test_x[1]"><skipped message="x is not installed"/></testcase>
<testcase classname="tests.a" name="test_y"/>
<testcase classname="tests.b" name="test_z[1.5]"/>
<testcase classname="tests.b" name="test_java"><skipped message="needs Java"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def reports(tmp_path: Path) -> list[str]:
    paths = [tmp_path / "one.xml", tmp_path / "two.xml"]
    for path, text in zip(paths, (ONE, TWO), strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


def test_what_no_environment_ran(reports: list[str]) -> None:
    left = tool.never_run(Path(name) for name in reports)
    assert left == {"tests.c": "could not import 'c'", "tests.b.test_java": "needs Java"}


@pytest.mark.parametrize(("message", "code"), [("could not import 'c'", 1), ("needs Java", 0)])
def test_a_missing_package_fails(
    reports: list[str],
    message: str,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path(reports[0]).write_text(ONE.replace("could not import 'c'", message))
    monkeypatch.setattr("sys.argv", ["tests_never_run", *reports])
    assert tool.main() == code
    assert f"tests.c ran in no environment: {message}" in capsys.readouterr().out
