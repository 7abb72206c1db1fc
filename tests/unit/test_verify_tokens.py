"""Tests of checking token files: what is right passes, and each kind of damage is named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import toksmith
from tests.unit.test_tokenize_corpus import write, write_corpus
from toksmith.errors import FormatError, OptionError, ToksmithError
from toksmith.tokenfiles import TokenCheck, finish_corpus, verify_tokens
from toksmith.tokenfiles.manifest import NAME

TEXTS = [f"low lower {number} " * (number % 4) for number in range(60)]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus.jsonl", TEXTS)


def check(folder: Path, **options: Any) -> TokenCheck:
    return verify_tokens(folder, progress=False, **options)


ALL = [
    {},
    {"split": "train=0.7,val=0.3"},
    {"shuffle": True, "seed": 4, "split": "train=0.7,val=0.3"},
    {"sequence_length": 16},
    {"sequence_length": 16, "shuffle": True},
    {"empty": "drop"},
    {"empty": "bare", "bos": 3},
    {"eos": False, "shuffle": True},
    {"bos": 3, "eos_place": "before"},
    {"special": "encode"},
]


@pytest.mark.parametrize("name", ["megatron", "nanogpt", "llmc"])
@pytest.mark.parametrize("options", ALL)
def test_right_files_pass(corpus: Path, tmp_path: Path, name: str, options: dict[str, Any]) -> None:
    folder = tmp_path / "out"
    write(corpus, folder, format=name, **options)
    for sample in (1.0, 0.2):
        found = check(folder, sample=sample)
        assert (found.problems, found.is_ok, found.counts) == ((), True, {})
        assert found.documents >= (45 if sample == 1 else 5)
        if name == "megatron" and "sequence_length" not in options:  # it stores bounds
            assert (found.documents < 30, found.notes) == (sample < 1, ())
    corpus.unlink()
    for sample in (1.0, 0.2):
        found = check(folder, sources=False, sample=sample)
        assert (found.problems, found.documents) == ((), 0)
        assert found.notes[0] == "the documents are not compared with their texts (no sources)"
        assert len(found.notes) <= 2


def test_a_changed_bit_is_found(corpus: Path, tmp_path: Path) -> None:
    write(corpus, tmp_path / "out")
    path = tmp_path / "out" / "train_text_document.bin"
    ids = np.fromfile(path, "<u2")
    ids[10] ^= 1
    ids.tofile(path)
    found = check(tmp_path / "out")
    assert not found.is_ok
    assert [problem.file for problem in found.problems] == [path.name, path.name]
    assert found.counts == {"files": 1, "documents": 1}
    file, document = found.problems
    assert file.what.startswith("its SHA-256 is ")
    assert (document.split, document.shard, document.document) == ("train", 0, 2)
    assert document.what.startswith("token ")


def replace_id(path: Path, place: int, token: int) -> None:
    """Write another id at a place of a file of uint16."""
    ids = np.fromfile(path, "<u2")
    ids[place] = token
    ids.tofile(path)


def edit(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest of a folder."""
    held = json.loads((folder / NAME).read_bytes())
    change(held)
    (folder / NAME).write_text(json.dumps(held))


def hash_again(folder: Path) -> None:
    """Write the sizes and hashes of the files to the manifest, as one who hides a change would."""

    def change(held: dict[str, Any]) -> None:
        for file in held["files"]:
            data = (folder / file["name"]).read_bytes()
            file |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    edit(folder, change)


DATA, INDEX = "train_text_document.bin", "train_text_document.idx"


@pytest.fixture
def out(corpus: Path, tmp_path: Path) -> Path:
    write(corpus, tmp_path / "out")
    return tmp_path / "out"


def test_a_changed_document_is_shown(out: Path) -> None:
    tok = toksmith.get("toksmith-small")
    ids = tok.encode(TEXTS[2])
    replace_id(out / DATA, len(tok.encode(TEXTS[1])) + 2, 77)
    hash_again(out)
    found = check(out)
    assert found.counts == {"documents": 1}
    rest = " ".join(map(str, ids[2:9]))
    assert str(found).splitlines() == [
        f"{DATA}, shard 0, split train, document 2, of {out.parent / 'corpus.jsonl'}: "
        "token 1 differs from that of its text",
        "    text      low·lower·2·low·lower·2·",
        f"    found     77 {rest} …  M·2·low·lower·2·",
        f"    expected  {ids[1]} {rest} …  ·lower·2·low·lower·2·",
        f"{out}: 1 problem (documents 1) in 2 files, 60 documents, 460 tokens",
    ]


