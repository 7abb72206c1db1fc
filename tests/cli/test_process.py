"""The command line as a process: pipes, exit codes, interruption, start-up."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import toksmith
from tests.cli.conftest import Run
from tests.processes import wait_until_it_reads

TOKSMITH = [sys.executable, "-m", "toksmith"]
posix_only = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


def test_encode_pipes_into_decode(spawn: Run, model: Path) -> None:
    command = f"{shlex.join(TOKSMITH)} encode 'lower 字' -t {model} | "
    command += f"{shlex.join(TOKSMITH)} decode -t {model}"
    ran = subprocess.run(command, shell=True, capture_output=True, check=True, timeout=60)
    assert (ran.stdout, ran.stderr) == ("lower 字".encode(), b"")


def test_errors_are_one_line_and_exit_2(spawn: Run, tmp_path: Path) -> None:
    ran = spawn("count", "--file", tmp_path, "-t", tmp_path / "no\nsuch.model")
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.startswith("toksmith: error: ")
    assert ran.err.count("\n") == 1


def test_wrong_usage_exits_2(spawn: Run) -> None:
    ran = spawn("encode", "--no-such-option")
    assert (ran.code, ran.out) == (2, b"")
    assert "--no-such-option" in ran.err


def test_unexpected_exceptions_are_not_hidden(model: Path) -> None:
    program = (
        "import toksmith.tokenizer as t\n"
        "t.Tokenizer.count = lambda *a, **k: 1 // 0\n"
        "from toksmith.cli import main\n"
        f"main(['count', 'x y', '-t', {str(model)!r}])\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert ran.returncode == 1
    assert b"ZeroDivisionError" in ran.stderr


@posix_only
def test_a_closed_pipe_is_silent(model: Path, tmp_path: Path) -> None:
    big = tmp_path / "big.txt"
    big.write_text("lower newest\n" * 200_000, encoding="utf-8")
    command = [*TOKSMITH, "encode", "--file", str(big), "-t", str(model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


@posix_only
@pytest.mark.parametrize("words", [["--help"], ["train", "--help"], ["unicode", "x" * 10_000]])
def test_a_closed_pipe_is_silent_whoever_prints(words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    ran = subprocess.run(
        [*TOKSMITH, *words], stdout=write, stderr=subprocess.PIPE, timeout=60, check=False
    )
    os.close(write)
    assert (ran.returncode, ran.stderr) == (141, b"")


@posix_only
@pytest.mark.parametrize(
    "module",
    ["toksmith.errors", "toksmith._base.lazy", "toksmith.cli.app", "typer", "toksmith.cli.train",
     "toksmith.cli.messages", "numpy", "rich"],
)  # fmt: skip
def test_ctrl_c_during_start_up_exits_130_without_a_traceback(module: str) -> None:
    program = (
        "import runpy, signal, sys\n"
        "class Finder:\n"
        "    @staticmethod\n"
        "    def find_spec(name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder)\n"
        "sys.argv = ['toksmith', 'unicode', 'x']\n"
        "runpy.run_module('toksmith', run_name='__main__')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=60, check=False
    )
    assert ran.returncode == 130
    assert ran.stdout == b""
    assert ran.stderr in (b"", b"toksmith: interrupted\n")


@posix_only
@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_encode_shows_progress_on_a_terminal(model: Path, tmp_path: Path, quiet: list[str]) -> None:
    import pty

    (tmp_path / "text").write_text("lower newest\n" * 1_000, encoding="utf-8")
    terminal, stderr = pty.openpty()
    command = [*TOKSMITH, "encode", "-t", str(model), "--file", str(tmp_path / "text"), *quiet]
    ran = subprocess.run(
        [*command, "-o", str(tmp_path / "ids.txt")],
        stdout=subprocess.PIPE, stderr=stderr, timeout=60, check=False,
        env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.set_blocking(terminal, False)
    try:
        shown = os.read(terminal, 1 << 16)
    except BlockingIOError:
        shown = b""
    os.close(terminal)
    os.close(stderr)
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert (b"encoding" in shown, b"writing" in shown) == (not quiet, not quiet)
    assert not quiet or shown == b""


@posix_only
def test_an_ignored_interrupt_stays_ignored(model: Path) -> None:
    program = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from toksmith.cli import main\n"
        "try:\n"
        f"    main(['count', 'x y', '-t', {str(model)!r}])\n"
        "finally:\n"
        "    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")


ENDING = """
import os, signal, sys, threading, time
from toksmith.cli import main
def interrupt():
    while threading.main_thread().is_alive():
        time.sleep(0.001)
    os.kill(os.getpid(), int(sys.argv[1]))
    time.sleep(0.05)
