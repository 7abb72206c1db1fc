"""Every command under faults: full disks, closed pipes and streams, bad input, too little memory.

The tables below name every command, and every option that takes a path, so that a new one cannot be
forgotten.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import toksmith
from tests.cli.conftest import CORPUS, Run
from toksmith._base import lazy
from toksmith.cli.app import app
from toksmith.cli.streams import replace_closed

resource = pytest.importorskip("resource")

COMMANDS: dict[str, str] = {
    "encode": "encode -t a.model -f a.txt",
    "decode": "decode -t a.model -f ids.txt",
    "count": "count -t a.model -f a.txt",
    "inspect": "inspect -t a.model low",
    "unicode": "unicode low",
    "words": "words low",
    "sentences": "sentences low",
    "help": "help token",
    "train": "train a.txt --dry-run -o new.model --vocab-size 270",
    "advise": "advise a.txt --split gpt2 --size 260 --size 270",
    "tokenize": "tokenize a.txt -t a.model --format llmc --eos 0 -o new",
    "pack": "pack tokens --length 16",
    "compare": "compare a.model --on low --no-speed",
    "verify": "verify a.model a.model a.txt",
    "audit": "audit a.model",
    "convert": "convert a.model new.json",
    "counts make": "counts make a.txt --split gpt2 -o new.parquet",
    "counts merge": "counts merge a.counts a.counts -o new.parquet",
    "counts show": "counts show a.counts",
}
"""A sound call of each command, in a folder with the files of :func:`here`."""

NO_CALL = {"explore", "quickstart"}
"""A server, and a command that reads no file and takes long; it writes as ``train`` does."""

WRITES: dict[str, str] = {
    "encode -o": "encode -t a.model -f a.txt -o {}",
    "decode -o": "decode -t a.model -f ids.txt -o {}",
    "inspect --html": "inspect -t a.model low --html {}",
    "train -o": "train a.txt --vocab-size 270 -o {}.model",
    "train --checkpoint": "train a.txt --vocab-size 270 --checkpoint {} -o new.model",
    "advise --html": "advise a.txt --split gpt2 --size 260 --html {}",
    "advise --svg": "advise a.txt --split gpt2 --size 260 --svg {}",
    "tokenize -o": "tokenize a.txt -t a.model --format llmc --eos 0 -o {}",
    "tokenize --log-json": "tokenize a.txt -t a.model --format llmc --eos 0 -o new --log-json {}",
    "pack -o": "pack tokens --length 16 -o {}",
    "compare --html": "compare a.model --on low --no-speed --html {}",
    "compare --json": "compare a.model --on low --no-speed --json {}",
    "compare --csv": "compare a.model --on low --no-speed --csv {}",
    "audit --json": "audit a.model --json {}",
    "convert target": "convert a.model {}.json",
    "counts make -o": "counts make a.txt --split gpt2 -o {}.parquet",
    "counts merge -o": "counts merge a.counts a.counts -o {}.parquet",
}
"""Each option that names a file to write, with "{}" for its name."""

KEEP_WORK = {"tokenize -o", "tokenize --log-json", "train --checkpoint"}
"""These leave what is done, from which the same command goes on."""

READS = {
    *("-t", "-f", "--counts", "--continue", "--on", "--weight", "--verify", "--from-tokens"),
    *("files", "inputs", "tokenizers", "tokens", "texts", "source", "tokenizer", "paths", "path"),
}
"""The options and arguments that name files to read."""


def leaves(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the name of each command that does something, and the command."""
    for name, each in getattr(command, "commands", {}).items():
        if hasattr(each, "commands"):
            yield from leaves(each, f"{path}{name} ")
        else:
            yield path + name, each


LEAVES = dict(leaves(get_command(app)))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which holds an input of each kind."""
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(CORPUS)
    tok = toksmith.train(texts=[CORPUS], vocab_size=270)
    tok.save("a.model")
    Path("ids.txt").write_text("108\n111\n119\n" * 200)
    toksmith.Counts.from_texts([CORPUS], split="gpt2").save("a.counts")
    options: dict[str, Any] = {"format": "megatron", "output": "tokens", "eos": 0}
    toksmith.tokenize_corpus("a.txt", tokenizer=tok, **options)
    return tmp_path


def held(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def check_error(err: str) -> None:
    """Check that a command's messages end with one line of an error, without a traceback."""
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("toksmith: error: "), err


