"""``toksmith tokenize``."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import toksmith
from tests import kill_test
from tests.cli.conftest import Run

posix_only = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    texts = ["low", "", "lower newest <|end|>"] * 20
    path.write_text("".join(json.dumps({"body": text}) + "\n" for text in texts))
    return path


def test_figures_are_printed(run: Run, corpus: Path, model: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    ran = run(
        "tokenize", corpus, "-t", model, "--format", "megatron", "-o", output, "--field", "body",
        "--eos", "<|end|>",
    )  # fmt: skip
    tok = toksmith.load(model)
    tokens = 20 * (tok.count("low") + tok.count("lower newest <|end|>") + 2)
    text = 20 * (len("low") + len("lower newest <|end|>"))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.decode().splitlines() == [
        "documents           60",
        f"text                {text} bytes",
        f"tokens              {tokens}",
        f"bytes per token     {text / tokens:.3f}",
        f"longest document    {tok.count('lower newest <|end|>') + 1} tokens",
        "type                uint16",
        "end-of-text token   279, after each document",
        f"files               train_text_document.bin, train_text_document.idx in {output}",
    ]


def test_options_reach_the_files(run: Run, corpus: Path, model: Path, tmp_path: Path) -> None:
    options = ["-t", model, "--format", "nanogpt", "--field", "body", "-q"]
    ran = run(
        "tokenize", corpus, *options, "-o", tmp_path / "out", "--bos", 7, "--eos", "<|end|>",
        "--eos-place", "before", "--special", "encode", "--empty", "drop", "--split",
        "a=0.5,b=0.5",
    )  # fmt: skip
    assert (ran.code, ran.out, ran.err) == (0, b"", "")
    tokens = toksmith.open_tokens(tmp_path / "out")
    tok = toksmith.load(model)
    wanted = [7, 279, *tok.encode("lower newest <|end|>", special="encode")]
    found = [ids for part in tokens.parts for ids in part.ids(0, len(part.lengths)).tolist()]
    assert len(found) == 20 * (len(wanted) + 2 + tok.count("low"))
    assert " ".join(map(str, wanted)) in " ".join(map(str, found))
    assert sorted(path.name for path in (tmp_path / "out").glob("*.bin")) == ["a.bin", "b.bin"]


def test_shards_are_finished(run: Run, corpus: Path, model: Path, tmp_path: Path) -> None:
    options = ["-t", model, "--format", "megatron", "--field", "body", "--no-eos"]
    output = tmp_path / "out"
    first = run("tokenize", corpus, *options, "-o", output, "--shard", "0/2")
    assert first.out.decode().startswith("shard 0 of 2: 60 documents, ")
    ran = run("tokenize", "--finish", "-o", output)
    assert (ran.code, ran.err) == (
        2, "toksmith: error: 1 of 2 shards are not done: 1. Run them with --shard NUMBER/2, then "
        "--finish again\n",
    )  # fmt: skip
    assert run("tokenize", corpus, *options, "-o", output, "--shard", "1/2", "-q").code == 0
    assert b"documents           60\n" in run("tokenize", "--finish", "-o", output).out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "out"], "FILES is missing: toksmith tokenize corpus.jsonl"),
        (["a.jsonl", "-o", "out"], "--tokenizer is missing"),
        (["a.jsonl", "-o", "out", "-t", "toksmith-small"], "--format is missing"),
        (
            ["a", "-o", "o", "-t", "toksmith-small", "--format", "mds", "--eos", "5", "--no-eos"],
            "--eos and --no-eos are given",
        ),
        (["a.jsonl", "-o", "out", "--finish"], "--finish takes no files"),
        (
            ["no.jsonl", "-o", "out", "-t", "toksmith-small", "--format", "megatron"],
            "no.jsonl: there is no such file or directory",
        ),
    ],
)
def test_wrong_use(
    run: Run, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TOKSMITH_TOKENIZER", raising=False)
    ran = run("tokenize", *arguments)
    assert ran.code == 2
    assert message in ran.err


@posix_only
def test_killed_runs_end_in_equal_files(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    kill_test.write_corpus(corpus, 3_000_000)
    assert kill_test.trial(corpus, tmp_path, "megatron", "local", kills=2, seconds=1.0) > 0
