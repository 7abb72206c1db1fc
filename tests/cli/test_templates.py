"""Tokens that a template adds around a text, and special tokens left out in decoding."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.kits.bpe import pipeline
from toksmith import formats
from toksmith.framing import AddedToken, Framing


@pytest.fixture(scope="module")
def templated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer that puts ``<s>`` (266) before each text, and ``</s>`` (267) after it."""
    path = tmp_path_factory.mktemp("templated") / "tokenizer.json"
    tokens = (AddedToken("<s>", 266), AddedToken("</s>", 267))
    formats.write(pipeline(framing=Framing(tokens, prefix=(266,), suffix=(267,))), path)
    return path


def test_encode(run: Run, templated: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("the|the", encoding="utf-8")
    options = ("-t", templated, "--add-special-tokens")
    assert run("encode", "the", "-t", templated).ids == [257]
    assert run("encode", "the", *options).ids == [266, 257, 267]
    for source in ((), ("--file", tmp_path / "text")):
        ran = run("encode", *source, *options, "--separator", "|", "--format", "json",
                  stdin=b"the|the")  # fmt: skip
        assert ran.out == b"[[266,257,267],[266,257,267]]\n"


def test_decode(run: Run, templated: Path) -> None:
    ids = ("266", "257", "267")
    assert run("decode", *ids, "-t", templated).out == b"<s>the</s>"
    assert run("decode", *ids, "-t", templated, "--skip-special-tokens").out == b"the"
    ran = run("decode", "-t", templated, "--skip-special-tokens", stdin="\n".join(ids).encode())
    assert ran.out == b"the"


def test_inspect_and_verify(run: Run, templated: Path) -> None:
    shown = run("inspect", "the", "-t", templated, "--add-special-tokens").out.decode()
    assert shown.splitlines()[0] == "<s>│the│</s>"
    assert shown.splitlines()[2].split() == ["*266", "<s>", "0–0", "0–0"]
    both = ("verify", templated, templated, "the", "--add-special-tokens")
    assert run(*both).code == 0
