"""Tests of converting token files from one format to another."""

from __future__ import annotations

import errno
import gzip
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.unit.test_tokenize_corpus import contents, write, write_corpus
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles import Manifest, convert_tokens, converting, finishing, verify_tokens
from toksmith.tokenfiles.formats import NAMES
from toksmith.tokenfiles.manifest import NAME, read_manifest

TEXTS = [f"low lower {number} " * (number % 4) for number in range(12)]
EOS: dict[str, Any] = {"eos": 16382, "eos_place": "after", "empty": "frame"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus in all formats, with the same eos."""
    folder = tmp_path_factory.mktemp("written")
    path = write_corpus(folder / "corpus.jsonl", TEXTS)
    for name in NAMES:
        write(path, folder / name, format=name, split="train=0.7,val=0.3", **EOS)
    return folder


@pytest.mark.parametrize("old", NAMES)
def test_the_bytes_are_those_of_tokenizing(written: Path, tmp_path: Path, old: str) -> None:
    for new in NAMES:
        if new != old:
            done = convert_tokens(written / old, format=new, output=tmp_path / new, progress=False)
            assert contents(tmp_path / new) == contents(written / new), new
            assert read_manifest(tmp_path / new) == done == read_manifest(written / new)


def convert(tokens: Path, output: Path, **options: Any) -> Manifest:
    return convert_tokens(tokens, output=output, progress=False, **options)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus.jsonl", TEXTS)


@pytest.mark.parametrize(
    ("old", "before", "new", "more"),
    [
        ("megatron", {}, "parquet", {"shuffle": True, "seed": 3}),
        ("megatron", {}, "nanogpt", {"shuffle": True, "seed": 3, "sequence_length": 8}),
        ("parquet", {"eos": False}, "nanogpt", {}),
        ("megatron", {"empty": "bare"}, "llmc", {"shard_tokens": 20}),
        ("llmc", {"shard_tokens": 20}, "megatron", {}),
        ("llmc", {"eos": False}, "datatrove", {"sequence_length": 8}),
        ("nanogpt", {"special": "encode"}, "llmc", {}),
        ("parquet", {"sequence_length": 8}, "nanogpt", {}),
        ("nanogpt", {"sequence_length": 8}, "parquet", {}),
        ("datatrove", {"shuffle": True, "seed": 3}, "megatron", {"sequence_length": 8}),
        ("dolma", {"bos": 3}, "megatron", {}),
        ("megatron", {}, "mds", {"empty": "drop"}),
        ("parquet", {}, "mds", {"empty": "drop", "shuffle": True}),
        ("nanogpt", {"bos": 3}, "dolma", {}),
        ("nanogpt", {"empty": "drop", "eos_place": "before"}, "dolma", {"shard_tokens": 20}),
    ],
)
def test_options_are_kept_or_added(
    corpus: Path, tmp_path: Path, old: str, before: dict[str, Any], new: str, more: dict[str, Any]
) -> None:
    corpus.write_text(corpus.read_text() + '{"text": "low<|endoftext|>low"}\n')
    first = write(corpus, tmp_path / "old", format=old, **before).job
    added = {name: value for name, value in more.items() if name != "empty"}
    done = convert(tmp_path / "old", tmp_path / "new", format=new, **added)
    before.pop("shard_tokens", None)
    framing = {"eos": False if first.eos is None else first.eos, "eos_place": first.eos_place}
    options = {"empty": first.empty, **framing, **before, **more}
    assert write(corpus, tmp_path / "direct", format=new, **options) == done
    assert contents(tmp_path / "new") == contents(tmp_path / "direct")
    found = verify_tokens(tmp_path / "new", progress=False)
    assert (found.problems, found.documents) == ((), done.shards[0].documents - done_empty(done))


def done_empty(done: Manifest) -> int:
    """Return the number of documents that were dropped because they are empty."""
    return 3 if done.job.empty == "drop" else 0


@pytest.mark.parametrize(
    ("before", "more", "message"),
    [
        ({"format": "nanogpt", "eos": False}, {}, "does not store where documents end"),
        ({"format": "nanogpt", "empty": "bare"}, {}, "does not store where documents end"),
        ({"format": "nanogpt", "special": "encode"}, {}, "13 documents were written, and 14 are"),
        ({"format": "nanogpt", "eos": False}, {"shuffle": True}, "does not store where documents"),
        ({"shuffle": True}, {"format": "mds"}, 'was shuffled, and mds files .* with empty="drop"'),
        ({"sequence_length": 8}, {"sequence_length": 4}, "has sequences of 8 tokens, without the"),
        (
            {"sequence_length": 8},
            {"shuffle": True},
            "has sequences, whose documents cannot be shuf",
        ),
        (
            {"shuffle": True},
            {"shuffle": True, "seed": 1},
            "was shuffled with seed 0: leave shuffle",
        ),
        ({}, {"eos": 3}, "has end-of-text id 16382, after each document, and keeps it"),
        (
            {},
            {"eos_place": "before"},
            "has end-of-text id 16382, after each document, and keeps it",
        ),
        ({}, {"vocab_size": 5}, "vocab_size is 5: .* was made with 16,384 ids"),
        ({}, {"format": "tar"}, "format is 'tar': use 'megatron'"),
        ({}, {"sequence_length": 0}, "sequence_length is 0"),
        ({}, {"shuffle": True, "seed": -1}, "seed is -1"),
        ({}, {"tokenizer": "gpt2-like"}, "is not toksmith-small, which made the tokens"),
    ],
)
def test_what_cannot_be_converted_is_refused(
    corpus: Path, tmp_path: Path, before: dict[str, Any], more: dict[str, Any], message: str
) -> None:
    corpus.write_text(corpus.read_text() + '{"text": "low<|endoftext|>low"}\n')
    write(corpus, tmp_path / "old", **{"format": "megatron"} | before)
    if "tokenizer" in more:
        more = {"tokenizer": toksmith.train(texts=["low"], vocab_size=257)}
    with pytest.raises(OptionError, match=message):
        convert(tmp_path / "old", tmp_path / "new", **{"format": "parquet"} | more)
    assert not (tmp_path / "new").exists()


def test_files_of_other_programs(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    np.array([5, 6, 0, 7, 0], "<u2").tofile(folder / "train.bin")
    np.array([8, 0], "<u2").tofile(folder / "val.bin")
    done = convert(folder, tmp_path / "a", format="megatron", eos=0)
    assert (done.job.vocab_size, done.job.dtype, done.job.sources) == (9, "uint16", ())
    assert [file.name for file in done.files[::2]] == [
        "train_text_document.bin", "val_text_document.bin",
    ]  # fmt: skip
    tokens = toksmith.open_tokens(tmp_path / "a", split="train")
    assert [ids.tolist() for ids in tokens] == [[5, 6, 0], [7, 0]]
    found = verify_tokens(tmp_path / "a", progress=False)
    assert (found.problems, found.notes) == (
        (), ("the documents are not compared with their texts: the manifest names no sources",),
    )  # fmt: skip
    done = convert(folder / "val.bin", tmp_path / "b", format="dolma", vocab_size=70_000)
    assert (done.job.dtype, done.job.split_names, done.documents) == ("uint32", ("val",), 1)
    tok = toksmith.get("toksmith-small")
    done = convert(
        folder, tmp_path / "c", format="parquet", tokenizer=tok, eos=8, eos_place="before"
    )
    assert (done.job.vocab_size, done.job.tokenizer_hash) == (16384, tok.pipeline.digest)
    assert len(toksmith.open_tokens(tmp_path / "c", split="val")) == 1
    (folder / "more.bin").write_bytes(b"\x09\x00")
    done = convert(folder, tmp_path / "d", format="nanogpt")
    assert (done.job.split_names, done.tokens) == (("train",), 8)


def test_ids_that_do_not_fit_are_refused_first(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.array([5, 70_000, 0, 6, 0], "<u4").tofile(path)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"0,3,0,a,1\n3,5,1,a,2\n"))
    with pytest.raises(OptionError, match="has 70,001 ids, and nanogpt files hold 65,536 at most"):
        convert(path, tmp_path / "new", format="nanogpt")
    with pytest.raises(OptionError, match="document 0 has id 70,000: ids go from 0 to 65,535"):
        convert(path, tmp_path / "new", format="nanogpt", vocab_size=1 << 16)
    assert not (tmp_path / "new").exists()
    assert convert(path, tmp_path / "new", format="llmc").job.dtype == "uint32"


def test_a_killed_conversion_is_done_again(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(corpus, tmp_path / "old")
    convert(tmp_path / "old", tmp_path / "whole", format="llmc")

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    for place, name in ((finishing, "_sync"), (finishing.os, "replace"), (converting, "Manifest")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, fail)
            with pytest.raises(KeyboardInterrupt):
                convert(tmp_path / "old", tmp_path / "new", format="llmc")
        assert not (tmp_path / "new" / NAME).exists()
    first = convert(tmp_path / "old", tmp_path / "new", format="llmc")
    assert contents(tmp_path / "new") == contents(tmp_path / "whole")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "new").iterdir()}
    assert convert(tmp_path / "old", tmp_path / "new", format="llmc") == first
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "new").iterdir()} == before


def test_other_folders_and_damaged_files_are_refused(corpus: Path, tmp_path: Path) -> None:
    write(corpus, tmp_path / "old", format="nanogpt")
    with pytest.raises(OptionError, match="format is 'llmc', and was 'nanogpt'"):
        convert(tmp_path / "old", tmp_path / "old", format="llmc")
    write(corpus, tmp_path / "shards", shard="0/2")
    with pytest.raises(OptionError, match="holds unfinished work of another kind"):
        convert(tmp_path / "old", tmp_path / "shards", format="llmc")
    with pytest.raises(OptionError, match="is not empty"):
        convert(tmp_path / "old", tmp_path, format="llmc")
    path = tmp_path / "old" / "train.bin"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(FormatError, match=r"its manifest says .* toksmith verify .* shows the dam"):
        convert(tmp_path / "old", tmp_path / "new", format="llmc")
    with pytest.raises(FormatError, match="there is no such file or folder"):
        convert(tmp_path / "gone", tmp_path / "new", format="llmc")


@pytest.mark.parametrize("name", NAMES)
def test_documents_are_read_in_any_order(written: Path, name: str) -> None:
    tokens = toksmith.open_tokens(written / name)
    numbers = np.random.default_rng(1).permutation(len(tokens))
    size = len(pickle.dumps(tokens))
    found = [ids.tolist() for ids in tokens.each(numbers)]
    assert found == [tokens[number].tolist() for number in numbers.tolist()]
    assert tokens.each(numbers[:0]) == []
    assert len(pickle.dumps(tokens)) < size + 500
    again = pickle.loads(pickle.dumps(tokens))
    assert [ids.tolist() for ids in again.each(numbers)] == found


def test_nothing_is_left_after_an_error(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(corpus, tmp_path / "old", format="nanogpt")
    with pytest.raises(OptionError, match="llmc files hold 1 to"):
        convert(tmp_path / "old", tmp_path / "new", format="llmc", shard_tokens=1 << 31)
    assert not (tmp_path / "new").exists()

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(finishing, "_sync", fail)
    with pytest.raises(OptionError, match="new cannot be written: No space left on device"):
        convert(tmp_path / "old", tmp_path / "new", format="llmc")
    assert not (tmp_path / "new").exists()
