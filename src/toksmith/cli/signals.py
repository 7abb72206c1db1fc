"""SIGTERM, by which Slurm and Kubernetes end jobs, stops a command as Ctrl-C does."""

from __future__ import annotations

import signal

TYPE_CHECKING = False  # importing typing would take longer than this module
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

_EXIT_INTERRUPTED, _EXIT_TERMINATED = 130, 143
_received: list[int] = []


def handle_sigterm() -> None:
    """Let SIGTERM raise KeyboardInterrupt, unless it is ignored or has a handler.

    Outside the main thread, where Python sets no handlers, nothing changes.
    """
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return
    try:
        signal.signal(signal.SIGTERM, _terminate)
    except ValueError:
        return


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    _received.append(number)
    raise KeyboardInterrupt


def describe_end() -> tuple[str, int]:
    """Return the word for the end of the command by a signal, and its exit code."""
    return ("terminated", _EXIT_TERMINATED) if _received else ("interrupted", _EXIT_INTERRUPTED)