threading.Thread(target=interrupt).start()
main(sys.argv[2:])
"""


@posix_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("words", "code"), [(["--version"], 0), (["count", "-t", "none", "x"], 2)])
def test_a_signal_after_the_result_changes_nothing(
    number: signal.Signals, words: list[str], code: int
) -> None:
    """It comes while Python waits for the last threads."""
    command = [sys.executable, "-c", ENDING, str(int(number)), *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, len(ran.stdout.splitlines())) == (code, code == 0)
    assert len(ran.stderr.splitlines()) == (code == 2), ran.stderr


@posix_only
@pytest.mark.parametrize("command", ["train", "encode"])
def test_ctrl_c_exits_130_and_leaves_no_file(model: Path, tmp_path: Path, command: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    if command == "train":
        # Chunks of random letters: many distinct pairs, so that training takes long enough.
        text = tmp_path / "letters.txt"
        text.write_bytes(bytes(97 + byte % 26 for byte in os.urandom(1 << 16)) * 500)
        arguments = ["train", *[str(text)] * 4, "--split", "none", "--vocab-size", "500000"]
        arguments += ["-o", str(out / "t.model")]
    else:  # waits for standard input
        arguments = ["encode", "-t", str(model), "-o", str(out / "ids")]
    process = subprocess.Popen(
        [*TOKSMITH, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        if command == "train":
            wait_until_it_reads(process.pid, text)
        else:
            assert process.stdin is not None
            process.stdin.write(b"a" * 200_000)  # more than a pipe holds: some of it was read
        assert process.poll() is None, "ended before it could be interrupted"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert err.startswith(b"toksmith: interrupted")
    assert err.count(b"\n") == 1
    assert list(out.iterdir()) == []


@posix_only
@pytest.mark.parametrize("command", ["train", "counts"])
def test_sigterm_stops_as_ctrl_c_and_exits_143(model: Path, tmp_path: Path, command: str) -> None:
    temporary, text = tmp_path / "temporary", tmp_path / "a.txt"
    temporary.mkdir()
    text.write_bytes(bytes(97 + byte % 26 for byte in os.urandom(1 << 16)) * 500)
    arguments = {
        "train": ["train", text, "--vocab-size", 500_000, "--split", "none", "-o", "t.model"],
        "counts": ["counts", "make", *[text] * 9, "--split", "none", "-o", "t.counts"],
    }[command]
    process = subprocess.Popen(
        [*TOKSMITH, *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    try:
        wait_until_it_reads(process.pid, text)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 143, err
    assert err.startswith(b"toksmith: terminated: ")
    assert err.count(b"\n") == 1
    assert list(temporary.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"temporary", "a.txt"}


@posix_only
def test_an_ignored_sigterm_stays_ignored(model: Path) -> None:
    program = (
        "import signal\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "from toksmith.cli import main\n"
        "try:\n"
        f"    main(['count', 'x y', '-t', {str(model)!r}])\n"
        "finally:\n"
        "    assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    from toksmith.cli.writing import open_output

    path = tmp_path / "ids"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with open_output(path) as out:
            out.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("ids", b"old")]


@pytest.mark.parametrize(
    ("program", "unwanted"),
    [
        ("import toksmith.cli.app", "rich urllib.request pyarrow toksmith.show"),
        (
            "from toksmith.cli.app import app; "
            "app(['count', 'x y', '-t', MODEL], standalone_mode=False)",
            "rich urllib.request pyarrow tqdm toksmith.show",
        ),
    ],
)
def test_only_needed_modules_are_imported(model: Path, program: str, unwanted: str) -> None:
    program = (
        f"import sys; MODEL = {str(model)!r}; {program}\n"
        f"print('found:', *[m for m in {unwanted.split()} if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout.splitlines()[-1] == b"found:"


def test_an_ascii_terminal_gets_escapes_not_an_error(model: Path) -> None:
    ran = subprocess.run(
        [*TOKSMITH, "inspect", "low 字", "-t", str(model)],
        capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert rb"\xb7" in ran.stdout


def test_quickstart_and_the_commands_that_it_names(tmp_path: Path) -> None:
    start = time.monotonic()
    path = tmp_path / "first tokenizer.model"
    ran = subprocess.run(
        [*TOKSMITH, "quickstart", "--output", str(path)],
        capture_output=True, check=True, timeout=60, text=True, encoding="utf-8",
    )  # fmt: skip
    assert time.monotonic() - start < 60
    assert ran.stderr == ""
    assert toksmith.load(path).vocab_size == 8192
    _, _, next_steps = ran.stdout.partition("What to do next:\n")
    explore, *commands = next_steps.splitlines()
    assert len(commands) == 3
    assert explore.strip().endswith(f"explore {shlex.quote(str(path))}")
    served = subprocess.Popen(
        [*shlex.split(explore), "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert served.stdout is not None
        assert b"http://127.0.0.1:" in served.stdout.readline()
    finally:
        served.terminate()
        assert served.communicate(timeout=30)[1] == b""
    for command in commands:
        step = subprocess.run(command, shell=True, capture_output=True, timeout=60, check=False)
        assert (step.returncode, step.stderr) == (0, b"")
        assert step.stdout
