"""SIGTERM, by which Slurm and Kubernetes end jobs, stops a command as Ctrl-C does."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

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


def exit_at_signals(code: object) -> None:
    """Let SIGINT and SIGTERM end the process at once with a code that is decided.

    The output is written, and only the end of the interpreter is left, which a KeyboardInterrupt
    would fill with a traceback. A signal that is ignored stays so.

    Args:
        code: the argument of SystemExit.
    """
    status = code if isinstance(code, int) else int(code is not None)
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) in (signal.default_int_handler, _terminate):
            with suppress(ValueError):  # outside the main thread
                signal.signal(number, lambda *_: os._exit(status))


def describe_end() -> tuple[str, int]:
    """Return the word for the end of the command by a signal, and its exit code."""
    return ("terminated", _EXIT_TERMINATED) if _received else ("interrupted", _EXIT_INTERRUPTED)
