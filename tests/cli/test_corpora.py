"""Options that select files and documents of a corpus."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import toksmith
from tests.cli.conftest import Run


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "a.json.gz"
    documents = [f"low lower {i % 7} lowest" for i in range(40)]
    path.write_bytes(
        gzip.compress("".join(json.dumps({"body": text}) + "\n" for text in documents).encode())
    )
    return path


def test_all_options_together(run: Run, lines: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    ran = run(
        *("train", lines, "-o", path, "--vocab-size", 260, "--read-as", "jsonl"),
        *("--field", "body", "--weight", f"{lines}=2.5", "--deduplicate"),
        *("--sample", 0.5, "--seed", 3, "--record"),
    )
    assert ran.code == 0
    record = json.loads((tmp_path / "t.json.training.json").read_text())
    assert sum(record["skipped"].values()) + record["documents"] == 40
    assert set(record["skipped"]) == {"not_sampled", "duplicate"}
    assert record["sources"][0]["weight"] == 2.5
    assert record["bytes"] == record["documents"] * 45  # 18 bytes each
    told = f"{record['documents']} documents ({record['skipped']['not_sampled']} not sampled, "
    assert told in ran.out.decode()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--weight", "x"], "--weight 'x': use PATH=NUMBER, such as 'wiki/=2.5'"),
        (["--weight", "=2"], "--weight '=2': use PATH=NUMBER"),
        (["--weight", "nowhere=2"], "nowhere: there is no such file"),
        (["--sample", "2"], "sample is 2.0: use a number above 0, and 1 at most"),
        (["--read-as", "jsonl"], "line 1 has no field 'text'; its fields are 'body'"),
        (["--read-as", "parquet"], "is no Parquet file"),
    ],
)
def test_wrong_options_are_one_line(
    run: Run, lines: Path, tmp_path: Path, options: list[str], reason: str
) -> None:
    ran = run("train", lines, "-o", tmp_path / "t.json", "--vocab-size", 260, *options)
    assert ran.code == 2
    assert reason in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "t.json").exists()


def test_files_that_are_not_text(run: Run, tmp_path: Path) -> None:
    path, out = tmp_path / "a.txt", tmp_path / "t.json"
    path.write_bytes(b"caf\xe9 au lait")
    train = ("train", path, "-o", out, "--vocab-size", 258, "-q")
    ran = run(*train)
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err == (
        f"toksmith: error: {path}: is not UTF-8 text: byte 0xE9 at offset 3 is part of no "
        "character. Convert it, or replace such bytes by U+FFFD with --encoding-errors "
        "replace\n"
    )
    assert not out.exists()
    assert run(*train, "--encoding-errors", "replace").code == 0
    assert toksmith.load(out).vocab_size == 258
    for command in (("advise", path, "--max-vocab", 300), ("counts", "make", path, "-o", out)):
        assert "byte 0xE9 at offset 3 " in run(*command, "-q").err
        assert run(*command, "-q", "--encoding-errors", "replace").code == 0


def test_a_column_of_a_table(run: Run, tmp_path: Path) -> None:
    path, out = tmp_path / "a.csv", tmp_path / "t.json"
    path.write_text("id,body\n1,low lower lowest\n2,new newer\n", encoding="utf-8")
    train = ("train", path, "-o", out, "--vocab-size", 260)
    ran = run(*train)
    assert ran.code == 2
    assert "has no column 'text'; its first row names 'id', 'body'. Choose one with --field" in (
        ran.err
    )
    assert "2 documents" in run(*train, "--field", "body").out.decode()


@pytest.mark.parametrize("command", ["count", "encode --file"])
def test_a_file_that_is_not_text_is_refused_or_replaced(
    run: Run, tmp_path: Path, command: str
) -> None:
    (path := tmp_path / "a.txt").write_bytes(b"low\xff low")
    words = [*command.split(), str(path), "-t", "toksmith-small"]
    refused = run(*words)
    assert refused.code == 2
    assert "byte 0xFF at offset 3" in refused.err
    assert "--encoding-errors" in refused.err
    assert run(*words, "--encoding-errors", "replace").code == 0


def test_deduplicate_takes_a_value_or_none(run: Run, tmp_path: Path) -> None:
    (path := tmp_path / "a.txt").write_text("low\nlow\nlower|low\nlow\nlower|x")
    output = tmp_path / "out.counts"
    ways = ([], ["--deduplicate"], ["--deduplicate", "documents"], ["--deduplicate", "lines"])
    found = []
    for words in (*ways, ["--deduplicate=lines"]):
        ran = run("counts", "make", *words, path, "--separator", "|", "-o", output, "-q")
        assert ran.code == 0, ran.err
        found.append(toksmith.Counts.load(output).bytes)
    assert found == [27, 14, 14, 10, 10]
    ran = run("counts", "make", "--deduplicate=words", path, "-o", output, "-q")
    assert ran.code == 2
    assert "'documents', 'lines'" in ran.err


def test_a_dry_run_tells_what_would_be_read(run: Run, lines: Path, tmp_path: Path) -> None:
    (text := tmp_path / "b.txt").write_text("low lower")
    output = tmp_path / "out.json"
    there = sorted(tmp_path.iterdir())
    ran = run(
        *("train", lines, text, "-o", output, "--vocab-size", 260, "--weight", f"{text}=2.5"),
        *("--sample", 0.5, "--deduplicate", "--memory", "1G", "--read-as", "text", "--dry-run"),
    )
    assert ran.code == 0, ran.err
    told = ran.out.decode().splitlines()
    rows = [line.split() for line in told]
    size = str(lines.stat().st_size)
    assert ["1", "1", size, "bytes", "text,", "gzip", str(lines)] in rows
    assert ["2.5", "1", "9", "bytes", "text", str(text)] in rows
    wanted = {"sample: 0.5, seed 0", "deduplicate: documents", "memory: 1G", "model: bpe"}
    assert wanted <= set(told)
    assert told[-1] == "nothing was read or written (--dry-run)"
    ran = run("counts", "make", lines, "--field", "body", "-o", output, "--dry-run",
              "--read-as", "jsonl", "--deduplicate", "lines")  # fmt: skip
    assert ran.code == 0, ran.err
    assert f"jsonl, gzip  {lines}\n" in ran.out.decode()
    assert "the number of documents is known only after reading" in ran.out.decode()
    assert "deduplicate: lines" in ran.out.decode()
    assert sorted(tmp_path.iterdir()) == there
    ran = run("train", text, "-o", output, "--vocab-size", 260, "--dry-run",
              "--checkpoint", "kept", "--memory", "1G", "--spill-limit", "9G")  # fmt: skip
    wanted = {"split: gpt4", "checkpoint: kept", "memory: 1G", "spill-limit: 9G"}
    assert wanted <= set(ran.out.decode().splitlines())
    assert run("train", tmp_path / "no", "-o", output, "--vocab-size", 260, "--dry-run").code == 2


def test_a_dry_run_of_a_shard_tells_what_it_takes(run: Run, tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text("lower " * 50)
    files = sorted(tmp_path.iterdir())
    made = ["counts", "make", *files, "-o", tmp_path / "s", "--dry-run", "--shard"]
    told = run(*made, "1/3").out.decode().splitlines()
    place = told.index("shard: 1/3, 300 bytes of 1 file")
    assert told[place + 1] == f"  300 bytes of 300 bytes of {files[1]}"
    assert not (tmp_path / "s").exists()
    assert "numbers go from 0 to 2" in run(*made, "3/3").err
    assert "cannot be used" in run(*made, "1/3", "--deduplicate", "lines").err


def test_shares_of_the_files_are_printed(run: Run, tmp_path: Path) -> None:
    for name, size in (("a.txt", 3), ("b.txt", 10), ("c.txt", 2)):
        (tmp_path / name).write_text("lower " * size)
    files = sorted(tmp_path.iterdir())
    ran = run("train", *files, "-o", tmp_path / "t.json", "--vocab-size", 258,
              "--weight", f"{files[2]}=3.5")  # fmt: skip
    assert ran.out.decode().splitlines()[1:] == [
        "by source:",
        "  share  merges  weight  documents      size  chunks  tokens  bytes/token  source",
        f"  50.0%   50.0%       1          1  60 bytes      11      40         1.50  {files[1]}",
        f"  35.0%   35.0%     3.5          1  12 bytes       3       8         1.50  {files[2]}",
        f"  15.0%   15.0%       1          1  18 bytes       4      12         1.50  {files[0]}",
    ]
    ran = run("train", files[0], "-o", tmp_path / "t.json", "--vocab-size", 258)
    assert len(ran.out.decode().splitlines()) == 1


def test_many_sources_are_shown_by_folder_and_summed(run: Run, tmp_path: Path) -> None:
    for number in range(130):
        folder = tmp_path / f"part{number % 26:02}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.txt").write_text("low lower " * (1 + number % 26))
    output = tmp_path / "t.json"
    for words in ([], ["--dry-run"]):
        ran = run(
            "train", *sorted(tmp_path.glob("part*")), "-o", output, "--vocab-size", 258, *words
        )
        assert ran.code == 0, ran.err
        told = ran.out.decode().splitlines()
        head = next(place for place, line in enumerate(told) if line.split()[0] == "share")
        assert told[head + 1].endswith(f"{tmp_path}/part25/ (5 files)")
        assert told[head + 20].endswith(f"{tmp_path}/part06/ (5 files)")
        assert told[head + 21].endswith("  30 other files")
        rest = told[head + 21].split()
        assert rest[0] == f"{21 / 351:.1%}"
        assert "30" in rest[1:3]
        assert told[head + 22 :][:1] in ([], ["in all: 130 files, 17,550 bytes, 130 documents"])


def test_counts_have_no_figures_by_source(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low lower lowest")
    counts = tmp_path / "a.counts"
    assert run("counts", "make", tmp_path / "a.txt", "-o", counts, "-q").code == 0
    ran = run("train", "--counts", counts, "-o", tmp_path / "t.json", "--vocab-size", 258)
    assert ran.code == 0, ran.err
    assert "no figures by source: saved counts hold no text" in ran.out.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "corpus", "--vocab-size", "260", "-o", "corpus"],
        ["train", "corpus", "--vocab-size", "260", "-o", "corpus/a.model"],
        ["train", "corpus", "--vocab-size", "260", "-o", "a.model", "--checkpoint", "corpus/kept"],
        ["counts", "make", "corpus", "-o", "corpus/a.counts"],
        ["counts", "make", "corpus", "-o", "corpus/shards", "--shard", "0/2"],
    ],
)
def test_an_output_in_the_folder_that_is_read_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.txt").write_text("low lower lowest")
    ran = run(*arguments)
    assert ran.code == 2
    assert "is in corpus, a folder of the corpus" in ran.err
    assert [path.name for path in tmp_path.rglob("*")] == ["corpus", "a.txt"]


def test_an_output_beside_a_file_of_the_corpus_is_written(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("low lower lowest")
    assert run("train", text, "--vocab-size", 260, "-o", tmp_path / "a.model").code == 0
    assert run("counts", "make", text, "-o", tmp_path / "a.counts").code == 0


def test_a_file_needs_its_folder_and_a_folder_is_created(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("low lower lowest")
    missing = tmp_path / "no"
    for command in (["train", text, "--vocab-size", 260], ["counts", "make", text]):
        ran = run(*command, "-o", missing / "a.model")
        assert (ran.code, missing.exists()) == (2, False)
        assert f"there is no folder {missing}" in ran.err
    assert run("counts", "make", text, "-o", missing / "shards", "--shard", "0/2").code == 0
    assert (missing / "shards").is_dir()
