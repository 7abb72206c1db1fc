"""Tests of tokenizing a corpus to token files: framing, splits, shards, resuming."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith._base import locks
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles import Manifest, convert_tokens, converting, finish_corpus, verify_tokens
from toksmith.tokenfiles import shard as shard_module
from toksmith.tokenfiles.job import Job, parse_splits
from toksmith.tokenfiles.manifest import NAME, read_manifest
from toksmith.tokenfiles.spool import Spool, latest_progress, locked, writing_to

TEXTS = [f"low lower {number} " * (number % 7) for number in range(300)]


@pytest.fixture(scope="module")
def tok() -> toksmith.Tokenizer:
    return toksmith.get("toksmith-small")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus.jsonl")


def write_corpus(path: Path, texts: list[str] = TEXTS) -> Path:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def write(corpus: Path | str, output: Path | str, **options: Any) -> toksmith.tokenfiles.Manifest:
    options = {"tokenizer": "toksmith-small", "format": "megatron"} | options
    return toksmith.tokenize_corpus(corpus, output=output, progress=False, **options)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the token files of a folder; the manifest is left out."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != NAME
    }


def test_ids_are_those_of_the_tokenizer(
    corpus: Path, tmp_path: Path, tok: toksmith.Tokenizer
) -> None:
    done = write(corpus, tmp_path / "out", format="nanogpt")
    expected = [[*tok.encode(text), tok.eos_token_id] for text in TEXTS]
    flat = [token for ids in expected for token in ids]
    assert (tmp_path / "out" / "train.bin").read_bytes() == np.array(flat, "<u2").tobytes()
    assert (done.documents, done.tokens) == (300, sum(map(len, expected)))
    assert done.longest == max(map(len, expected))
    assert done.text_bytes == sum(map(len, TEXTS))
    tokens = toksmith.open_tokens(tmp_path / "out")
    assert [document.tolist() for document in tokens] == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [[5393, 16382], [], [102, 16382]]),
        ({"empty": "frame"}, [[5393, 16382], [16382], [102, 16382]]),
        ({"empty": "drop"}, [[5393, 16382], [102, 16382]]),
        ({"eos": False}, [[5393], [], [102]]),
        ({"eos": 7, "eos_place": "before"}, [[7, 5393], [], [7, 102]]),
        ({"bos": 3}, [[3, 5393, 16382], [], [3, 102, 16382]]),
        ({"bos": 3, "empty": "frame", "eos": False}, [[3, 5393], [3], [3, 102]]),
        ({"bos": 3, "eos": 4, "eos_place": "before"}, [[3, 4, 5393], [], [3, 4, 102]]),
    ],
)
def test_documents_are_framed(
    tmp_path: Path, options: dict[str, Any], expected: list[list[int]]
) -> None:
    path = write_corpus(tmp_path / "corpus.jsonl", ["low", "", "f"])
    write(path, tmp_path / "out", **options)
    tokens = toksmith.open_tokens(tmp_path / "out")
    assert [document.tolist() for document in tokens] == expected


def test_special_tokens_stay_text_unless_encoded(tmp_path: Path, tok: toksmith.Tokenizer) -> None:
    literal = next(name for name, token in tok.special_tokens.items() if token == 16382)
    path = write_corpus(tmp_path / "corpus.jsonl", [f"low{literal}"])
    write(path, tmp_path / "text", eos=False)
    write(path, tmp_path / "encoded", eos=False, special="encode")
    assert 16382 not in toksmith.open_tokens(tmp_path / "text")[0]
    assert toksmith.open_tokens(tmp_path / "encoded")[0].tolist() == [5393, 16382]


@pytest.mark.parametrize("name", ["megatron", "nanogpt"])
@pytest.mark.parametrize(
    "options",
    [{}, {"split": "train=0.8,val=0.2"}, {"shuffle": True, "seed": 5}, {"sequence_length": 64}],
)
def test_shards_give_the_files_of_one_run(
    tmp_path: Path, name: str, options: dict[str, Any]
) -> None:
    paths = [
        write_corpus(tmp_path / f"{part}.jsonl", TEXTS[part * 60 : part * 60 + 60])
        for part in range(5)
    ]
    whole = tmp_path / "whole"
    toksmith.tokenize_corpus(
        paths, tokenizer="toksmith-small", format=name, output=whole, **options
    )
    parts = tmp_path / "parts"
    for number in (2, 0, 1):
        entry = toksmith.tokenize_corpus(
            paths, tokenizer="toksmith-small", format=name, output=parts,
            shard=(number, 3), **options,
        )  # fmt: skip
        assert entry.files == ()
        assert contents(parts).keys() == {
            name for name in contents(parts) if name.startswith(".toksmith/")
        }
    done = finish_corpus(parts)
    assert [shard.number for shard in done.shards] == [0, 1, 2]
    assert contents(parts) == contents(whole)


def test_finishing_names_the_shards_that_are_missing(corpus: Path, tmp_path: Path) -> None:
    write(corpus, tmp_path / "out", shard="1/3")
    with pytest.raises(OptionError, match=r"2 of 3 shards are not done: 0, 2\. Run them"):
        finish_corpus(tmp_path / "out")
    with pytest.raises(OptionError, match="holds no shards"):
        finish_corpus(tmp_path / "elsewhere")


def test_a_document_is_in_the_same_split_whatever_the_shards(tmp_path: Path) -> None:
    splits = parse_splits("train=0.5,val=0.5")
    path = write_corpus(tmp_path / "corpus.jsonl", TEXTS)
    write(path, tmp_path / "a", split=dict(splits), eos=False)
    write_corpus(path, TEXTS[::-1])
    write(path, tmp_path / "b", split="train=0.5,val=0.5", eos=False)
    for name in ("train", "val"):
        found = [
            sorted(ids.tolist() for ids in toksmith.open_tokens(tmp_path / folder, split=name))
            for folder in "ab"
        ]
        assert found[0] == found[1]
        assert len(found[0]) > 100


def test_the_shares_of_splits_hold(tmp_path: Path) -> None:
    path = write_corpus(tmp_path / "corpus.jsonl", [str(number) for number in range(2000)])
    done = write(path, tmp_path / "out", split={"train": 0.9, "val": 0.1})
    assert 160 < done.splits["val"].documents < 240
    assert done.splits["train"].documents + done.splits["val"].documents == 2000


def stop_after(monkeypatch: pytest.MonkeyPatch, checkpoints: int) -> None:
    """Make every block a checkpoint, and end the run after some of them."""
    monkeypatch.setattr(shard_module, "_SECONDS", 0.0)
    checkpoint = Spool.checkpoint
    left = iter(range(checkpoints))

    def counted(self: Spool, progress: Any) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        checkpoint(self, progress)

    monkeypatch.setattr(Spool, "checkpoint", counted)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a few documents at a time."""
    read = shard_module.read_piece

    def few(*args: Any) -> Any:
        for block in read(*args):
            for start in range(0, len(block.bounds), 37):
                bounds = block.bounds[start : start + 37]
                yield block._replace(bounds=bounds, documents=len(bounds))

    monkeypatch.setattr(shard_module, "read_piece", few)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("checkpoints", [0, 1, 3, 8])
