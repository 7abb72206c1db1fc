"""``verify`` and ``convert --verify``."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

import toksmith
from tests.cli.conftest import CORPUS, Run
from toksmith import formats
from toksmith.cli.verify import Library
from toksmith.measure.against import Original
from toksmith.measure.hard_texts import hard_texts
from toksmith.measure.peers import LIBRARIES
from toksmith.measure.verify import first_difference
from toksmith.show.difference import library_difference_view
from toksmith.show.terminal import render_plain
from toksmith.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def other(corpus_file: Path) -> Path:
    """A tokenizer of 270 tokens, of the same text and split."""
    path = corpus_file.with_name("other.model")
    toksmith.train(corpus_file, vocab_size=270, split="gpt2").save(path)
    return path


def test_agreement(run: Run, model: Path, corpus_file: Path, tmp_path: Path) -> None:
    target = tmp_path / "same.json"
    assert run("convert", model, target).code == 0
    ran = run("verify", model, target, corpus_file, "--separator", "\n")
    assert ran.out.decode() == (
        f"{model} and {target} agree by ids: 20 documents, {len(CORPUS) - 20:,} bytes\n"
    )
    assert (ran.code, ran.err) == (0, "")
    assert run("verify", model, target, "low", "-q").out == b""


def test_difference_in_context(run: Run, model: Path, other: Path) -> None:
    text = "it sleeps there"
    ran = run("verify", model, other, text)
    found = first_difference(toksmith.load(model), toksmith.load(other), text)
    assert found is not None
    start, end = found.span
    lines = ran.out.decode().splitlines()
    assert lines[0] == (
        f"the text: document 1 of 1 differs at character {start} (byte {start}), "
        f"after {found.place} equal tokens"
    )
    shown = text.replace(" ", "·")
    assert lines[1] == f"  {shown[:start]}⟦{shown[start:end]}⟧{shown[end:]}"
    assert lines[3] == f"{model}: {len(found.left)} token{'s' * (len(found.left) > 1)}"
    rows = [line.split() for line in lines]
    for side in (found.left, found.right):
        for token in side:
            place = f"{token.span.start}–{token.span.end}"
            assert [str(token.id), token.string, place, place] in [row[:4] for row in rows]
    assert lines[-1] == "documents that differ by tokens: 1 of 1"
    assert (ran.code, ran.err) == (1, "")


def test_only_the_first_difference_is_shown(
    run: Run, model: Path, other: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "texts"
    (folder / "below").mkdir(parents=True)
    (folder / "a.txt").write_text("x|y", encoding="utf-8")
    (folder / "below" / "b.txt").write_text("z|sleeps|sleeps|", encoding="utf-8")
    ran = run("verify", model, other, folder, "--separator", "|")
    shown = ran.out.decode()
    assert shown.startswith(f"{folder / 'below' / 'b.txt'}: document 2 of 3 differs at ")
    assert shown.count(" differs at ") == 1
    assert shown.endswith("documents that differ by tokens: 2 of 5\n")
    assert ran.code == 1


def test_standard_input_and_by(run: Run, model: Path, other: Path) -> None:
    assert run("verify", model, model, "-", stdin=b"low").code == 0
    for by in ("ids", "tokens", "spans"):
        ran = run("verify", model, other, "-", "--by", by, stdin=b"sleeps")
        assert ran.code == 1
        assert ran.out.decode().endswith(f"documents that differ by {by}: 1 of 1\n")


def test_built_in_texts(run: Run, model: Path, other: Path) -> None:
    ran = run("verify", model, model)
    documents = len(hard_texts(["<|end|>"]))
    assert ran.out.decode().startswith(
        f"{model} and {model} agree by ids: {documents:,} documents, "
    )
    assert ran.code == 0
    ran = run("verify", model, other)
    assert ran.out.decode().startswith("the built-in texts: document ")
    assert ran.code == 1


def test_the_library_of_a_tokenizer(run: Run, model: Path, tmp_path: Path) -> None:
    pytest.importorskip("tiktoken")
    ran = run("verify", model, "--against", "tiktoken")
    assert ran.out.decode().startswith(f"{model} and tiktoken {version('tiktoken')} agree by ids: ")
    assert (ran.code, ran.err) == (0, "")
    ranks = tmp_path / "t.tiktoken"
    assert run("convert", model, ranks, "-q").code == 0
    # The library reads the changed ranks, and toksmith those of the first file.
    lines = ranks.read_bytes().splitlines()
    lines[256], lines[257] = (
        b" ".join((one.split()[0], other.split()[1]))
        for one, other in zip(lines[256:258], reversed(lines[256:258]), strict=True)
    )
    changed = tmp_path / "changed.tiktoken"
    changed.write_bytes(b"\n".join(lines))
    ran = run("verify", changed, "--against", "tiktoken", "low lower", "--split", "gpt2")
    assert ran.code == 0
    tok = toksmith.load(ranks)
    difference = Original("tiktoken", tok, changed).first_difference([f"a {tok.token_text(256)}"])
    assert difference is not None
    text = render_plain(library_difference_view(difference, colour=False))
    assert f"as Python writes it: {difference.part!r}" in text


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["MODEL"], "verify needs a second tokenizer, or --against with a library: transformers"),
        (["MODEL", "--against", "llama-cpp"], "llama-cpp"),
        (["MODEL", "--against", "sentencepiece"], "not byte-level BPE"),
        (["MODEL", "--against", "tiktoken", "--by", "spans"], "with --against, ids are compared"),
        (["MODEL", "gone.json", "a"], "gone.json: there is no such file"),
        (["MODEL", "MODEL", "gone.txt"], "gone.txt: there is no such file"),
        (["MODEL", "MODEL", "a<|end|>", "--special", "raise"], "special token"),
    ],
)
def test_errors(run: Run, model: Path, arguments: list[str], reason: str) -> None:
    ran = run("verify", *[str(model) if a == "MODEL" else a for a in arguments])
    assert (ran.code, ran.out) == (2, b"")
    assert reason in ran.err


def test_convert_and_verify(run: Run, model: Path, corpus_file: Path, tmp_path: Path) -> None:
    target = tmp_path / "t.tiktoken"
    ran = run("convert", model, target, "--verify", corpus_file, "--separator", "\n")
    assert ran.out.decode() == (
        f"{target}: 280 tokens\n"
        f"{model} and {target} agree by ids: 20 documents, {len(CORPUS) - 20:,} bytes\n"
    )
    assert ran.code == 0


def test_convert_shows_differences(
    run: Run, model: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(_: Tokenizer, path: Path, format: str | None, record: bool) -> None:  # noqa: A002
        formats.write(toksmith.load(other).pipeline, path, format)

    monkeypatch.setattr(Tokenizer, "save", save)
    ran = run("convert", model, tmp_path / "t.json", "--verify", "sleeps")
    assert ran.code == 1
    assert "the text: document 1 of 1 differs at character " in ran.out.decode()
    assert "documents that differ by ids: 1 of 1" in ran.out.decode()


def test_convert_refuses_and_says_why(run: Run, model: Path, tmp_path: Path) -> None:
    special = tmp_path / "s.json"
    run("convert", model, special)
    text = special.read_text(encoding="utf-8").replace("<|end|>", "a b")
    special.write_text(text, encoding="utf-8")
    ran = run("convert", special, tmp_path / "t.model", "--verify", "low")
    assert (ran.code, ran.out) == (2, b"")
    assert "minbpe cannot hold special token 'a b'" in ran.err
    assert not (tmp_path / "t.model").exists()


@pytest.mark.parametrize("command", ["verify", "count"])
def test_an_empty_text_is_a_text_and_no_folder(run: Run, model: Path, command: str) -> None:
    tokenizers = ("-t", model) if command == "count" else (model, model)
    ran = run(command, *tokenizers, "")
    shown = {"verify": f"{model} and {model} agree by ids: 1 document, 0 bytes\n", "count": "0\n"}
    assert (ran.code, ran.out.decode(), ran.err) == (0, shown[command], "")


def test_nothing_is_written_where_there_is_nothing_to_verify(
    run: Run, model: Path, tmp_path: Path
) -> None:
    target = tmp_path / "new.json"
    ran = run("convert", model, target, "--verify", "nosuch.txt")
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err == "toksmith: error: nosuch.txt: there is no such file\n"
    assert not target.exists()


def test_the_libraries_of_the_command_line_are_those_of_python() -> None:
    assert [each.value for each in Library] == [*LIBRARIES]
