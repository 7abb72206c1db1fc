"""Kills ``toksmith train`` and ``toksmith counts`` at random moments, and compares the files.

Each trial starts a command, kills it (SIGKILL) after a random time, and starts it again; the last
run is left to finish. Its file must equal that of one quiet run without a limit or a checkpoint.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from typer.main import get_command

from benchmarks.diverse_text import Generator, write
from toksmith.cli.app import app

MODELS = ("bpe", "wordpiece", "unigram", "sentencepiece-bpe", "sentencepiece-unigram", "char")
_STARTING = 0.5
"""About how long the interpreter takes to start, in seconds."""
_RUN = """
from toksmith.cli import main
from toksmith.trainers import checkpoint
from toksmith.trainers.counting import counted_parts

counted_parts.PART_BYTES = {part}  # several parts even of a small corpus
checkpoint.SECONDS = 0.1
main()
"""


def write_corpus(folder: Path, size: int, files: int = 4) -> list[Path]:
    """Write files of diverse text in lines, ``size`` bytes in all."""
    return write(folder, size, files, Generator(None))


def train_command(files: Sequence[Path], model: str, output: Path) -> list[str]:
    """Return the arguments of a training."""
    size = {"char": [], "bpe": ["--vocab-size", "3000"]}.get(model, ["--vocab-size", "1500"])
    return ["train", *map(str, files), "--model", model, *size, "-o", str(output), "-q"]


def run_killed(
    command: Sequence[str], kills: int, seconds: float, chance: random.Random, part: int
) -> int:
    """Kill runs of a command at random moments, then let one finish; return the number killed.

    Args:
        command: the arguments of toksmith.
        kills: the number of runs to kill, if they have not finished before.
        seconds: the latest moment of a kill.
        chance: chooses the moments.
        part: the size in bytes of a part of a checkpoint.
    """
    started = [sys.executable, "-c", _RUN.format(part=part), *command]
    killed = 0
    for _ in range(kills):
        process = subprocess.Popen(started, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, seconds))
        killed += process.poll() is None
        process.kill()
        process.wait()
    subprocess.run(started, check=True)
    return killed


def quiet_run(command: Sequence[str]) -> float:
    """Run a command here; return about how long it takes in a process of its own, in seconds."""
    start = time.monotonic()
    get_command(app).main(list(command), "toksmith", standalone_mode=False)
    return time.monotonic() - start + _STARTING


def train_trial(files: Sequence[Path], folder: Path, model: str, kills: int) -> int:
    """Kill trainings of one model; return the number of runs killed."""
    suffix = ".model" if model.startswith("sentencepiece") else ".json"
    whole, output, kept = (
        folder / f"{model}{end}" for end in (suffix, f"-killed{suffix}", "-kept")
    )
    seconds = quiet_run(train_command(files, model, whole))
    part = sum(path.stat().st_size for path in files) // len(files)
    limits = ["--checkpoint", str(kept), "--memory", "200M"]
    command = [*train_command(files, model, output), *limits]
    killed = run_killed(command, kills, 1.2 * seconds, random.Random(model), part)
    assert output.read_bytes() == whole.read_bytes(), f"{model}: another tokenizer after kills"
    assert not kept.exists(), f"{model}: the checkpoint is left"
    return killed


def counts_trial(files: Sequence[Path], folder: Path, kills: int) -> int:
    """Kill counting of each file and merging; return the number of runs killed."""
    whole = folder / "whole.counts"
    seconds = quiet_run(["counts", "make", *map(str, files), "-o", str(whole), "-q"])
    chance = random.Random("counts")
    killed = 0
    parts = []
    for path in files:
        parts.append(folder / f"{path.stem}.counts")
        command = ["counts", "make", str(path), "-o", str(parts[-1]), "--memory", "16M", "-q"]
        killed += run_killed(command, kills, seconds, chance, 1 << 30)
    merged = folder / "merged.counts"
    command = ["counts", "merge", *map(str, parts), "-o", str(merged), "-q"]
    killed += run_killed(command, kills, seconds, chance, 1 << 30)
    assert merged.read_bytes() == whole.read_bytes(), "other counts after kills"
    left = {path.name for path in folder.iterdir() if path.name.startswith(".")}
    for name in left:  # a killed write leaves its temporary file, and never a final name
        assert ".tmp" in name or "counts" in name, f"{name} is left"
    return killed


def run_trials(folder: Path, size: int, kills: int) -> None:
    """Run all trials on a corpus of ``size`` bytes and print the number of kills of each."""
    files = write_corpus(folder / "corpus", size)
    for model in MODELS:
        start = time.monotonic()
        killed = train_trial(files, folder, model, kills)
        print(f"train {model}: {killed} kills, {time.monotonic() - start:.0f} s", flush=True)
    shutil.rmtree(work := folder / "counts", ignore_errors=True)
    work.mkdir()
    print(f"counts: {counts_trial(files, work, max(kills // len(files), 1))} kills", flush=True)