@contextmanager
def limited(kind: int, most: int) -> Iterator[None]:
    """Set a limit of this process."""
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, (soft, hard))


def test_the_tables_name_every_command() -> None:
    assert {*COMMANDS} | NO_CALL == {*LEAVES}


def test_the_tables_name_every_path() -> None:
    kinds = ("PATH", "FILE", "FOLDER", "TOKENS", "TOKENIZER")
    for name, command in LEAVES.items():
        for each in command.params:
            option = each.opts[-1]
            if name in NO_CALL or not any(kind in (each.metavar or "") for kind in kinds):
                continue
            assert option in READS or f"{name} {option}" in WRITES, (name, option)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_calls_are_sound(here: Path, run: Run, name: str) -> None:
    ran = run(*COMMANDS[name].split())
    assert ran.code == 0, ran.err
    assert LEAVES[name] is not None


@pytest.mark.parametrize("name", WRITES)
def test_a_full_disk_leaves_the_old_file(here: Path, run: Run, name: str) -> None:
    """A limit on the size of files fails a write as a full disk does, whoever writes."""
    words = WRITES[name].format("out").split()
    if name not in KEEP_WORK:
        Path(next(word for word in words if word.startswith("out"))).write_text("old")
    before = held(here)
    with limited(resource.RLIMIT_FSIZE, 8):
        ran = run(*words)
    assert ran.code in (1, 2), ran.err
    check_error(ran.err)
    if name not in KEEP_WORK:
        assert held(here) == before
    ran = run(*words)  # and with space it works
    assert ran.code == 0, ran.err
    assert not list(here.rglob("*.tmp"))


def run_to(output: int, words: list[str], monkeypatch: pytest.MonkeyPatch) -> object:
    """Run a command whose standard output is a descriptor, and return its exit code."""
    with os.fdopen(output, "w", encoding="utf-8") as out, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        try:
            get_command(app).main(words, "toksmith")
        except SystemExit as ended:
            return ended.code
    return 0


PRINT = [name for name in COMMANDS if name not in ("tokenize", "counts make", "counts merge")]


