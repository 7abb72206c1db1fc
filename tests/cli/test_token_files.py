"""``verify`` of token files, and ``tokenize --from-tokens``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import toksmith
from tests.cli.conftest import Run


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in ("low", "", "lower")))
    return path


@pytest.fixture
def tokens(run: Run, corpus: Path, model: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "tokens"
    ran = run("tokenize", corpus, "-t", model, "--format", "megatron", "-o", folder, "--no-eos")
    assert (ran.code, ran.err) == (0, "")
    return folder


def test_token_files_are_verified(run: Run, tokens: Path) -> None:
    ran = run("verify", tokens)
    assert ran.out.decode() == (
        f"{tokens}: all is well: 2 files, 3 documents, 3 tokens; 3 compared with their text\n"
    )
    assert (ran.code, ran.err) == (0, "")
    assert run("verify", tokens, "-q").out == b""


def test_what_fails_is_shown(run: Run, tokens: Path, corpus: Path) -> None:
    path = tokens / "train_text_document.bin"
    ids = np.fromfile(path, "<u2")
    ids[-1] = 65
    ids.tofile(path)
    ran = run("verify", tokens, "-q")
    lines = ran.out.decode().splitlines()
    assert lines[0].startswith(f"{path.name}, split train: its SHA-256 is ")
    assert lines[1] == (
        f"{path.name}, shard 0, split train, document 2, of {corpus}: token 1 differs from that of "
        "its text"
    )
    assert lines[2].split() == ["text", "lower"]
    assert lines[3].split() == ["found", "65", "A"]
    assert lines[-1] == (
        f"{tokens}: 2 problems (files 1, documents 1) in 2 files, 3 documents, 3 tokens"
    )
    assert (ran.code, ran.err) == (1, "")


def test_options_of_verify(run: Run, tokens: Path, corpus: Path, model: Path) -> None:
    assert run("verify", tokens, "--sample", "0.5", "-t", model, "--threads", 1).code == 0
    corpus.unlink()
    ran = run("verify", tokens)
    assert ran.code == 1
    assert "check without sources (--no-sources)" in ran.out.decode()
    ran = run("verify", tokens, "--no-sources")
    assert ran.code == 0
    assert ran.out.decode().splitlines()[0] == (
        "the documents are not compared with their texts (no sources)"
    )
    for arguments, reason in (
        ((tokens, "--sample", "2"), "sample is 2.0: use a number above 0"),
        ((model, model, "--sample", "0.5"), "are for a folder of token files, and"),
        ((model, model, "--no-sources"), "are for a folder of token files, and"),
        ((tokens, "-t", "gone.json"), "gone.json: there is no such file"),
        ((tokens, "--separator", "|"), "--separator is for tokenizers, and"),
        ((tokens, "--special", "text"), "--special is for tokenizers, and"),
    ):
        ran = run("verify", *arguments)
        assert (ran.code, ran.out) == (2, b"")
        assert reason in ran.err


def test_unfinished_files_are_not_verified(
    run: Run, corpus: Path, model: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "new"
    options = ("-t", model, "--format", "megatron", "-o", folder, "--no-eos", "--shard", "0/2")
    assert run("tokenize", corpus, *options).code == 0
    ran = run("verify", folder)
    assert (ran.code, ran.out) == (2, b"")
    assert f"{folder} is not finished: give the same toksmith tokenize command again" in ran.err


@pytest.mark.parametrize("name", ["train_text_document.bin", "train_text_document"])
def test_a_file_of_token_files_is_not_verified_alone(run: Run, tokens: Path, name: str) -> None:
    ran = run("verify", tokens / name)
    expected = f"{tokens / name} is a part of token files: give their folder, {tokens}"
    assert (ran.code, ran.err) == (2, f"toksmith: error: {expected}\n")


def test_files_without_a_manifest_are_not_verified(run: Run, tokens: Path) -> None:
    (tokens / "token-manifest.json").unlink()
    ran = run("verify", tokens)
    assert ran.code == 2
    assert f"{tokens} holds token files without token-manifest.json, which toksmith tok" in ran.err


def test_token_files_are_converted(run: Run, tokens: Path, tmp_path: Path) -> None:
    target = tmp_path / "new"
    ran = run("tokenize", "--from-tokens", tokens, "--format", "datatrove", "-o", target)
    rows = dict(line.split("  ", 1) for line in ran.out.decode().splitlines())
    assert {name.strip(): value.strip() for name, value in rows.items()} == {
        "documents": "3",
        "text": "8 bytes",
        "tokens": "3",
        "bytes per token": "2.667",
        "longest document": "2 tokens",
        "type": "uint16",
        "end-of-text token": "none",
        "files": "000_train.ds, 000_train.ds.index, 000_train.ds.metadata, train.ds.metadata in "
        f"{target}",
    }
    assert (ran.code, ran.err) == (0, "")
    assert run("verify", target).code == 0


def test_files_of_other_programs_are_converted(run: Run, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "val.bin"
    np.array([65, 66, 279, 67, 279], "<u2").tofile(path)
    target = tmp_path / "new"
    options = ("--eos", 279, "--vocab-size", 300, "--shuffle", "documents", "--seed", 3)
    ran = run("tokenize", "--from-tokens", path, "--format", "megatron", "-o", target, *options)
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.decode().splitlines()][:2] == [
        "documents", "tokens",
    ]  # fmt: skip
    assert [ids.tolist() for ids in toksmith.open_tokens(target, split="val")] == [
        [67, 279], [65, 66, 279],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["CORPUS"], "FILES and --from-tokens are given: token files are converted as they are"),
        (["--field", "x"], "--field and --from-tokens are given"),
        (["--split", "a=0.5,b=0.5"], "--split and --from-tokens are given"),
        (["--shard", "0/2"], "--shard and --from-tokens are given"),
        (["--no-eos"], "--no-eos and --from-tokens are given"),
        (["--eos", "<|end|>"], "--eos is '<|end|>': with --from-tokens it is an id"),
        (["--finish"], "--finish and --from-tokens are given"),
    ],
)
def test_other_options_are_refused(
    run: Run, tokens: Path, corpus: Path, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    words = [str(corpus) if word == "CORPUS" else word for word in arguments]
    target = tmp_path / "new"
    ran = run("tokenize", "--from-tokens", tokens, "--format", "llmc", "-o", target, *words)
    assert (ran.code, ran.out) == (2, b"")
    assert reason in ran.err
    assert not target.exists()


def test_what_conversion_needs(run: Run, tokens: Path, corpus: Path, tmp_path: Path) -> None:
    ran = run("tokenize", "--from-tokens", tokens, "-o", tmp_path / "new")
    assert (ran.code, ran.err) == (
        2,
        "toksmith: error: --format is missing: toksmith tokenize --from-tokens tokens/ --format "
        "nanogpt -o other/\n",
    )
    ran = run("tokenize", corpus, "--vocab-size", 5, "-o", tmp_path / "new")
    assert "--vocab-size is for --from-tokens" in ran.err


def test_the_tokenizer_of_the_environment_is_not_meant(
    run: Run, tokens: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKSMITH_TOKENIZER", "toksmith-small")
    target = tmp_path / "new"
    assert run("tokenize", "--from-tokens", tokens, "--format", "llmc", "-o", target).code == 0
    ran = run(
        "tokenize", "--from-tokens", tokens, "--format", "dolma", "-o", tmp_path / "other",
        "-t", "toksmith-small",
    )  # fmt: skip
    assert "the tokenizer toksmith-small is not " in ran.err
