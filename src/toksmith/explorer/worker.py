"""The worker process of the explorer: trains and compares.

A separate process can be ended at any moment, and keeps the pages fast. It reads a task as JSON
from standard input and writes progress as lines of JSON; tokenizers are exchanged as files in the
explorer's temporary folder.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from toksmith._base.progress import listen
from toksmith._base.visible import LONGEST_IN_LIST, cut
from toksmith.errors import ToksmithError

_SECONDS_BETWEEN = 0.1
_MOST_MERGES = 200
"""The largest number of merges in one report; nobody reads more."""


class ProgressWriter:
    """Writes progress as lines of JSON, at most ten times a second.

    Args:
        write: takes each line.
    """

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._last = 0.0
        self._merges: list[tuple[int, str, str, int]] = []
        self._compared = 0

    def say(self, **what: Any) -> None:
        """Write a line at once."""
        self._write(json.dumps(what))

    def __call__(self, kind: str, figures: tuple[Any, ...]) -> None:
        """Record progress, and write a line if the last is old enough."""
        done = total = tokens = 0
        now = ""
        if kind == "merges":
            done, total, token, count, tokens = figures
            start, rest = cut(token, LONGEST_IN_LIST)
            self._merges.append((done, start.hex(), rest, count))
        elif kind == "counting":
            done, total = figures
        elif kind == "comparing":
            now, more, total = figures
            self._compared += more
            done = self._compared
        else:
            rounds, pieces, _ = figures
            now = f"round {rounds}: {pieces:,} pieces left"
        if time.monotonic() - self._last < _SECONDS_BETWEEN and (done != total or not total):
            return
        self._last = time.monotonic()
        merges, self._merges = self._merges[-_MOST_MERGES:], []
        self.say(stage=kind, done=done, total=total or 0, now=now, merges=merges, tokens=tokens)


def train(task: dict[str, Any]) -> None:
    """Train a tokenizer, and pickle it to a file."""
    import toksmith
    from toksmith.trainers import MODELS
    from toksmith.trainers.option_parsing import parse_options
    from toksmith.trainers.options import choice

    choice("model", task["model"], list(MODELS))
    given = [f"{name}={value}" for name, value in task["options"].items()]
    options = parse_options(MODELS[task["model"]][0], given)
    options |= {"special_tokens": task["special_tokens"]} if task["special_tokens"] else {}
    source: dict[str, Any] = {"files": task["files"]} if task["files"] else {"texts": task["texts"]}
    tok = toksmith.train(
        **source,
        model=task["model"],
        vocab_size=task["vocab_size"],
        separator=task["separator"] or None,
        **options,
    )
    Path(task["result"]).write_bytes(pickle.dumps(tok))


def compare(task: dict[str, Any]) -> None:
    """Compare tokenizers on texts, and pickle the comparison to a file."""
    import toksmith

    found = toksmith.compare(
        {name: pickle.loads(Path(path).read_bytes()) for name, path in task["tokenizers"].items()},
        texts=task["texts"][0] if task["texts"] else None,
        files=None if task["texts"] else task["files"],
        separator=task["separator"] or None,
    )
    Path(task["result"]).write_bytes(pickle.dumps(found))


TASKS: dict[str, Callable[[dict[str, Any]], None]] = {"train": train, "compare": compare}


def main() -> None:
    """Run the task given on standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the explorer, which ends us
    # Other output must not mix with the lines, so standard output becomes standard error.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def write(line: str) -> None:
        print(line, file=out, flush=True)

    tell = ProgressWriter(write)
    warnings.showwarning = lambda message, *_, **__: tell.say(warning=str(message))
    warnings.simplefilter("always", UserWarning)
    with suppress(BrokenPipeError):
        try:
            task = json.load(sys.stdin)
            with listen(tell):
                TASKS[task["task"]](task)
            tell.say(state="done")
        except (ToksmithError, OSError, MemoryError) as wrong:
            tell.say(state="failed", error=str(wrong) or type(wrong).__name__)


if __name__ == "__main__":
    main()
