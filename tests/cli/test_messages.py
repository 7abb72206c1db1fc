"""Error messages for common mistakes: the wrong word, the reason, and what to type."""

from __future__ import annotations

import subprocess
import sys
from base64 import b64encode
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from tests.cli.conftest import Ran, Run
from toksmith.cli.app import app
from toksmith.cli.messages import _advise_conversion


@pytest.fixture
def here(tmp_path: Path, corpus_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with ``c.txt``."""
    monkeypatch.chdir(tmp_path)
    Path("c.txt").write_bytes(corpus_file.read_bytes())
    return tmp_path


TRAIN = ("train", "c.txt", "-o", "q.model", "--vocab-size", "300")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*TRAIN, "--special-token", ""],
         "--special-token is an empty string: give its text, such as '<|endoftext|>'"),
        (["count", "x y", "-t", "c.txt", "--special-token", "=7"],
         "--special-token '=7' has no text before the =: use TEXT=ID, such as "
         "'<|endoftext|>=100257'"),
        ([*TRAIN, "-O", "zzz"],
         "--option 'zzz' has no value: write NAME=VALUE, such as --option split=…"),
        ([*TRAIN, "-m", "char", "-O", "zzz"],
         "--option 'zzz' has no value: write NAME=VALUE, such as --option unk_token=…"),
        ([*TRAIN, "-O", "special_token=x"],
         "--option special_token=x: this is an option of the command: use --special-token x"),
        ([*TRAIN, "-O", "vocab-size=3"],
         "--option vocab-size=3: this is an option of the command: use --vocab-size 3"),
        ([*TRAIN, "-O", "record=true"],
         "--option record=true: this is an option of the command: use --record"),
        (["encode", "hello", "world", "-t", "gpt2"],
         "TEXT must be one word, but 2 are given: quote the text, as in "
         "toksmith encode 'hello world'"),
        (["words", "it's", "a", "day"],
         "TEXT must be one word, but 3 are given: quote the text, as in toksmith words "
         "'it'\"'\"'s a day'"),
        (["train", "c.txt", "-o", "-", "--vocab-size", "300"],
         "-: this output cannot go to standard output; give the path of a file"),
        (["convert", "toksmith-small", "-"],
         "-: this output cannot go to standard output; give the path of a file"),
        (["inspect", "x", "-t", "toksmith-small", "--html", "-"],
         "-: this output cannot go to standard output; give the path of a file"),
        (["count", "x y", "-f", "c.txt", "-t", "toksmith-small"],
         "x y: there is no such file; if this is a text, leave --file out: only one of them can be "
         "given"),
        (["encode", "x", "-t", "-"],
         "-: no tokenizer has this name: to read one from standard input, give /dev/stdin"),
        (["tokenize", "c.txt", "-t", "-", "--format", "llmc", "-o", "new"],
         "-: no tokenizer has this name: to read one from standard input, give /dev/stdin"),
        (["compare", "-", "toksmith-small", "--on", "c.txt"],
         "-: no tokenizer has this name: to read one from standard input, give /dev/stdin"),
        (["unicode", "-f", "."], ".: cannot be read: Is a directory"),
        (["decode", "-f", "no.txt", "-t", "toksmith-small"],
         "no.txt: cannot be read: No such file or directory"),
        (["convert", "a", "b", "c"], "unexpected argument: c; see toksmith convert --help"),
        (["help", "train", "extra"],
         "extra: train has no subcommands; see toksmith help train"),
    ],
)  # fmt: skip
def test_usage(run: Run, here: Path, words: list[str], message: str) -> None:
    ran = run(*words)
    assert (ran.code, ran.out, ran.err) == (2, b"", f"toksmith: error: {message}\n")
    assert {file.name for file in here.iterdir()} == {"c.txt"}


@pytest.mark.parametrize(
    "words",
    [["train", "c.txt", "-o", "q.zzz", "--vocab-size", "300"],
     ["convert", "toksmith-small", "q.zzz"]],
)  # fmt: skip
def test_an_unknown_suffix(run: Run, here: Path, words: list[str]) -> None:
    ran = run(*words)
    assert ran.code == 2
    assert ran.err.startswith("toksmith: error: q.zzz: the name determines no format to write")
    assert "or use --format, one of minbpe, tiktoken" in ran.err
    assert "format=" not in ran.err


def test_an_unknown_tokenizer(run: Run, here: Path) -> None:
    ran = run("count", "hi", "-t", "nope")
    assert ran.code == 2
    assert ran.err.startswith("toksmith: error: there is no file 'nope', and no published encoding")
    assert ran.err.endswith("; load any other tokenizer from its file, by its path\n")


def test_values_are_written_as_on_the_command_line(run: Run, here: Path) -> None:
    Path("bad.txt").write_bytes(b"ok \xff")
    ran = run("encode", "-f", "bad.txt", "-t", "toksmith-small")
    assert ran.err.endswith("replace such bytes by U+FFFD with --encoding-errors replace\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1\n",
         "line 2 has 1 of the 2 fields that the first row names: column 'b' is missing"),
        ("a,c,b\n1,2,3\n\n4,5\n",
         "line 4 has 2 of the 3 fields that the first row names: column 'b' is missing"),
        ("a,c\n1,2\n", "has no column 'b'; its first row names 'a', 'c'. Choose one with --field"),
    ],
)  # fmt: skip
def test_tables(run: Run, here: Path, text: str, message: str) -> None:
    Path("t.csv").write_text(text)
    ran = run("train", "t.csv", "-o", "q.model", "--vocab-size", "300", "--field", "b")
    assert (ran.code, ran.err) == (2, f"toksmith: error: t.csv: {message}\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is full")
@pytest.mark.parametrize(
    "words",
    ["count x -t toksmith-small", "encode x -t toksmith-small", "unicode x", "help", "--version",
     "words --help", "inspect x -t toksmith-small", "audit toksmith-small"],
)  # fmt: skip
def test_a_full_disk(words: str) -> None:
    command = f"{sys.executable} -m toksmith {words} > /dev/full"
    ran = subprocess.run(command, shell=True, capture_output=True, check=False)
    message = "toksmith: error: cannot write the output: no space left\n"
    assert (ran.returncode, ran.stderr.decode()) == (1, message)


EXAMPLES = [
    module.EXAMPLE
    for name in typer.main.get_command(app).commands  # type: ignore[attr-defined]
    if name not in ("explore", "quickstart")  # a server; and much text
    for module in [import_module(f"toksmith.cli.{name}")]
]


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_runs(run: Run, here: Path, model: Path, example: str) -> None:
    """With the files that it names, as a shell runs it."""
    Path("corpus").mkdir()
    Path("corpus/a.txt").write_bytes(Path("c.txt").read_bytes())
    for name in ("chapter1.txt", "chapter2.txt"):
        Path(name).write_text("It was a dark night.\n")
    Path("mine.model").write_bytes(model.read_bytes())
    Path("corpus.jsonl").write_text('{"text": "It was a dark night."}\n' * 3)
    if "pack tokens/" in example:
        made = ["-t", "toksmith-small", "--format", "megatron", "-o", "tokens", "-q"]
        assert run("tokenize", "corpus.jsonl", *made).code == 0
    if "tokenizer.json" in example and "convert" not in example:
        assert run("convert", "toksmith-small", "tokenizer.json").code == 0
    small = example.replace("32000", "300").replace("65536", "512")
    small = small.replace("cl100k_base", "toksmith-small")
    if "|" in small:
        process = f'toksmith() {{ "{sys.executable}" -m toksmith "$@"; }}; {small}'
        done = subprocess.run(["bash", "-c", process], capture_output=True, check=False)
        ran = Ran(done.returncode, done.stdout, done.stderr.decode())
    else:  # the shell makes words of it
        words = f'toksmith() {{ printf "%s\\0" "$@"; }}; {small}'
        split = subprocess.run(["bash", "-c", words], capture_output=True, check=True, text=True)
        ran = run(*split.stdout.removesuffix("\0").split("\0"))
    assert (ran.code, "error" in ran.err) == (0, False), ran.err
    assert ran.out or "--output" in example


def test_first_lines_fit_the_table(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the list of commands, each has one line at 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")
    rows = [line for line in run("--help").out.decode().splitlines() if line.startswith("│   ")]
    assert rows == []


@pytest.mark.parametrize(
    "words",
    [["compare", "toksmith-small", "--on", "LONG"],
     ["compare", "toksmith-small", "--on", "c.txt", "PATTERN"],
     ["compare", "toksmith-small", "--on", "low", "--csv", "LONG"],
     ["count", "x", "-t", "LONG"],
     ["encode", "-f", "LONG", "-t", "toksmith-small"],
     ["train", "LONG", "-o", "a.model", "--vocab-size", "300"]],
)  # fmt: skip
def test_long_words_are_cut(run: Run, here: Path, words: list[str]) -> None:
    long = {"LONG": "no/" + "y" * 4000 + ".txt", "PATTERN": "a*b? " * 800}
    ran = run(*(long.get(word, word) for word in words))
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.startswith("toksmith: error: ")
    assert len(ran.err) < 700


@pytest.mark.parametrize(
    "call",
    [
        "compare toksmith-small r.tiktoken --on low",
        "advise -t r.tiktoken",
        "train c.txt --continue r.tiktoken --vocab-size 300 -o new.model",
        "tokenize c.txt -t r.tiktoken --format llmc --split train=1 -o new",
    ],
)
def test_commands_that_cannot_be_told_a_split(here: Path, run: Run, call: str) -> None:
    """Their own --split, if they have one, means something else; another command is of help."""
    ranks = (f"{b64encode(bytes([code])).decode()} {code}\n" for code in range(256))
    Path("r.tiktoken").write_text("".join(ranks))
    ran = run(*call.split())
    advice = (
        "write it to a file that holds them, as toksmith convert FILE tokenizer.json --split "
        "cl100k --special-token '<|endoftext|>=100257' does, and give that file\n"
    )
    assert ran.code == 2
    assert ran.err.startswith("toksmith: error: r.tiktoken: a .tiktoken file holds neither split")
    assert ran.err.endswith(advice), ran.err
    words = ("--split", "cl100k", "--special-token", "<|endoftext|>=100257")
    assert run("convert", "r.tiktoken", "tokenizer.json", *words).code == 0
    assert run("count", "low", "-t", "tokenizer.json").out == b"3\n"


def test_advice_on_a_gguf_file() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for said in (
        "llama.cpp's default is used, as there; give split= if you know the pattern of the model",
        "is unknown: give the split pattern of the model with split=, as a name such as llama3",
    ):
        assert _advise_conversion(said, commands["encode"]) == said
        assert _advise_conversion(said, commands["compare"]).endswith(
            " write it to a file that holds the split pattern of the model, as toksmith convert "
            "FILE tokenizer.json --split llama3 does, and give that file"
        )
