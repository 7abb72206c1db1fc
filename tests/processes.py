"""The threads and files of a process, and checks that run in a fork of it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals, forks and pipes of POSIX")
"""Marks a test of what Windows does not have."""

TASKS = Path("/proc/self/task")
"""Where Linux tells a process's threads."""


def running_threads() -> int:
    return len([*TASKS.iterdir()])


def threads_left(expected: int) -> int:
    """Return the number of threads; one that was joined may be listed for a moment more."""
    deadline = time.monotonic() + 5
    while running_threads() > expected and time.monotonic() < deadline:
        time.sleep(0.01)
    return running_threads()


_Found = TypeVar("_Found")


def at_once(calls: Sequence[Callable[[], _Found]]) -> list[_Found]:
    """Return what each call returns; a thread for each starts it when all are there."""
    begun = threading.Barrier(len(calls), timeout=60)

    def run(call: Callable[[], _Found]) -> _Found:
        begun.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [*pool.map(run, calls)]


def holds_in_child(check: Callable[[], bool]) -> bool:
    """Tell whether it does in a fork of this process, within a minute."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(60)
            code = 0 if check() else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def wait_until_it_reads(pid: int, path: Path) -> None:
    """Wait until a process has opened a file; where that cannot be seen, for some seconds."""
    opened = Path(f"/proc/{pid}/fd")
    if not opened.is_dir():
        time.sleep(3)
        return
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for file in opened.iterdir():
            with suppress(FileNotFoundError):
                if file.readlink() == path:
                    return
        time.sleep(0.005)
