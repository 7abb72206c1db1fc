"""TOKSMITH_TRANSFORMERS in a new process, with a stub of transformers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import toksmith

SITE = Path(toksmith.__file__).parents[1]
"""The folder of the package, where ``toksmith.pth`` lies: site-packages, or ``src``."""

SHOW = """
import sys
print([type(finder).__name__ for finder in sys.meta_path].count("Finder"))
print(sorted(name for name in sys.modules if name.startswith("toksmith")))
import transformers.tokenization_utils_fast as stub
print(stub.VALUE, stub.__spec__.origin == stub.__file__)
"""


def run(code: str, value: str | None, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a new process, after the .pth files of ``SITE``."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(SITE)])}
    environment.pop("TOKSMITH_TRANSFORMERS", None)
    if value is not None:
        environment["TOKSMITH_TRANSFORMERS"] = value
    code = f"import site; site.addsitedir({str(SITE)!r})\n{code}"
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a transformers that has no class of fast tokenizers."""
    package = tmp_path / "transformers"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "tokenization_utils_fast.py").write_text("VALUE = 3\n")
    return tmp_path


@pytest.mark.parametrize("value", [None, "", "0"])
def test_nothing_happens_without_the_variable(value: str | None, folder: Path) -> None:
    done = run(SHOW, value, folder)
    assert done.stdout.splitlines() == ["0", "[]", "3 True"]
    assert done.stderr == ""


def test_a_failure_is_a_warning(folder: Path) -> None:
    done = run(SHOW, "1", folder)
    imported = "['toksmith', 'toksmith.compat', 'toksmith.compat.startup']"
    assert done.stdout.splitlines() == ["1", imported, "3 True"]
    assert "RuntimeWarning: TOKSMITH_TRANSFORMERS is set, but" in done.stderr