def test_ids_that_are_not_canonical_are_found(tmp_path: Path) -> None:
    path = write_corpus(tmp_path / "corpus.jsonl", ["low", "lower"])
    write(path, tmp_path / "out", format="nanogpt")
    tok = toksmith.get("toksmith-small")
    assert (tok.encode("low"), tok.encode("lower")) == ([5393], [108, 1307])
    split = [*map(tok.token_id, ("l", "ow")), 16382, 108, 1307, 16382]
    np.array(split, "<u2").tofile(tmp_path / "out" / "train.bin")
    hash_again(tmp_path / "out")
    found = check(tmp_path / "out")
    first = found.problems[0]
    assert (first.split, first.what) == ("train", "it has 6 tokens, and the manifest says 5")
    assert found.problems[1].what == (
        "token 0 differs: the ids decode to the text, but they are not those that the tokenizer "
        "gives for it"
    )


def test_a_wrong_end_of_text_is_found(out: Path) -> None:
    replace_id(out / DATA, len(toksmith.get("toksmith-small").encode(TEXTS[1])), 5)
    hash_again(out)
    (problem,) = check(out).problems
    assert (problem.document, problem.what[-48:]) == (
        1, "differs: it is not the bos or eos of the options",
    )  # fmt: skip


def test_ids_outside_the_vocabulary_are_found(out: Path) -> None:
    replace_id(out / DATA, 3, 16384)
    found = check(out, sources=False)
    assert found.counts == {"files": 1, "ids": 1}
    assert found.problems[1].what == "document 1 of the file has id 16,384: ids go from 0 to 16,383"
    assert check(out).counts == {"files": 1, "ids": 1, "documents": 1}


def test_a_missing_file_is_found(out: Path) -> None:
    (out / INDEX).unlink()
    found = check(out)
    assert [(each.file, each.what) for each in found.problems] == [(INDEX, "it is missing")]
    assert found.documents == 0
    assert found.notes == (
        "the documents are not compared with their texts: solve the problems above first",
    )


def test_another_file_that_readers_read_is_found(corpus: Path, tmp_path: Path, out: Path) -> None:
    (out / "notes.txt").write_text("mine")
    found = check(out)
    assert (found.is_ok, found.notes) == (
        True,
        ("not in the manifest, and not checked: notes.txt",),
    )
    for ending in (".bin", ".idx"):
        (out / f"more{ending}").write_bytes((out / DATA).with_suffix(ending).read_bytes())
    found = check(out)
    assert [(each.file, each.what[:27]) for each in found.problems] == [
        ("more.bin", "it is not in the manifest, "),
    ]  # fmt: skip


def test_swapped_files_are_found(corpus: Path, tmp_path: Path) -> None:
    write(corpus, tmp_path / "out", format="nanogpt", split="a=0.5,b=0.5")
    first, other = (tmp_path / "out" / f"{name}.bin" for name in "ab")
    contents = first.read_bytes(), other.read_bytes()
    first.write_bytes(contents[1])
    other.write_bytes(contents[0])
    found = check(tmp_path / "out")
    assert found.counts["files"] == 2
    assert found.counts["documents"] > 20
    assert len([each for each in found.problems if each.document is not None]) == 10
    assert f"{found.counts['documents'] - 10} more documents like these" in str(found)


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (lambda held: held["job"].update(seed=6), {"documents": 56}),
        (lambda held: held["job"].update(eos=5), {"documents": 45}),
        (lambda held: held["job"].update(dtype="int32"), {"figures": 1}),
        (lambda held: held["job"].update(vocab_size=16383), {"figures": 1}),
        (lambda held: held["splits"]["train"].update(documents=59), {"figures": 2}),
        (lambda held: held["splits"]["train"].update(tokens=59), {"figures": 2}),
        (lambda held: held["splits"]["train"].update(longest=59), {"figures": 2}),
        (lambda held: held["shards"][0].update(documents=5), {"figures": 1}),
        (lambda held: held["shards"][0].update(text_bytes=5), {"figures": 1}),
        (lambda held: held["shards"][0].update(tokens=5), {"figures": 1}),
        (lambda held: held["shards"][0].update(damaged=[["a", 1, "b"]]), {"figures": 1}),
        (lambda held: held["shards"].clear(), {"figures": 1}),
        (lambda held: held["files"][0].update(bytes=5), {"files": 1}),
        (lambda held: held["files"][0].update(sha256="5"), {"files": 1}),
        (lambda held: held["files"].pop(0), {"files": 1}),
        (lambda held: held["job"]["sources"][0].update(bytes=5), {"sources": 1}),
        (lambda held: held["job"].update(tokenizer_hash="0"), {"tokenizers": 1}),
        (lambda held: held["job"].update(tokenizer="gone.json"), {"tokenizers": 1}),
    ],
)
def test_an_edited_manifest_is_found(
    corpus: Path, tmp_path: Path, change: Any, counts: dict[str, int]
) -> None:
    write(corpus, tmp_path / "out", shuffle=True, seed=5)
    edit(tmp_path / "out", change)
    found = check(tmp_path / "out")
    assert {kind: found.counts.get(kind, 0) for kind in counts} == counts
    assert not found.is_ok


