"""Outputs that the same command also reads are refused, and nothing is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_faults import LEAVES, NO_CALL, held, here
from toksmith.cli import clashes

__all__ = ["here"]

CALLS: dict[str, str] = {
    "encode --file --output": "encode -t a.model -f a.txt -o a.txt",
    "encode --tokenizer --output": "encode -t t.json -f a.txt -o t.json",
    "decode --file --output": "decode -t a.model -f ids.txt -o ids.txt",
    "decode --tokenizer --output": "decode -t a.model -f ids.txt -o a.model",
    "inspect --file --html": "inspect -t a.model -f a.txt --html a.txt",
    "inspect --tokenizer --html": "inspect -t a.model low --html a.model",
    "train files --output": "train a.txt --vocab-size 270 -o a.txt --to minbpe",
    "train --counts --output": "train --counts a.counts --vocab-size 270 -o a.counts --to minbpe",
    "advise files --html": "advise a.txt --size 260 --html a.txt",
    "advise files --svg": "advise a.txt --size 260 --svg a.txt",
    "advise --counts --html": "advise --counts a.counts --size 260 --html a.counts",
    "advise --counts --svg": "advise --counts a.counts --size 260 --svg a.counts",
    "advise --tokenizer --html": "advise -t a.model --size 260 --html a.model",
    "advise --tokenizer --svg": "advise -t a.model --size 260 --svg a.model",
    "tokenize files --log-json": "tokenize a.txt -t a.model --format llmc --eos 0 -o new "
    "--log-json a.txt",
    "tokenize --tokenizer --log-json": "tokenize a.txt -t a.model --format llmc --eos 0 -o new "
    "--log-json a.model",
    "tokenize --from-tokens --log-json": "tokenize --from-tokens tokens --format llmc -o new "
    "--log-json tokens/train_text_document.bin",
    "pack tokens --output": "pack tokens --length 16 -o tokens/train_text_document.idx",
    "compare tokenizers --html": "compare small=a.model --on low --html a.model",
    "compare tokenizers --json": "compare a.model --on low --json a.model",
    "compare tokenizers --csv": "compare a.model --on low --csv a.model",
    "compare --on --html": "compare a.model --on a.txt --html a.txt",
    "compare --on --json": "compare a.model --on text=a.txt --json a.txt",
    "compare --on --csv": "compare a.model --on a.* --csv a.txt",
    "audit tokenizer --json": "audit a.model --json a.model",
    "audit --on --json": "audit a.model --on a.txt --json a.txt",
    "convert --verify target": "convert a.model t.json --verify t.json",
    "counts make files --output": "counts make a.txt -o a.txt",
    "counts merge paths --output": "counts merge a.counts a.counts -o a.counts",
}
"""A call for each pair of an input and an output, by the names of both."""

FOLDERS = {"tokenize output", "train checkpoint"}
"""Outputs that are folders, which are refused if they hold other files."""


@pytest.fixture
def full(here: Path) -> Path:
    """The folder of :func:`here` with a tokenizer in a file of JSON."""
    from toksmith import load

    load("a.model").save("t.json")
    return here


def pairs() -> set[str]:
    """Return the pairs of a file to read and a file to write of each command."""
    reads = clashes.TEXTS | clashes.TOKENIZERS | clashes.COUNTS | clashes.TOKENS
    found = set()
    for name, command in LEAVES.items():
        if name in NO_CALL:
            continue
        paths = [each for each in command.params if each.name in reads | clashes.WRITES]
        for read in paths:
            for write in paths:
                is_pair = read.name in reads and write.name in clashes.WRITES
                if is_pair and f"{name} {write.name}" not in FOLDERS:
                    found.add(f"{name} {shown(read)} {shown(write)}")
    return found


def shown(parameter: object) -> str:
    return max(parameter.opts, key=len)  # type: ignore[attr-defined]


def test_the_calls_name_every_pair() -> None:
    assert {*CALLS} == pairs()


def test_every_path_is_read_or_written() -> None:
    known = clashes.TEXTS | clashes.TOKENIZERS | clashes.COUNTS | clashes.TOKENS
    known |= clashes.WRITES | clashes.REPLACED
    for name, command in LEAVES.items():
        for each in command.params:
            kinds = ("PATH", "FILE", "TOKENS", "TOKENIZER", "FOLDER")
            is_path = any(kind in (each.metavar or "") for kind in kinds)
            if name not in NO_CALL and is_path and each.name != "weight":
                assert each.name in known or f"{name} {each.name}" in FOLDERS, (name, each.name)


@pytest.mark.parametrize("name", CALLS)
def test_an_output_that_is_read(full: Path, run: Run, name: str) -> None:
    before = held(full)
    ran = run(*CALLS[name].split())
    assert ran.code == 2, (ran.out, ran.err)
    assert "is also read" in ran.err
    assert ran.err.endswith("give another name\n")
    assert held(full) == before


def test_links_patterns_folders_and_streams(
    full: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("link.txt").symlink_to("a.txt")
    Path("texts").mkdir()
    Path("texts/b.txt").write_text("low lower")
    Path("folder").mkdir()
    assert run("convert", "a.model", "folder").code == 0
    before = held(full)
    for call in (
        "encode -t a.model -f a.txt -o link.txt",
        "encode -t a.model -f link.txt -o a.txt",
        "compare a.model --on texts --no-speed --html texts/b.txt",
        "inspect -t folder low --html folder/tokenizer.json",
    ):
        ran = run(*call.split())
        assert (ran.code, ran.err.count("is also read")) == (2, 1), (call, ran.err)
    with Path("a.txt").open() as opened:
        context = clashes_context("encode", {"output": Path("a.txt")})
        monkeypatch.setattr("sys.stdin", opened)
        with pytest.raises(clashes.OptionError, match=r"a\.txt is also read \(standard input\)"):
            clashes.check_outputs(context)
    assert held(full) == before


def clashes_context(name: str, params: dict[str, object]) -> object:
    from types import SimpleNamespace

    return SimpleNamespace(command=LEAVES[name], params=params)


@pytest.mark.parametrize(
    "call",
    [
        "convert t.json t.json",
        "train a.txt --continue t.json --vocab-size 272 -o t.json",
        "encode -t a.model a.txt -o a.txt",
        "encode -t a.model low=a.txt -o new.txt",
        "inspect -t folder low --html folder/report.html",
        "compare a.model --on a.txt --no-speed --json - --csv -",
        "pack tokens --length 16 -o tokens/mine",
        f"encode -t a.model -f a.txt -o {os.devnull}",
    ],
)
def test_outputs_that_replace_or_are_not_read(full: Path, run: Run, call: str) -> None:
    Path("folder").mkdir()
    run("convert", "a.model", "folder")
    Path("folder/report.html").write_text("old")
    ran = run(*call.split())
    assert ran.code == 0, ran.err
    if "--continue" not in call:  # no token is left to learn
        assert run(*call.split()).code == 0


def test_two_outputs_of_one_name(full: Path, run: Run) -> None:
    ran = run("compare", "a.model", "--on", "low", "--html", "new", "--json", "./new")
    assert ran.code == 2
    assert ran.err == "toksmith: error: --html and --json are both new: give different names\n"
    assert not Path("new").exists()
