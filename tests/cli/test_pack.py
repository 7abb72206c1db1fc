"""``toksmith pack``: an index of sequences beside token files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import toksmith
from tests.cli.conftest import Run
from toksmith.tokenfiles import PackIndex

TEXTS = ["It was the best", "", "of times", "it was the worst of times, " * 3, "x", "low"]


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> Path:
    """Six documents of 5, 0, 3, 22, 2 and 2 tokens."""
    corpus, folder = tmp_path / "corpus.jsonl", tmp_path / "tokens"
    corpus.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    ran = run(
        "tokenize", corpus, "-t", "toksmith-small", "--format", "megatron", "-o", folder,
        "--threads", 1, "-q",
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    return folder


def test_the_index_is_beside_the_token_files(run: Run, folder: Path) -> None:
    tokens = toksmith.open_tokens(folder)
    lengths = tokens.lengths.tolist()
    ran = run("pack", folder, "--length", 8)
    assert (ran.code, ran.err) == (0, "")
    path = folder / "best-fit-8.pack"
    lines = ran.out.decode().splitlines()
    assert lines[:2] == [
        "method       best-fit, 8 tokens, in the order of the files",
        f"sequences    {-(-sum(lengths) // 8)}",
    ]
    assert lines[-1] == f"index        {path}"
    rows = tokens.packed(path)
    found = sorted(id_ for row in rows for id_ in row.ids.tolist())
    assert found == sorted(id_ for ids in tokens for id_ in ids.tolist())
    assert toksmith.open_tokens(folder).num_tokens == sum(lengths), "the folder can still be read"


def test_methods_and_names(run: Run, folder: Path, tmp_path: Path) -> None:
    options = ["--length", 8, "-q"]
    assert run("pack", folder, *options, "--method", "concat").out == b""
    index = PackIndex.load(folder / "concat-8.pack")
    assert (index.report.method, index.report.seed) == ("concat", None)
    out = tmp_path / "a.pack"
    assert run("pack", folder, *options, "--method", "truncate", "--seed", 3, "-o", out).code == 0
    index = PackIndex.load(out)
    assert (index.report.method, index.report.seed) == ("truncate", 3)
    assert run("pack", folder, *options, "--split", "train").code == 0
    assert (folder / "best-fit-8=train.pack").exists()


def test_files_of_other_programs(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "train.bin"
    np.array([5, 6, 0, 7, 0, 8, 8, 8, 0], np.uint16).tofile(path)
    ran = run("pack", path, "--length", 4, "--format", "nanogpt", "--eos", 0)
    assert (ran.code, ran.err) == (0, "")
    rows = toksmith.open_tokens(path, format="nanogpt", eos=0).packed(tmp_path / "best-fit-4.pack")
    assert [row.ids.tolist() for row in rows] == [[5, 6, 0], [7, 0], [8, 8, 8, 0]]


def test_wrong_input(run: Run, folder: Path, tmp_path: Path) -> None:
    for arguments, says in (
        (["none", "--length", 8], "none: there is no such file or folder"),
        ([tmp_path, "--length", 8], "holds no token files"),
        ([folder, "--length", 0], "--length"),
        ([folder, "--length", 1 << 31], "length is 2147483648"),
        ([folder], "--length"),
        ([folder, "--length", 8, "--method", "x"], "--method"),
        ([folder, "--length", 8, "--split", "val"], "split is 'val'"),
        ([folder, "--length", 8, "-o", tmp_path / "none/a.pack"], "there is no folder"),
        ([folder, "--length", 8, "-o", tmp_path], "this is a folder"),
    ):
        ran = run("pack", *arguments)
        assert (ran.code, ran.out) == (2, b"")
        assert says in ran.err
        assert ran.err.count("\n") == 1
    assert list(folder.glob("*.pack")) == []
