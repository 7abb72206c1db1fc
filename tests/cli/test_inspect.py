"""The trees and the page of ``toksmith inspect``."""

from __future__ import annotations

from pathlib import Path

import pytest

import toksmith
from tests.cli.conftest import Run
from tests.kits.bpe import BYTES, HELLO_BPE
from toksmith.framing import Framing
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.splitters import splitter
from toksmith.tokenizer import Tokenizer


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    pipeline = Pipeline(HELLO_BPE, splitter("gpt2"), Framing.of({"<s>": 300}))
    Tokenizer(pipeline).save(tmp_path / "hello.json")
    return tmp_path / "hello.json"


def test_tree(run: Run, tokenizer: Path) -> None:
    ran = run("inspect", "Hello", "-t", tokenizer, "--tree", "--brief")
    assert "Hell  id 258  merge 2, step 3\n├── H\n└── ell  merge 1" in ran.out.decode()


def test_html(run: Run, tokenizer: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    ran = run("inspect", "Hello <s>", "-t", tokenizer, "--html", out, "--special", "encode")
    assert (ran.code, ran.out.decode()) == (0, f"wrote {out}\n")
    page = out.read_text()
    assert "<title>hello.json · tokens</title>" in page
    assert 'special" title="id 300 (special)' in page


def test_html_that_cannot_be_written(run: Run, tokenizer: Path, tmp_path: Path) -> None:
    ran = run("inspect", "x", "-t", tokenizer, "--html", tmp_path / "no" / "page.html")
    assert ran.code == 2
    assert "there is no folder" in ran.err


def test_token(run: Run, tokenizer: Path) -> None:
    ran = run("inspect", "-t", tokenizer, "--token", "ell")
    assert ran.out.decode().splitlines() == [
        "ell  id 257, bytes 65 6C 6C", "ell  id 257  merge 1, step 2", "├── e",
        "└── ll  merge 0, step 1", "    ├── l", "    └── l",
    ]  # fmt: skip
    assert run("inspect", "-t", tokenizer, "--token", "257").out == ran.out
    assert run("inspect", "-t", tokenizer, "--token", "7").out.startswith(b"<U+0007>  id 7")


def test_a_page_is_of_a_text(run: Run, tokenizer: Path, tmp_path: Path) -> None:
    ran = run("inspect", "-t", tokenizer, "--token", "ell", "--html", tmp_path / "page.html")
    assert (ran.code, ran.out) == (2, b"")
    assert "--html is for a text" in ran.err


def test_an_empty_text_has_no_table(run: Run, tokenizer: Path) -> None:
    ran = run("inspect", "", "-t", tokenizer)
    assert ran.out.decode().split("\n") == ["0 tokens, 0 characters, 0 bytes", ""]


def test_token_that_cannot_be_reached(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    Tokenizer(Pipeline(BPE((*BYTES, b"ol"), []))).save(path)
    ran = run("inspect", "-t", path, "--token", "ol")
    assert "The bytes of this token encode to other tokens:\no  id 111\nl  id 108" in (
        ran.out.decode()
    )
    for wrong, message in (("xyz", "is not one token"), ("257", "is not one token")):
        ran = run("inspect", "-t", path, "--token", wrong)
        assert (ran.code, message in ran.err) == (2, True)
    assert "give only one of them" in run("inspect", "a", "-t", path, "--token", "ol").err


def test_model(run: Run, tokenizer: Path, tmp_path: Path) -> None:
    lines = run("inspect", "--model", "-t", tokenizer).out.decode().splitlines()
    assert lines[0].split() == ["normalizer", "none"]
    assert lines[2].split() == ["model", "BPE,", "301", "ids"]
    assert lines[-1] == "runs in       kernel, with gpt2's scanner"
    other = Pipeline(HELLO_BPE, splitter(r"(?=ll)l|[a-z]"))
    Tokenizer(other).save(tmp_path / "other.json")
    ran = run("inspect", "--model", "-t", tmp_path / "other.json")
    assert "no automaton: a look-ahead sees more than one character" in ran.out.decode()
    (tmp_path / "folder").mkdir()
    toksmith.load(tokenizer).save(tmp_path / "folder")
    (tmp_path / "folder" / "chat_template.jinja").write_text("{{ messages }}")
    lines = run("inspect", "--model", "-t", tmp_path / "folder").out.decode().splitlines()
    assert "special ids   BOS 300" in lines
    assert lines[-1] == "chat template 14 characters"
    ran = run("inspect", "text", "--model", "-t", tokenizer)
    assert (ran.code, "a text and --model are given" in ran.err) == (2, True)


def test_an_explanation_names_what_does_not_run_in_the_kernel() -> None:
    explained = Tokenizer(Pipeline(HELLO_BPE, splitter(r"(\w)\1|."))).explain("Hello")
    line = str(explained).splitlines()[1]
    assert line.startswith("runs with its splitter in Python, model in the kernel: split pattern")
    explained = Tokenizer(Pipeline(HELLO_BPE, splitter("tekken"))).explain("Hello")
    assert explained.engine == "kernel, with tables made of its split pattern"
    assert "kernel" not in str(explained)
