"""``toksmith audit``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from toksmith.models import WordLevel
from toksmith.pipeline import Pipeline
from toksmith.splitters import WhitespaceSplit
from toksmith.tokenizer import Tokenizer


@pytest.fixture
def words(tmp_path: Path) -> Path:
    model = WordLevel((b"<unk>", b"low", b"a b"), 0)
    Tokenizer(Pipeline(model, WhitespaceSplit())).save(tmp_path / "words.json")
    return tmp_path / "words.json"


def test_findings(run: Run, model: Path, corpus_file: Path) -> None:
    ran = run("audit", model, "--on", corpus_file, corpus_file, "--examples", 2)
    shown = ran.out.decode()
    assert ran.code == 0
    assert "partial characters" in shown
    assert "unused" in shown


def test_exit_codes(run: Run, words: Path) -> None:
    assert run("audit", words).code == 1
    assert run("audit", words, "--fail-on", "never").code == 0
    assert run("audit", words, "--ignore", "round trip").code == 0
    warned = run("audit", words, "--ignore", "round trip", "--fail-on", "warning")
    assert (warned.code, "unreachable  1\n" in warned.out.decode()) == (1, True)


def test_json(run: Run, words: Path, tmp_path: Path) -> None:
    out = tmp_path / "audit.json"
    ran = run("audit", words, "--json", "-")
    held = json.loads(ran.out)
    assert (held["tokenizer"], held["findings"][0]["kind"]) == ("words", "round trip")
    assert run("audit", words, "--json", out).code == 1
    assert json.loads(out.read_text()) == held


def test_errors(run: Run, words: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (
            (words, "--ignore", "nothing"),
            "--ignore 'nothing': unknown kind; use injection, never made",
        ),
        ((words, "--json", tmp_path / "no" / "a.json"), "there is no folder"),
        ((words, "--on", tmp_path / "none.txt"), "there is no such file"),
        ((words, "--on", "x" * 5000), "--on holds a path of 5,000 characters"),
        ((words, "--on", "*a" + "/x" * 2000), "too many folders in one pattern"),
        ((tmp_path / "none.model",), "there is no such file"),
    ):
        ran = run("audit", *arguments)
        assert ran.code == 2
        assert message in ran.err