@pytest.mark.parametrize("damage", [None, "cut line", "longer files", "shorter files"])
def test_a_stopped_run_goes_on(
    corpus: Path, tmp_path: Path, checkpoints: int, damage: str | None
) -> None:
    options: dict[str, Any] = {"split": "train=0.7,val=0.3"}
    write(corpus, tmp_path / "whole", **options)
    with pytest.MonkeyPatch.context() as patch:
        stop_after(patch, checkpoints)
        with pytest.raises(KeyboardInterrupt):
            write(corpus, tmp_path / "out", **options)
    folder = tmp_path / "out" / ".toksmith" / "shards" / "00000-of-00001"
    journal = folder / "journal"
    assert len(journal.read_bytes().splitlines()) == 1 + checkpoints
    if damage == "cut line":
        journal.write_bytes(journal.read_bytes()[:-7])
    elif damage == "longer files":
        for name in ("train.ids", "val.lengths"):
            with (folder / name).open("ab") as file:
                file.write(b"\xff" * 5)
    elif damage == "shorter files":
        data = (folder / "train.ids").read_bytes()
        (folder / "train.ids").write_bytes(data[: len(data) // 2])
    write(corpus, tmp_path / "out", **options)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("failing", [0, 1, 4])
def test_a_block_that_is_not_written_is_the_last(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    """Space on a full disk may be free again for the next block."""
    write(corpus, tmp_path / "whole")
    append = Spool.append
    calls = iter(range(1000))

    def once(self: Spool, documents: Any) -> None:
        if next(calls) == failing:
            raise OSError(errno.ENOSPC, "No space left on device")
        append(self, documents)

    with monkeypatch.context() as patch:
        patch.setattr(shard_module, "_SECONDS", 0.0)
        patch.setattr(Spool, "append", once)
        with pytest.raises(OptionError, match=r"No space left on device\. What is written"):
            write(corpus, tmp_path / "out")
    assert next(calls) == failing + 1
    write(corpus, tmp_path / "out")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("shard", [None, (0, 1)])
def test_a_run_that_a_damaged_record_ended_goes_on_without_it(
    corpus: Path, tmp_path: Path, shard: tuple[int, int] | None
) -> None:
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text('{"text": "low"}\nno JSON\n{"text": "f"}\n')
    files: Any = [corpus, damaged]
    write(files, tmp_path / "whole", on_error="skip")
    with pytest.raises(FormatError, match="line 2 is not JSON"):
        write(files, tmp_path / "out", shard=shard)
    journal = tmp_path / "out/.toksmith/shards/00000-of-00001/journal"
    assert json.loads(journal.read_bytes().splitlines()[-1])["documents_read"] == 300
    done = write(files, tmp_path / "out", shard=shard, on_error="skip")
    if shard is not None:
        done = finish_corpus(tmp_path / "out")
    assert [line for _, line, _ in done.damaged] == [2]
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert verify_tokens(tmp_path / "out", progress=False).is_ok


def test_a_killed_finish_is_done_again(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toksmith.tokenfiles import finishing

    write(corpus, tmp_path / "whole")

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    for name in ("_sync", "Manifest"):
        with monkeypatch.context() as patch:
            patch.setattr(finishing, name, fail)
            with pytest.raises(KeyboardInterrupt):
                write(corpus, tmp_path / "out")
        assert not (tmp_path / "out" / NAME).exists()
    write(corpus, tmp_path / "out")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eos": False}, "eos is None, and was 16382"),
        ({"format": "nanogpt"}, "format is 'nanogpt', and was 'megatron'"),
        ({"field": "other"}, "field is 'other', and was 'text'"),
        ({"split": "train=0.5,val=0.5"}, "splits is .*val.*, and was"),
        ({"tokenizer": "other.json"}, "tokenizer_hash is"),
        ("change", r"corpus\.jsonl has changed"),
        ("another file", r"more\.jsonl is new"),
    ],
)
@pytest.mark.parametrize("is_done", [False, True])
def test_another_job_is_refused(
    corpus: Path, tmp_path: Path, change: Any, message: str, is_done: bool
) -> None:
    options: dict[str, Any] = {"files": [corpus], "format": "megatron", "output": tmp_path / "out"}
    options["tokenizer"] = "toksmith-small"
    if is_done:
        toksmith.tokenize_corpus(**options)
    else:
        toksmith.tokenize_corpus(**options, shard="0/1")
    if change == "change":
        corpus.write_text(corpus.read_text().replace("low", "LOW", 1))
    elif change == "another file":
        options["files"] += [write_corpus(tmp_path / "more.jsonl")]
    else:
        options |= change
    if options["tokenizer"] == "other.json":
        options["tokenizer"] = toksmith.train(
            texts=["low"], vocab_size=258, special_tokens=["<|endoftext|>"]
        )
    if not is_done:
        options["shard"] = "0/1"
    with pytest.raises(OptionError, match=message):
        toksmith.tokenize_corpus(**options)


def test_a_run_that_did_nothing_holds_no_folder(corpus: Path, tmp_path: Path) -> None:
    wrong: Any = {"field": "body", "split": "train=0.5,val=0.5"}
    with pytest.raises(FormatError, match="has no field 'body'"):
        write(corpus, tmp_path / "out", **wrong)
    write(corpus, tmp_path / "out")
    write(corpus, tmp_path / "whole")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_the_same_call_again_changes_nothing(corpus: Path, tmp_path: Path) -> None:
    first = write(corpus, tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    assert write(corpus, tmp_path / "out") == first == read_manifest(tmp_path / "out")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()} == before


def test_one_process_at_a_time_works_on_a_shard(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fcntl")
    monkeypatch.setattr(locks, "PATIENCE", 0.2)
    write(corpus, tmp_path / "out", shard="0/2")
    folder = tmp_path / "out" / ".toksmith" / "shards" / "00000-of-00002"
    job = Job.from_json(json.loads((folder / "journal").read_bytes().splitlines()[0])["job"])
    spool = Spool(folder, job, 0)
    try:
        with pytest.raises(OptionError, match="another process works on"):
            write(corpus, tmp_path / "out", shard="0/2")
    finally:
        spool.close()


def test_a_folder_with_other_files_is_refused(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(OptionError, match=r"is not empty \(notes\.txt\)"):
        write(corpus, tmp_path / "out")
    with pytest.raises(OptionError, match="is a file: give a folder"):
        write(corpus, tmp_path / "out" / "notes.txt")
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_damaged_records_are_reported_or_skipped(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"text": "low"}\n{"text": 5}\n{"text": "f"\n{"text": "f"}\n')
    with pytest.raises(FormatError, match="line 2"):
        write(path, tmp_path / "strict")
    done = write(path, tmp_path / "out", on_error="skip")
    assert [(Path(file), line) for file, line, _ in done.damaged] == [(path, 2), (path, 3)]
    assert [ids.tolist() for ids in toksmith.open_tokens(tmp_path / "out")] == [
        [5393, 16382], [102, 16382],
    ]  # fmt: skip
    assert read_manifest(tmp_path / "out") == done


def test_ids_that_do_not_fit_are_refused_first(
    corpus: Path, tmp_path: Path, large_tokenizer: Callable[[], toksmith.Tokenizer]
) -> None:
    with pytest.raises(OptionError, match="has 70,000 ids, and nanogpt files hold 65,536 at most"):
        write(corpus, tmp_path / "out", format="nanogpt", tokenizer=large_tokenizer(), eos=False)
    assert not (tmp_path / "out").exists()
    write(corpus, tmp_path / "out", tokenizer=large_tokenizer(), eos=False)
    assert toksmith.open_tokens(tmp_path / "out").dtype == np.int32


@pytest.fixture
def large_tokenizer() -> Callable[[], toksmith.Tokenizer]:
    def make() -> toksmith.Tokenizer:
        tok = toksmith.train(texts=["low"], vocab_size=257)
        return tok.with_special_tokens({"<|last|>": 69_999})

    return make


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "tar"}, "format is 'tar': use 'megatron'"),
        ({"special": "raise"}, 'special is \'raise\': use "text" or "encode"'),
        ({"empty": "none"}, "empty is 'none'"),
        ({"eos_place": "end"}, "eos_place is 'end'"),
        ({"on_error": "stop"}, "on_error is 'stop'"),
        ({"eos": "<|no|>"}, "eos is '<|no|>'"),
        ({"eos": 99_999}, "eos is 99,999: ids go from 0 to"),
        ({"eos": -1}, "eos is -1"),
        ({"sequence_length": 0}, "sequence_length is 0"),
        ({"eos": True}, "eos is True: use a token, by id or by its literal"),
        ({"shard": "0/0"}, "shard is 0/0: there must be 1 shard or more"),
        ({"shard": "4/4"}, "shard is 4/4: numbers go from 0 to 3"),
        ({"shard": "4"}, "shard is '4': use NUMBER/SHARDS"),
        ({"split": "train"}, "split has 'train': use NAME=SHARE"),
        ({"split": {"train": 0.5}}, "add up to 0.5"),
        ({"split": {"../a": 1.0}}, "split names '../a'"),
        ({"split": {"a": 0.0, "b": 1.0}}, "the share of split 'a' is 0.0"),
    ],
)
def test_wrong_options_are_refused(
    corpus: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message.replace("(", r"\(").replace("|", r"\|")):
        write(corpus, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_tokenizer_without_end_of_text_needs_an_option(corpus: Path, tmp_path: Path) -> None:
    tok = toksmith.train(texts=["low"], vocab_size=257)
    with pytest.raises(OptionError, match="the tokenizer has none: give one with eos, or False"):
        write(corpus, tmp_path / "out", tokenizer=tok)


def test_a_line_of_json_is_logged_for_each_shard(corpus: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    for number in (0, 1):
        write(corpus, tmp_path / "out", shard=(number, 2), log_json=log)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["shard"], line["shards"]) for line in lines] == [(0, 2), (1, 2)]
    assert sum(line["documents"] for line in lines) == 300


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """fsspec's storage in memory, empty, and a cache of its own for the work."""
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    return system


def test_a_url_takes_the_files(corpus: Path, tmp_path: Path, storage: Any) -> None:
    here = write(corpus, tmp_path / "out", split="train=0.5,val=0.5")
    there = write(corpus, "memory://bucket/tokens/", split="train=0.5,val=0.5")
    assert there.files == here.files
    names = {name.removeprefix("/bucket/tokens/") for name in storage.find("/bucket")}
    assert names == {NAME, *(file.name for file in here.files)}
    for file in here.files:
        held = storage.cat_file(f"/bucket/tokens/{file.name}")
        assert held == (tmp_path / "out" / file.name).read_bytes()
    assert not list((tmp_path / "cache").rglob("*.bin"))
    assert write(corpus, "memory://bucket/tokens", split="train=0.5,val=0.5") == there
    with pytest.raises(OptionError, match=r"memory://bucket/tokens holds work of another job: eos"):
        write(corpus, "memory://bucket/tokens", split="train=0.5,val=0.5", eos=False)


@pytest.mark.usefixtures("small_blocks")
def test_damages_of_a_url_are_counted_once(
    tmp_path: Path, storage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "no JSON\n" + "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
    storage.pipe_file("/bucket/corpus.jsonl", text.encode())
    options: dict[str, Any] = {"output": tmp_path / "out", "on_error": "skip"}
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(KeyboardInterrupt):
            write("memory://bucket/corpus.jsonl", **options)
    done = write("memory://bucket/corpus.jsonl", **options)
    assert [entry[:2] for entry in done.damaged] == [("memory://bucket/corpus.jsonl", 1)]


def test_the_latest_progress_is_that_of_the_last_whole_line(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out/.toksmith/shards/00000-of-00001"
    assert latest_progress(folder) is None
    write(corpus, tmp_path / "out", shard="0/1")
    done = latest_progress(folder)
    assert done is not None
    assert done.documents_read == 300
    head, last = (folder / "journal").read_bytes().splitlines(keepends=True)
    (folder / "journal").write_bytes(head)
    assert latest_progress(folder) is None
    (folder / "journal").write_bytes(head + last + last[:9])
    assert latest_progress(folder) == done


def test_a_failed_upload_is_done_again(
    corpus: Path, storage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("the connection broke")

    with monkeypatch.context() as patch:
        patch.setattr(type(storage), "put_file", fail)
        with pytest.raises(OptionError, match="cannot be written: OSError: the connection broke"):
            write(corpus, "memory://bucket/tokens")
    done = write(corpus, "memory://bucket/tokens")
    assert {name.rpartition("/")[2] for name in storage.find("/bucket")} == {
        NAME, *(file.name for file in done.files),
    }  # fmt: skip


def test_a_url_is_refused_where_it_cannot_serve(corpus: Path, storage: Any) -> None:
    with pytest.raises(OptionError, match="shards need a folder that all machines see"):
        write(corpus, "memory://bucket/tokens", shard="0/2")
    storage.pipe_file("/bucket/tokens/other.bin", b"x")
    with pytest.raises(OptionError, match=r"is not empty \(/bucket/tokens/other\.bin\)"):
        write(corpus, "memory://bucket/tokens")
    with pytest.raises(OptionError, match="noscheme"):
        write(corpus, "noscheme://bucket/tokens")


@pytest.mark.parametrize("name", ["llmc", "litdata", "mds", "webdataset", "arrow"])
def test_full_disk_is_named_and_the_same_call_goes_on(name: str, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits the size of files")
    corpus = write_corpus(tmp_path / "corpus.jsonl", ["low lower newest " * 20] * 400)
    whole = write(corpus, tmp_path / "whole", format=name)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (whole.tokens * 2 + 100, hard))
    try:
        with pytest.raises(OptionError, match=r"File too large.*the same command again"):
            write(corpus, tmp_path / "out", format=name)
        assert contents(tmp_path / "out").keys().isdisjoint(contents(tmp_path / "whole"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert write(corpus, tmp_path / "out", format=name).files == whole.files


def test_two_processes_do_not_finish_at_once(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fcntl")
    monkeypatch.setattr(locks, "PATIENCE", 0.2)
    out = tmp_path / "out"
    write(corpus, out, shard="0/1")
    with (
        locked(out / ".toksmith"),
        pytest.raises(OptionError, match="another process works on"),
    ):
        finish_corpus(out)
    assert finish_corpus(out).documents == len(TEXTS)


def test_source_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    source = tmp_path / os.fsdecode(b"bad\xff.jsonl")
    try:
        write_corpus(source)
    except OSError:
        pytest.skip("this system has no such names")
    done = write(source, tmp_path / "out")
    assert read_manifest(tmp_path / "out") == done
    assert verify_tokens(tmp_path / "out", progress=False).is_ok


def test_token_files_are_not_opened_by_url() -> None:
    with pytest.raises(FormatError, match="read from local folders: download it first"):
        toksmith.open_tokens("memory://bucket/tokens")


def test_a_shard_of_another_job_is_refused_before_it_is_made(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(corpus, out, shard="0/2")
    write_corpus(corpus, [*TEXTS, "new"])
    with pytest.raises(OptionError, match=r"corpus\.jsonl has changed"):
        write(corpus, out, shard="1/2")
    assert not (out / ".toksmith" / "shards" / "00001-of-00002").exists()


@pytest.mark.parametrize("way", ["before its shard", "before the end", "as a conversion"])
def test_another_process_finishes_meanwhile(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """It removes the folder of unfinished work; what this one finds then depends on the moment."""
    out, calls = tmp_path / "out", []
    tokens = tmp_path / "tokens"
    write(corpus, tokens)

    def run() -> Manifest:
        if way == "as a conversion":
            return convert_tokens(tokens, format="megatron", output=out)
        return write(corpus, out)

    def after_the_other(spoiled: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **options: Any) -> Any:
            calls.append(1)
            if len(calls) == 1:
                run()
                with writing_to(out / ".toksmith"):
                    (out / ".toksmith" / "lock").open("ab")
            return spoiled(*given, **options)

        return call

    place = {
        "before its shard": "tokenizing.run_shard",
        "before the end": "tokenizing.finish",
        "as a conversion": "converting.write_splits",
    }[way]
    module, name = place.split(".")
    owner = import_module(f"toksmith.tokenfiles.{module}")
    monkeypatch.setattr(owner, name, after_the_other(getattr(owner, name)))
    if way == "as a conversion":  # which holds the lock
        monkeypatch.setattr(converting, "locked", lambda _: nullcontext())
    assert run() == read_manifest(out)
    assert not (out / ".toksmith").exists()


def test_work_that_was_removed(tmp_path: Path) -> None:
    with (
        pytest.raises(OptionError, match="another process works on this folder, or has just"),
        writing_to(tmp_path),
    ):
        (tmp_path / "none" / "lock").open("ab")
