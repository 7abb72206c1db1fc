"""Kills ``toksmith tokenize``, ``train`` and ``counts`` at random moments, and compares the files.

Run with ``make kill-test``; it is no part of ``make test``, which has a short version. Each trial
starts the command again and again, kills it (SIGKILL, and every third time SIGINT) after a random
time, and lets it end once the kills are used up. The files must equal those of one quiet run.
``training_kills.py`` has the trials of training and counts.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests import training_kills

FORMATS = ("megatron", "mds")
RUNNERS = ("local", "ray")


def write_corpus(path: Path, size: int) -> None:
    """Write JSON Lines of some size in bytes."""
    words = ["low", "lower", "lowest", "newest", "widest", "naïve", "日本語", "\n"]
    chance = random.Random(0)
    written = 0
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            text = " ".join(chance.choices(words, k=chance.randrange(600)))
            written += file.write(json.dumps({"text": text}) + "\n")


def command(corpus: Path, output: Path, format: str, runner: str) -> list[str]:  # noqa: A002
    """Return the command of one run."""
    several = ["--runner", "ray", "--shards", "3"] if runner == "ray" else []
    return [
        *(sys.executable, "-m", "toksmith", "tokenize", str(corpus), "-t", "toksmith-small"),
        *("--format", format, "-o", str(output), "--split", "train=0.9,val=0.1", "-q", *several),
    ]


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder; the manifest names shards, which runners differ in."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "token-manifest.json"
    }


def check_names(folder: Path, expected: dict[str, bytes]) -> None:
    """Check that every file under a final name is whole."""
    if not folder.exists():
        return
    for name, data in contents(folder).items():
        if not name.startswith(".toksmith/"):
            assert data == expected[name], f"{name} is half written"


def trial(corpus: Path, folder: Path, format: str, runner: str, kills: int, seconds: float) -> int:  # noqa: A002
    """Kill runs at random moments, then let one end; return the number of runs killed."""
    whole, output = folder / f"{format}-whole", folder / f"{format}-{runner}"
    if not whole.exists():
        subprocess.run(command(corpus, whole, format, "local"), check=True)
    expected = contents(whole)
    chance = random.Random(f"{format}{runner}")
    killed = 0
    for number in range(kills):
        process = subprocess.Popen(
            command(corpus, output, format, runner), start_new_session=True,
            stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(chance.uniform(0, seconds))
        if process.poll() is None:
            process.send_signal(signal.SIGINT if number % 3 == 2 else signal.SIGKILL)
            killed += 1
        process.wait()
        check_names(output, expected)
        if (output / "token-manifest.json").exists():
            assert contents(output) == expected, f"{format} by {runner}: other files after {number}"
            for path in sorted(output.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
    subprocess.run(command(corpus, output, format, runner), check=True)
    assert contents(output) == expected, f"{format} by {runner}: other files"
    return killed


def main() -> None:
    """Run all trials."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=25, help="for each format and runner")
    parser.add_argument("--megabytes", type=int, default=60)
    parser.add_argument("--runner", choices=RUNNERS, action="append")
    parser.add_argument("--only", choices=("tokenize", "train"))
    arguments = parser.parse_args()
    if arguments.only != "tokenize":
        with tempfile.TemporaryDirectory() as folder:
            size = arguments.megabytes * 1_000_000
            training_kills.run_trials(Path(folder), size, arguments.kills)
    if arguments.only == "train":
        return
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder, "corpus.jsonl")
        write_corpus(corpus, arguments.megabytes * 1_000_000)
        for runner in arguments.runner or RUNNERS:
            for name in FORMATS:
                start = time.monotonic()
                seconds = 3.0 if runner == "local" else 20.0
                killed = trial(corpus, Path(folder), name, runner, arguments.kills, seconds)
                print(f"{name} by {runner}: {killed} kills, {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
