"""``toksmith counts``, and training from counts."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path
from typing import Any

import pytest

import toksmith
from tests.cli.conftest import CORPUS, Run
from toksmith import Counts


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """Two halves of the corpus."""
    half = len(CORPUS) // 2
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path, text in zip(paths, (CORPUS[:half], CORPUS[half:]), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def test_make_merge_show_train(run: Run, parts: list[Path], tmp_path: Path) -> None:
    counted = [path.with_suffix(".counts") for path in parts]
    for path, output in zip(parts, counted, strict=True):
        ran = run("counts", "make", path, "-o", output, "--split", "gpt2")
        assert (ran.code, ran.err) == (0, "")
        assert b" distinct chunks, 290 in all, 1,310 bytes, 1 document, split gpt2\n" in ran.out
    merged, trained = tmp_path / "ab.counts", [tmp_path / f"{i}.model" for i in range(3)]
    assert run("counts", "merge", *counted, "-o", merged, "-q").out == b""
    shown = run("counts", "show", merged, "-n", 2)
    assert shown.out.decode().splitlines() == [
        "27 distinct chunks, 580 in all, 2,620 bytes, 2 documents, split gpt2",
        "          40  ,", "          40  ·the",
    ]  # fmt: skip
    options = ["--vocab-size", 280, "-q"]
    assert run("train", *parts, "-o", trained[0], "--split", "gpt2", *options).code == 0
    assert run("train", "--counts", merged, "-o", trained[1], *options).code == 0
    each = ["--counts", counted[0], "--counts", counted[1]]
    assert run("train", *each, "-o", trained[2], *options).code == 0
    assert len({path.read_bytes() for path in trained}) == 1


def test_min_count_and_tsv(run: Run, parts: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "words.tsv"
    words = ["--split", r"\S+", "--drop-gaps"]
    ran = run("counts", "make", *parts, "-o", output, *words, "--min-count", 40)
    assert b": 1 distinct chunk, 40 in all" in ran.out
    assert all(int(line.split(b"\t")[1]) >= 40 for line in output.read_bytes().splitlines())
    twice = tmp_path / "twice.tsv"
    assert run("counts", "merge", output, output, "-o", twice).code == 0
    assert dict(Counts.from_tsv(twice)) == {c: 2 * n for c, n in Counts.from_tsv(output)}
    assert b"split none" in run("counts", "show", twice).out


def test_wrong_input(run: Run, parts: list[Path], tmp_path: Path) -> None:
    counts, output = tmp_path / "a.counts", tmp_path / "x"
    Counts.from_files(parts[0]).save(counts)
    Counts.of({b"a": 1}).to_tsv(tmp_path / "a.tsv")
    for arguments, says in (
        (["counts", "make", "none", "-o", output], "no such file"),
        (["counts", "make", parts[0], "-o", tmp_path / "none" / "x"], "no folder"),
        (["counts", "make", parts[0], "-o", output, "--split", "("], "not a regular expression"),
        (["counts", "merge", counts, tmp_path / "a.tsv", "-o", output], "a.tsv: a .tsv file"),
        (["counts", "merge", counts, "-o", tmp_path / "b.tsv"],
         "a.counts holds chunks with a tab or a line break, which tsv cannot hold: count with "
         r"toksmith counts make --split '\S+' --drop-gaps"),
        (["counts", "make", parts[0], "-o", tmp_path / "b.tsv"],
         f"{parts[0]} has a tab or a line break, which tsv cannot hold in a chunk: count with "
         r"toksmith counts make --split '\S+' --drop-gaps"),
        (["counts", "show", parts[0]], "no Parquet file"),
        (["train", "-o", output, "--vocab-size", 300], "FILES or --counts"),
        (["train", parts[0], "--counts", counts, "-o", output], "FILES or --counts"),
        (["train", "--counts", counts, "-o", output, "--split", "gpt2", "--vocab-size", 300],
         "leave it out"),
        (["train", "--counts", counts, "-o", tmp_path / "x.json", "-m", "unigram"],
         "cannot train model"),
    ):  # fmt: skip
        ran = run(*arguments)
        assert (ran.code, ran.out) == (2, b"")
        assert says in ran.err
        assert ran.err.count("\n") == 1
        assert not output.exists()


@pytest.mark.parametrize("command", [["counts", "make"], ["train", "--vocab-size", "300"]])
def test_the_output_is_tried_before_the_text_is_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    text, out = tmp_path / "a.txt", tmp_path / "out"
    text.write_text("low lower", encoding="utf-8")
    out.mkdir()

    class Full(io.BytesIO):
        def flush(self) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def __exit__(self, *_: object) -> None:
            """Close it."""

    def read(*_: object, **__: object) -> None:
        pytest.fail("the text was read")

    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Full())
    monkeypatch.setattr("toksmith.corpus.sources.Files.feed", read)
    ran = run(*command, text, "-o", out / "a.model")
    assert ran.code == 2
    assert ran.err.endswith("a.model: cannot be written: No space left on device\n")
    assert list(out.iterdir()) == []


def test_counts_are_no_folder(run: Run, tmp_path: Path) -> None:
    ran = run("counts", "make", tmp_path / "none.txt", "-o", tmp_path)
    assert ran.code == 2
    assert "this is a folder: give the name of a file" in ran.err


@pytest.mark.parametrize(
    ("function", "arguments", "says"),
    [
        ("trainers.counting.jobs.count_corpus", ["counts", "make", "a.txt", "-o", "x"],
         "x is not written; the same command starts over. Shards that are complete would be kept: "
         "see --shard"),
        ("trainers.counting.jobs.count_corpus",
         ["counts", "make", "a.txt", "-o", "x", "--shard", "1/2"],
         "shard 1/2 is not written; the same command starts it over"),
        ("trainers.counting.jobs.count_corpus",
         ["counts", "make", "a.txt", "-o", "x", "--runner", "ray"],
         "shards that are complete are kept in x; the same command makes the others"),
        ("trainers.counting.jobs.merge_counts", ["counts", "merge", "a.counts", "-o", "x"],
         "x is not written; the same command starts over"),
        ("train", ["train", "a.txt", "-o", "x", "--vocab-size", "300"],
         "x is not written; the same command starts over. Counts would be kept: see --checkpoint"),
    ],
)  # fmt: skip
def test_an_interruption_says_how_to_go_on(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    function: str, arguments: list[str], says: str,
) -> None:  # fmt: skip
    original = toksmith.train

    def interrupted(*given: object, **options: Any) -> object:
        if given:
            raise KeyboardInterrupt
        return original(**options)  # train tries the options on a short text first

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(f"toksmith.{function}", interrupted)
    ran = run(*arguments)
    assert (ran.code, ran.err) == (130, f"toksmith: interrupted: {says}\n")


def test_one_is_singular(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("aa")
    ran = run("train", tmp_path / "a.txt", "-o", tmp_path / "a.model", "--vocab-size", "257")
    assert b"bpe: 1 document, 2 bytes, 1 distinct chunk, 1 merge, 1 token" in ran.out
    ran = run("convert", tmp_path / "a.model", tmp_path / "a.json")
    assert b": 257 tokens" in ran.out