def test_changed_and_missing_sources_are_found(corpus: Path, out: Path) -> None:
    corpus.write_text(corpus.read_text().replace("low", "LOW", 1))
    found = check(out)
    assert [(each.source, each.what) for each in found.problems] == [
        (str(corpus), "it has changed since it was tokenized"),
    ]  # fmt: skip
    corpus.unlink()
    (problem,) = check(out).problems
    assert problem.what.startswith("it cannot be read (No such file or directory): run this where")
    assert problem.what.endswith("or check without sources (--no-sources)")
    assert check(out, sources=False).is_ok


def test_another_tokenizer_is_found(out: Path) -> None:
    other = toksmith.train(texts=["low"], vocab_size=257, special_tokens=["<|endoftext|>"])
    found = check(out, tokenizer=other)
    assert found.counts["tokenizers"] == 1
    assert found.problems[0].what.startswith("the tokenizer ")
    assert found.counts["documents"] > 0


def test_a_tokenizer_that_normalizes_is_said_to_do_so(tmp_path: Path) -> None:
    tok = toksmith.train(
        texts=["low lower lowest"], vocab_size=18, model="wordpiece", lowercase=True,
        special_tokens=["[UNK]", "[SEP]"],
    )  # fmt: skip
    path = write_corpus(tmp_path / "corpus.jsonl", ["LOW", "low", "lower"])
    write(path, tmp_path / "out", tokenizer=tok, eos="[SEP]")
    found = check(tmp_path / "out", tokenizer=tok)
    assert (found.is_ok, found.documents) == (True, 3)
    assert found.notes == (
        "documents that do not decode to their text, because the tokenizer normalizes it: 1 (LOW "
        "becomes low); their ids are compared",
    )


def test_special_tokens_in_the_text(tmp_path: Path) -> None:
    path = write_corpus(tmp_path / "corpus.jsonl", ["low<|endoftext|>low", "<|endoftext|>", ""])
    for special in ("text", "encode"):
        for name in ("nanogpt", "megatron"):
            folder = tmp_path / f"{special}-{name}"
            write(path, folder, format=name, special=special)
            found = check(folder)
            assert (found.problems, found.documents) == ((), 3)
            replace_id(next(folder.glob("*.bin")), 0, 77)
            assert check(folder).counts == {"files": 1, "documents": 1}


def test_damaged_records_and_several_sources(tmp_path: Path) -> None:
    paths = [write_corpus(tmp_path / f"{n}.jsonl", TEXTS[n * 20 : n * 20 + 20]) for n in range(3)]
    with paths[1].open("a") as file:
        file.write('{"text": 5}\n')
    options: dict[str, Any] = {"on_error": "skip", "tokenizer": "toksmith-small"}
    for number in range(2):
        toksmith.tokenize_corpus(
            paths, output=tmp_path / "out", format="megatron", shard=(number, 2), **options
        )
    finish_corpus(tmp_path / "out")
    found = check(tmp_path / "out")
    assert (found.problems, found.documents) == ((), 60)
    size = (tmp_path / "out" / DATA).stat().st_size // 2
    replace_id(tmp_path / "out" / DATA, size - 2, 77)
    problem = check(tmp_path / "out").problems[1]
    assert (problem.document, problem.shard, problem.source) == (59, 1, str(paths[2]))


@pytest.mark.parametrize("options", [{}, {"sequence_length": 8}, {"eos": False}])
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_file_of_several_is_named(
    corpus: Path, tmp_path: Path, options: dict[str, Any], shuffle: bool
) -> None:
    folder = tmp_path / "out"
    write(corpus, folder, format="llmc", shard_tokens=200, shuffle=shuffle, **options)
    path = sorted(folder.glob("*.bin"))[1]
    data = bytearray(path.read_bytes())
    data[1024 + 100] ^= 1
    path.write_bytes(data)
    found = check(folder)
    assert found.counts == {"files": 1, "documents": 1}
    assert [problem.file for problem in found.problems] == [path.name, path.name]


