"""How long each long call runs on after Ctrl-C: ``python -m benchmarks.interrupts [NAME...]``.

Another process sends the signal after a random part of the processor time that the call takes by
itself, wherever it is then: in native code, in Python, in NumPy. The figure is the processor time
of all threads from the signal until the exception has left the call and everything is freed. What
other programs take does not count, so the machine may be busy; but then less processor time passes
between two looks for signals, which are 25 ms apart. Linux only.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import toksmith
from tests.interrupting import Sender
from tests.unit import test_interrupt_latency as training
from tests.unit import test_interrupts as encoding

Work = Callable[[], object]

LONG_ENOUGH = 0.4
"""Seconds of processor time that each call takes at least."""


def latencies(work: Work, trials: int) -> tuple[float, list[float]]:
    """Return the processor time of a call, and that from each signal to the end of the call."""
    begin = time.process_time()
    work()
    natural = time.process_time() - begin
    draw = random.Random(7)
    found: list[float] = []
    with Sender() as sender:
        while len(found) < trials:
            gc.collect()
            took = sender.interrupt(work, natural * draw.random() ** 2)
            if took is None:
                natural *= 0.9  # caches are warm by now
            else:
                found.append(took)
    return natural, found


def encoding_work(model: str, name: str, threads: int) -> Work:
    """Return a call of a tokenizer that takes long enough."""
    tok = encoding.tokenizer(model)
    size = 1 << 22
    while True:
        call = encoding.CALLS[name](tok, size, threads)

        def work(call: Work = call) -> object:
            tok.forget()
            return call()

        begin = time.process_time()
        work()
        took = time.process_time() - begin
        if took >= LONG_ENOUGH:
            return work
        size = int(size * min(max(1.2 * LONG_ENOUGH / took, 1.3), 16))


def random_words(size: int) -> str:
    """Return random words, in lines."""
    return encoding.words(size).decode().replace(" ab", "\n")


def training_work(model: Any) -> Work:
    """Return the training of a model on a text in memory, counting included."""
    text = random_words(1 << 20)
    size: dict[str, Any] = {} if model in ("word", "char") else {"vocab_size": 2000}
    return lambda: toksmith.train(texts=[text] * 2, model=model, progress=False, **size)


def counting_work(split: str, threads: int) -> Work:
    """Return the counting of chunks of a text in memory."""
    text = random_words(1 << 22)
    return lambda: toksmith.Counts.from_texts(
        [text] * 2, split=split, threads=threads, progress=False
    )


def merging_work(folder: Path) -> Work:
    """Return the merging of two files of counts."""
    path = folder / "a.parquet"
    if not path.exists():
        toksmith.Counts.from_texts([random_words(1 << 22)], split="gpt2", progress=False).save(path)
    return lambda: toksmith.Counts.merge([path, path])


def tokenizing_work(folder: Path) -> Work:
    """Return the tokenizing of a file to token files."""
    path = folder / "a.txt"
    path.write_text(random_words(1 << 23))
    tok = encoding.tokenizer("bpe")
    made = iter(range(1 << 30))
    return lambda: toksmith.tokenize_corpus(
        path, tokenizer=tok, format="megatron", eos=0, separator="\n", threads=1,
        output=folder / str(next(made)), progress=False,
    )  # fmt: skip


def works(folder: Path) -> dict[str, Callable[[], Work]]:
    """Return what makes each call, by its name."""
    found: dict[str, Callable[[], Work]] = {}
    for model, calls in encoding.INTERRUPTED.items():
        for name, threads in calls:
            label = f"{name}, {model}, {threads} thread{'s' * (threads > 1)}"
            found[label] = partial(encoding_work, model, name, threads)
    for name, work in training.TRAINED.items():
        found[f"merging, {name}"] = partial(_same, work)
    for model in ("bpe", "wordpiece", "sentencepiece-bpe", "unigram", "word", "char"):
        found[f"train, {model}"] = partial(training_work, model)
    for split, threads in (("gpt4", 1), ("gpt4", 2), ("words", 1)):
        found[f"Counts.from_texts, {split}, {threads}"] = partial(counting_work, split, threads)
    found["Counts.merge"] = partial(merging_work, folder)
    found["tokenize_corpus"] = partial(tokenizing_work, folder)
    return found


def _same(work: Work) -> Work:
    return work


def main() -> None:
    """Measure each call in a process of its own, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of the names of calls; default: all")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = works(Path(name))
        if options.one:
            natural, took = latencies(found[options.one](), options.trials)
            print(json.dumps([natural, took]))
            return
    print("| call | takes | worst, in ms of processor time | median |\n|---|---|---|---|")
    for name in found:
        if options.names and not any(part in name for part in options.names):
            continue
        command = [sys.executable, "-m", "benchmarks.interrupts", "--one", name]
        child = subprocess.run(
            [*command, f"--trials={options.trials}"], capture_output=True, text=True, check=False
        )
        if child.returncode:
            print(f"| {name} | failed: {child.stderr.splitlines()[-1:]} |", flush=True)
            continue
        natural, took = json.loads(child.stdout)
        took = sorted(1000 * each for each in took)
        print(
            f"| {name} | {natural:.1f} s | {took[-1]:.0f} | {took[len(took) // 2]:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