@pytest.mark.parametrize("name", PRINT)
def test_a_closed_pipe(here: Path, name: str, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    os.close(read)
    code = run_to(write, COMMANDS[name].split(), monkeypatch)
    err = capfd.readouterr().err
    assert (code, "error" in err, "Traceback" in err) == (141, False, False), err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is full")
@pytest.mark.parametrize("name", PRINT)
def test_full_output(here: Path, name: str, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    code = run_to(os.open("/dev/full", os.O_WRONLY), COMMANDS[name].split(), monkeypatch)
    err = capfd.readouterr().err
    assert code == 1
    assert err.endswith("toksmith: error: cannot write the output: no space left\n")


def run_closed(streams: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> object:
    """Run a command as if the shell had closed standard streams, and return its exit code."""
    with monkeypatch.context() as patch:
        for name in streams.split():
            patch.setattr(sys, name, None)
        replace_closed()
        try:
            get_command(app).main(words, "toksmith")
        except SystemExit as ended:
            return ended.code
        finally:
            for name in streams.split():
                getattr(sys, name).close()  # nothing is left that cannot be written
    return 0


MORE_PRINT = [
    "--version",
    "--help",
    "encode --help",
    "encode -t a.model -f a.txt --format npy",
    "audit a.model --json -",
    "explore --no-browser",
]


@pytest.mark.parametrize("call", [*COMMANDS.values(), *MORE_PRINT])
def test_closed_output(here: Path, call: str, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    code = run_closed("stdout", call.split(), monkeypatch)
    reason = "standard output is closed, or not open for writing"
    err = capfd.readouterr().err
    assert err.endswith(f"toksmith: error: cannot write the output: {reason}\n"), err
    assert (code, "Traceback" in err) == (1, False)


@pytest.mark.parametrize("name", sorted({*COMMANDS} - {*PRINT}))
def test_no_output_is_lost(here: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [*COMMANDS[name].split(), "--quiet"]
    assert run_closed("stdin stdout stderr", words, monkeypatch) == 0
    assert list(here.glob("new*"))


TAKES_INPUT = [
    *(f"{name} -t a.model" for name in ("encode", "decode", "count", "inspect")),
    *("unicode", "words", "sentences"),
    "compare a.model --no-speed",
    "verify a.model a.model -",
]


@pytest.mark.parametrize("call", TAKES_INPUT)
def test_closed_input(here: Path, call: str, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    code = run_closed("stdin", call.split(), monkeypatch)
    reason = "cannot be read: it is closed, or not open for reading"
    assert capfd.readouterr().err == f"toksmith: error: standard input: {reason}\n"
    assert code == 2


@pytest.mark.parametrize(
    ("command", "code", "err"),
    [
        ("--version >&-", 1, "cannot write the output: standard output is closed"),
        ("encode -t a.model -f a.txt -o /dev/stdout <&- >&-", 2, "/dev/stdout: this is a folder"),
        ("encode -t none low 2>&-", 2, ""),
    ],
)
def test_a_shell_closes_streams(here: Path, command: str, code: int, err: str) -> None:
    """No input gets the number of standard output; no message is printed among the output."""
    ran = subprocess.run(
        f"{shlex.quote(sys.executable)} -m toksmith {command}",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (code, "")
    assert ran.stderr.startswith(f"toksmith: error: {err}" if err else "")
    assert ran.stderr.count("\n") == bool(err)
    assert Path("a.txt").read_text() == CORPUS


FILES = ("a.txt", "ids.txt", "a.model", "a.counts", "tokens")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file whose reads fail")
@pytest.mark.parametrize("name", [name for name, call in COMMANDS.items() if "a." in call])
def test_unreadable_input(here: Path, run: Run, name: str) -> None:
    """Reading the start of /proc/self/mem fails with EIO, as a broken disk does."""
    words = COMMANDS[name].split()
    for file in {*FILES} & {*words} - {"tokens"}:
        sound = Path(file).read_bytes()
        Path(file).unlink()
        Path(file).symlink_to("/proc/self/mem")
        before = {path.name for path in here.iterdir()}
        ran = run(*words)
        Path(file).unlink()
        Path(file).write_bytes(sound)
        assert ran.code == 2, (file, ran.err)
        check_error(ran.err)
        assert file in ran.err
        if name != "tokenize":
            assert {path.name for path in here.iterdir()} == before


LARGE = [name for name, call in COMMANDS.items() if "a.txt" in call and "dry" not in call]
PROGRAM = """
import os, resource, sys
from typer.main import get_command
import numpy, toksmith, toksmith.cli.writing
from toksmith.cli.app import app
from toksmith.cli.streams import replace_closed
toksmith.load("a.model").encode("low " * 1000)
for call in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        pages = int(open("/proc/self/statm").read().split()[0])
        most = pages * resource.getpagesize() + (48 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        get_command(app).main(call.split(), "toksmith")
        sys.exit(0)
    print(call, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_too_little_memory(here: Path) -> None:
    """A command that cannot have its memory says so, or does with less."""
    Path("a.txt").write_text("low lower lowest\n" * (1 << 22))
    before = held(here)
    calls = [COMMANDS[name] + " --threads 1" * (name != "advise") for name in LARGE]
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *calls], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    codes = dict(line.rsplit(" ", 1) for line in ran.stdout.splitlines() if line[:-2] in calls)
    assert {*codes} == {*calls}
    assert {*codes.values()} <= {"0", "2"}, (codes, ran.stderr)
    assert "Traceback" not in ran.stderr
    assert ran.stderr.count("error: ") == [*codes.values()].count("2"), ran.stderr
    for name, content in held(here).items():
        assert before.get(name, content) == content, name


def test_a_package_that_cannot_be_imported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy wraps the error of its library in a page of advice."""

    def fail(name: str) -> None:
        try:
            raise ImportError("lib.so: failed to map segment", name="_multiarray_umath")
        except ImportError as wrong:
            raise ImportError("\n\nPLEASE READ THIS\n\nadvice\n") from wrong

    monkeypatch.setattr(lazy, "import_module", fail)
    monkeypatch.setattr("toksmith.cli.reading.read_text", lambda *_: lazy.load("numpy"))
    ran = run("unicode", "low")
    advice = "reinstall it, or let the process use more memory"
    reason = f"importing numpy failed (lib.so: failed to map segment): {advice}"
    assert (ran.code, ran.err) == (2, f"toksmith: error: {reason}\n")