def test_a_stream_that_is_cut_short_is_found(corpus: Path, tmp_path: Path) -> None:
    for number, options in enumerate(({"sequence_length": 8}, {"eos": False}, {})):
        folder = tmp_path / str(number)
        write(corpus, folder, format="nanogpt", **options)
        path = folder / "train.bin"
        path.write_bytes(path.read_bytes()[:-32])
        hash_again(folder)
        assert check(folder).counts["figures"] == 1
        edit(folder, lambda held: held["splits"]["train"].update(
            tokens=held["splits"]["train"]["tokens"] - 16))  # fmt: skip
        assert check(folder).counts["figures"] == (2 if number == 0 else 1)


def test_wrong_options_are_refused(out: Path, tmp_path: Path) -> None:
    for sample in (0, 1.5, True, "1", float("nan")):
        with pytest.raises(OptionError, match=r"sample is .*: use a number above 0, and 1 at most"):
            check(out, sample=sample)
    with pytest.raises(FormatError, match="only files that toksmith wrote can be checked"):
        check(tmp_path)
    with pytest.raises(OptionError, match="sources"):
        check(out, sources="no")


def test_a_corpus_without_documents(tmp_path: Path) -> None:
    path = write_corpus(tmp_path / "corpus.jsonl", [])
    for name in ("megatron", "llmc", "nanogpt", "dolma"):
        write(path, tmp_path / name, format=name, split="train=0.5,val=0.5")
        found = check(tmp_path / name)
        assert (found.problems, found.documents) == ((), 0)


def test_ids_of_no_text_are_found_without_sources(tmp_path: Path) -> None:
    path = write_corpus(tmp_path / "corpus.jsonl", ["low", "lower", "f"])
    folder = tmp_path / "out"
    write(path, folder, format="parquet", bos=3, eos=16382)
    tok = toksmith.get("toksmith-small")
    held = [[3, 5393, 16382], [3, 108, 1307, 16382], [3, 102, 16382]]
    assert [ids.tolist() for ids in toksmith.open_tokens(folder)] == held
    ids = [*map(tok.token_id, ("l", "ow"))]
    write_lists(folder, [[3, *ids, 16382], [4, 108, 1307, 16382], [3, 102]])
    found = check(folder, sources=False)
    assert found.counts == {"files": 1, "documents": 3}
    assert [each.what for each in found.problems[1:]] == [
        "document 1 of its files lacks the bos or eos of the options",
        "document 2 of its files lacks the bos or eos of the options",
        "document 0 of its files has ids that the tokenizer does not give for its text",
    ]
    assert found.problems[-1].details == (
        "text      low", f"found     {ids[0]} {ids[1]}", "expected  5393",
    )  # fmt: skip


def write_lists(folder: Path, documents: list[list[int]]) -> None:
    """Replace the documents of a Parquet file."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (path,) = folder.glob("*.parquet")
    kind = pyarrow.list_(pyarrow.int32())
    parquet.write_table(pyarrow.table({"input_ids": pyarrow.array(documents, kind)}), path)


def test_notes_say_what_cannot_be_checked_without_sources(corpus: Path, tmp_path: Path) -> None:
    write(corpus, tmp_path / "sequences", sequence_length=8)
    assert check(tmp_path / "sequences", sources=False).notes[1] == (
        "split train does not tell documents apart: that its ids are those of a text is not checked"
    )
    tok = toksmith.train(
        texts=["low lower lowest"], vocab_size=18, model="wordpiece",
        special_tokens=["[UNK]", "[SEP]"],
    )  # fmt: skip
    write(corpus, tmp_path / "lossy", tokenizer=tok, eos="[SEP]")
    found = check(tmp_path / "lossy", tokenizer=tok, sources=False)
    assert (found.is_ok, found.notes[1]) == (
        True,
        "that ids are those of a text is not checked: the tokenizer does not decode them to it",
    )
    found = check(tmp_path / "lossy", sources=False)
    assert found.is_ok
    assert found.notes[0].startswith("the tokenizer unnamed cannot be loaded (")
    found = check(tmp_path / "lossy")
    assert (found.is_ok, found.counts) == (False, {"tokenizers": 1})


HARMLESS = {
    ("job", "skip_damaged"), ("job", "reading", "separator"), ("job", "reading", "field"),
    ("job", "reading", "read_as"), ("job", "reading", "encoding_errors"), ("job", "reading"),
    ("shards", 0, "damaged"), ("files", 1), ("files", 3),
}  # fmt: skip
"""Entries of a manifest of which some wrong values are those of a default, or change nothing."""


def entries(held: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each entry in JSON values."""
    if isinstance(held, dict | list):
        for key in held if isinstance(held, dict) else range(len(held)):
            yield from entries(held[key], (*path, key))
    yield path


