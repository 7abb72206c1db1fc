"""``toksmith explore``, from start to Ctrl-C."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.cli.conftest import Run

pytest.importorskip("starlette")


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "toksmith", "explore", "--no-browser", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_says_its_address_and_ends_well(
    how: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    explorer = start()
    assert explorer.stdout is not None
    line = explorer.stdout.readline()
    address = line.split()[4]
    assert line == f"The explorer is at {address} (Ctrl-C ends it)\n"
    with urllib.request.urlopen(address) as answer:
        assert b"toksmith explorer" in answer.read()
    other = urllib.request.Request(address, headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(other)
    assert refused.value.code == 421
    refused.value.close()
    assert list(tmp_path.iterdir())
    explorer.send_signal(how)
    assert explorer.communicate(timeout=30) == ("", "")
    assert explorer.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[how]
    assert not list(tmp_path.iterdir())


SLOW_SEARCH = """
import sys, time
from toksmith.cli import main
from toksmith.explorer.vocabulary import Vocabulary

def search(*_):
    print("searching", flush=True)
    time.sleep(60)

Vocabulary._search = search
sys.argv = ["toksmith", "explore", "--no-browser"]
main()
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ends_while_a_request_and_a_job_run(
    how: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    explorer = subprocess.Popen(
        [sys.executable, "-c", SLOW_SEARCH],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert explorer.stdout is not None
    address = explorer.stdout.readline().split()[4]
    host = urlsplit(address).netloc

    def ask(path: str, **fields: Any) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(host)
        connection.request("POST", path, json.dumps(fields), {"X-Toksmith": "1"})
        return connection

    training = ask("/ask/train", text="low lower " * 100_000, vocab_size=300)
    assert training.getresponse().status == 200
    searching = ask("/ask/vocabulary", tokenizer="bytes", query="a")
    assert explorer.stdout.readline() == "searching\n"
    explorer.send_signal(how)
    assert explorer.communicate(timeout=30) == ("", "")
    assert explorer.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[how]
    assert not list(tmp_path.iterdir())
    training.close()
    searching.close()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no/such.json"], "no/such.json: there is no such file"),
        ([__file__], "test_explore.py"),
    ],
)
def test_wrong_tokenizers(arguments: list[str], said: str) -> None:
    explorer = start(*arguments)
    out, errors = explorer.communicate(timeout=60)
    assert (explorer.returncode, out) == (2, "")
    assert said in errors
    assert len(errors.splitlines()) == 1


def test_a_port_that_is_taken() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        explorer = start("--port", str(other.getsockname()[1]))
        _, errors = explorer.communicate(timeout=60)
    assert explorer.returncode == 2
    assert "cannot be used" in errors


def test_without_its_packages() -> None:
    code = (
        "import sys; sys.modules['starlette'] = None\n"
        "from toksmith.cli import main; sys.argv = ['toksmith', 'explore', '--no-browser']; main()"
    )
    paths = [path for path in sys.path if path]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {paths!r}; {code}"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "pip install toksmith[explorer]" in done.stderr


def test_a_current_folder_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    ran = run("explore", "--no-browser")
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.startswith("toksmith: error: the current folder cannot be found (")
    assert ran.err.endswith("): change to a folder that exists\n")
