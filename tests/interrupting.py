"""Sends Ctrl-C at a moment that a test chooses."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
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