@pytest.mark.parametrize("call", [toksmith.open_tokens, check])
def test_an_unknown_format(corpus: Path, tmp_path: Path, call: Callable[[Path], object]) -> None:
    folder = tmp_path / "out"
    write(corpus, folder)
    manifest = (folder / NAME).read_text().replace('"megatron"', '"negatron"')
    (folder / NAME).write_text(manifest)
    with pytest.raises(FormatError, match=r"token-manifest\.json: .*format is 'negatron'"):
        call(folder)


@pytest.mark.parametrize("split", [None, "train", "val"])
def test_a_file_that_is_missing(corpus: Path, tmp_path: Path, split: str | None) -> None:
    folder = tmp_path / "out"
    write(corpus, folder, split="train=0.5,val=0.5")
    path = folder / "train_text_document.bin"
    path.unlink()
    if split == "val":
        assert len(toksmith.open_tokens(folder, split=split))
        return
    with pytest.raises(FormatError, match=f"there is no such file, and {NAME} names it") as wrong:
        toksmith.open_tokens(folder, split=split)
    assert wrong.value.path == str(path)


@pytest.mark.parametrize("path", ["\ud800", "a\0"])
def test_a_source_whose_path_no_file_can_have(corpus: Path, tmp_path: Path, path: str) -> None:
    folder = tmp_path / "out"
    write(corpus, folder)
    held = json.loads((folder / NAME).read_text())
    held["job"]["sources"][0]["path"] = path
    (folder / NAME).write_text(json.dumps(held))
    with pytest.raises(FormatError, match=r"token-manifest\.json: is damaged"):
        check(folder)


def test_options_of_reading_that_do_not_fit_the_sources(tmp_path: Path) -> None:
    corpus, folder = tmp_path / "a.txt", tmp_path / "out"
    corpus.write_text("low lower")
    write(corpus, folder)
    held = json.loads((folder / NAME).read_text())
    held["job"]["reading"]["field"] = "body"
    (folder / NAME).write_text(json.dumps(held))
    found = check(folder)
    assert [problem.file for problem in found.problems] == [NAME]
    assert "the manifest contradicts itself: field is 'body'" in str(found)


def test_a_manifest_with_any_wrong_value_is_an_error_or_a_problem(
    corpus: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    write(corpus, folder, shuffle=True, split="train=0.5,val=0.5")
    whole = (folder / NAME).read_text()
    wrongs: list[Any] = [None, "x", -1, 1.5, [], {}, True, 10**30, "missing"]
    random = Random(5)
    paths = [path for path in entries(json.loads(whole)) if path]
    assert len(paths) > 60
    for path in paths:
        for wrong in random.sample(wrongs, 1):
            held = json.loads(whole)
            place = held
            for key in path[:-1]:
                place = place[key]
            if place[path[-1]] == wrong:
                continue
            if wrong == "missing":
                del place[path[-1]]
            else:
                place[path[-1]] = wrong
            (folder / NAME).write_text(json.dumps(held))
            try:
                is_ok = check(folder).is_ok
            except ToksmithError:
                continue
            assert not is_ok or path in HARMLESS, (path, wrong)


@pytest.mark.parametrize("name", ["../a.bin", "/a.bin", ""])
def test_a_manifest_that_names_files_elsewhere_is_damaged(out: Path, name: str) -> None:
    edit(out, lambda held: held["files"][0].update(name=name))
    with pytest.raises(FormatError, match="is damaged: ValueError: a file has the name "):
        check(out)


def test_a_source_that_its_fingerprint_does_not_show_as_changed(tmp_path: Path) -> None:
    texts = [f"low {number} " * 40 for number in range(1000)]
    path = write_corpus(tmp_path / "corpus.jsonl", texts)
    assert path.stat().st_size > 4 << 16
    write(path, tmp_path / "out", format="llmc")
    data = path.read_bytes()
    place = (3 << 15) + data[3 << 15 :].index(b'{"text')
    document = data[:place].count(b"\n")
    path.write_bytes(data.replace(texts[document].encode(), texts[document].upper().encode()))
    found = check(tmp_path / "out")
    assert found.counts == {"documents": 1, "figures": 2}
    assert (found.problems[0].document, found.problems[0].source) == (document, str(path))
    path.write_bytes(data[:place] + b"[" + data[place + 1 :])
    (problem,) = check(tmp_path / "out").problems
    assert f"line {document + 1}" in problem.what
