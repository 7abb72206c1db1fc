"""A small tokenizer's file, and ways to run the command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from toksmith.cli.app import app

CORPUS = (
    "low lower lowest, new newer newest; wide wider widest: the quick brown fox jumps over the "
    "lazy dog, then sleeps under a warm stone\n"
) * 20


@dataclass
class Ran:
    """What a command left behind."""

    code: int
    out: bytes
    err: str

    @property
    def ids(self) -> list[int]:
        return [int(line) for line in self.out.split()]


Run = Callable[..., Ran]


@pytest.fixture(scope="session")
def run() -> Run:
    """``run(*arguments, stdin=b"")``: run a command in this process."""
    commands = get_command(app)  # CliRunner.invoke() makes all commands anew for each call

    def call(*arguments: object, stdin: bytes = b"") -> Ran:
        code: object = 0
        with CliRunner().isolation(input=stdin) as (out, err, _):
            try:
                commands.main([str(a) for a in arguments], "toksmith")
            except SystemExit as ended:
                code = ended.code or 0
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
            assert isinstance(code, int)
            return Ran(code, out.getvalue(), err.getvalue().decode())

    return call


@pytest.fixture(scope="session")
def spawn() -> Run:
    """``spawn(*arguments, stdin=b"")``: run a command in a process of its own."""

    def call(*arguments: object, stdin: bytes = b"") -> Ran:
        command = [sys.executable, "-m", "toksmith", *map(str, arguments)]
        ran = subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False)
        return Ran(ran.returncode, ran.stdout, ran.stderr.decode())

    return call


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text(CORPUS, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def model(corpus_file: Path, run: Run) -> Path:
    """A tokenizer of 280 tokens; 279 is ``<|end|>``."""
    path = corpus_file.with_name("small.model")
    ran = run(
        "train", corpus_file, "-o", path, "--vocab-size", 280, "--split", "gpt2",
        "--special-token", "<|end|>", "--quiet", "--record",
    )  # fmt: skip
    assert (ran.code, ran.out, ran.err) == (0, b"", "")
    return path
