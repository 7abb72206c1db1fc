"""The documentation: its snippets and all doctests run and print the shown output.

The blocks of a page (README.md, docs/**/*.md) run in their order and in one folder; what the words
after their language mean is in ``tools/doc_pages.py``. Python with ``>>>`` is a doctest. In a
console block, lines after ``$ command`` are what it must print; ``...`` is any text.
"""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import toksmith
from tests.conftest import SHARED
from toksmith.errors import DownloadError, MissingExtraError
from tools.doc_pages import Snippet, shown_page, snippets

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = [
    "toksmith",
    *(
        module.name
        for module in pkgutil.walk_packages(toksmith.__path__, "toksmith.")
        if module.name.rpartition(".")[2] not in {"_kernel", "__main__"}
    ),
]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s#]+)[^)]*\)")
CHECKS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PUBLISHED = {"r50k_base": "gpt2", "cl100k_base": "cl100k_base", "o200k_base": "o200k_base"}
COURSE = ROOT / "docs/course"


class Finder(doctest.DocTestFinder):
    """Finds the examples of cached properties, too, which doctest leaves out."""

    def _from_module(self, module: Any, object: Any) -> bool:  # noqa: A002 - doctest's name
        if isinstance(object, cached_property):
            object = object.func  # noqa: A001
        return bool(super()._from_module(module, object))  # type: ignore[misc]


class Checker(doctest.OutputChecker):
    """Compares output as Python prints it: doctest escapes both sides, so ð would equal \\xf0."""

    def _toAscii(self, text: str) -> str:  # noqa: N802 - doctest's name
        return text


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in; published vocabularies come from the shared data."""
    page, cache = tmp_path / "page", tmp_path / "cache"
    page.mkdir()
    cache.mkdir()
    for name, file in PUBLISHED.items():
        if (source_file := SHARED / f"data/vocab/{file}.tiktoken").exists():
            (cache / f"{name}.tiktoken").symlink_to(source_file)
    monkeypatch.setenv("TOKSMITH_CACHE_DIR", str(cache))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # nothing listens there
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.chdir(page)
    return page


def test_links_between_files_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    links = [
        (page.relative_to(ROOT), link)
        for page in pages
        for link in LINK.findall(page.read_text(encoding="utf-8"))
        if ":" not in link
    ]
    assert len(links) > 50
    assert [each for each in links if not (ROOT / each[0].parent / each[1]).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_snippets(page: Path, folder: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    found = [snippet for snippet in snippets(page) if snippet.runs]
    left_out = []
    if page.parent == COURSE:
        shutil.copytree(COURSE / "data", folder / "data")
    for snippet in found:
        where = f"{page.name}, line {snippet.line}"
        if "published" in snippet.marks and not list((folder.parent / "cache").iterdir()):
            left_out.append(str(snippet.line))
            continue
        try:
            if snippet.language == "python":
                run_python(snippet, names, where)
            else:
                run_shell(snippet, where)
        except DownloadError as offline:
            pytest.skip(f"{where} needs a published vocabulary: {offline}")
    if left_out:
        lines = ", ".join(left_out)
        pytest.skip(f"the blocks of lines {lines} need published vocabularies; the others passed")
    if page == ROOT / "README.md":
        assert found, "the README shows nothing that can be run"


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name: str, folder: Path) -> None:
    try:
        module = module_and_parts(name)
    except MissingExtraError as missing:
        pytest.skip(str(missing))
    runner = doctest.DocTestRunner(Checker(), optionflags=CHECKS)
    for test in Finder().find(module):
        runner.run(test)
    assert runner.failures == 0, f"{runner.failures} of {runner.tries} examples fail, see above"


def module_and_parts(name: str) -> ModuleType:
    """Import a module, and those in it: lazy names would import them while doctest looks at it."""
    for each in MODULES:
        if each.startswith(f"{name}."):
            importlib.import_module(each)
    return importlib.import_module(name)


def test_doctests_of_cached_properties_run() -> None:
    found = {test.name for test in Finder().find(module_and_parts("toksmith.tokenizer"))}
    assert "toksmith.tokenizer.Tokenizer.vocab" in found


def test_escapes_in_output_are_compared_as_printed() -> None:
    assert not Checker().check_output("'\xf0'", "'\\xf0'", CHECKS)


def test_the_public_names_show_an_example() -> None:
    finder = doctest.DocTestFinder(recurse=False)
    shown = [value for name in toksmith.__all__ if callable(value := getattr(toksmith, name))]
    examples = {
        value.__name__: sum(len(test.examples) for test in finder.find(value)) for value in shown
    }
    assert {"train", "Tokenizer"} <= {name for name, count in examples.items() if count}, examples


def test_the_site_shows_blocks_without_marks() -> None:
    page = "A\n\n```python no-run\n>>> x\n1\n<BLANKLINE>\n```\n\n```console run\n$ ls\n```\nZ\n"
    shown = "A\n\n```python\n>>> x\n1\n\n```\n\n```console\n$ ls\n```\nZ\n"
    assert shown_page(page) == shown


def run_python(snippet: Snippet, names: dict[str, Any], where: str) -> None:
    if ">>>" not in snippet.source:
        # Empty lines first, so that a traceback names the line of the page.
        padded = "\n" * (snippet.line - 1) + snippet.source
        exec(compile(padded, where, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(snippet.source, names, where, where, snippet.line)
    runner = doctest.DebugRunner(Checker(), optionflags=CHECKS)
    try:
        runner.run(test, clear_globs=False)
    except doctest.DocTestFailure as failure:
        pytest.fail(
            f"{where}: {failure.example.source}gives\n{failure.got}not\n{failure.example.want}"
        )
    except doctest.UnexpectedException as failure:
        raise failure.exc_info[1] from None
    names.update(test.globs)


def run_shell(snippet: Snippet, where: str) -> None:
    for command, wanted in snippet.commands():
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
        )
        if done.returncode and DownloadError.__name__ in done.stderr:
            raise DownloadError(done.stderr.strip())
        assert done.returncode == 0, f"{where}: {command}\n{done.stdout}{done.stderr}"
        if wanted.strip():
            matches = doctest.OutputChecker().check_output(wanted, done.stdout, CHECKS)
            assert matches, f"{where}: {command} prints\n{done.stdout}not\n{wanted}"
