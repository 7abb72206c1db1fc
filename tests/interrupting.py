"""Sends Ctrl-C at a moment that a test chooses, and measures how long a call runs on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def interrupted() -> Iterator[threading.Event]:
    """Raise SIGINT once the event is set; what is done here has to end by it."""
    begun = threading.Event()

    def interrupt() -> None:
        begun.wait()
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        yield begun
    thread.join()


_SENDER = """
import os, signal, sys, time
process = int(sys.argv[1])
clock = ~process << 3 | 2  # the clock of its processor time, as Linux numbers it
for line in sys.stdin:
    while (now := time.clock_gettime(clock)) < float(line):
        time.sleep(0.0005)
    print(now, flush=True)
    os.kill(process, signal.SIGINT)
"""

CAN_MEASURE = sys.platform == "linux"


class Sender:
    """Another process, which sends SIGINT to this one after some of its processor time. Linux only.

    A thread of this process would send it late where native code holds the GIL.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-c", _SENDER, str(os.getpid())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __enter__(self) -> Sender:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def interrupt(self, work: Callable[[], object], after: float) -> float | None:
        """Interrupt a call, and return how long it ran on.

        Args:
            work: the call.
            after: when, in seconds of the processor time of this process from the call's start.

        Returns:
            The processor time of all threads, in seconds, from the signal until the exception has
            left the call; ``None`` if the call ended before the signal.
        """
        orders, answers = self._process.stdin, self._process.stdout
        assert orders is not None
        assert answers is not None
        ended = False
        try:
            print(time.process_time() + after, file=orders, flush=True)
            work()
            ended = True
            while True:  # until the signal comes
                pass
        except KeyboardInterrupt:
            now = time.process_time()
        sent = float(answers.readline())
        return None if ended else now - sent
