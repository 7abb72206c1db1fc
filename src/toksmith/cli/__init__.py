"""The command line: one file a command, which parses, calls and prints."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import NoReturn

_EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit.

    The exit code is 0, or 1 where `verify` finds a difference, 2 for errors of ours, of the system
    or of usage, 130 after Ctrl-C, and 141 when the reader of our output has gone. Any other
    exception is a fault of the package and is shown in full.

    Args:
        arguments: without the program's name; ``None`` takes those of the process.
    """
    with _quiet_interrupts():
        from toksmith.cli.app import app
    try:
        app(args=arguments, prog_name="toksmith")
    except KeyboardInterrupt:  # before the command began
        raise SystemExit(_EXIT_INTERRUPTED) from None
    raise SystemExit(0)


@contextmanager
def _quiet_interrupts() -> Iterator[None]:
    """Let Ctrl-C end the process at once while modules are imported, without a traceback."""
    usual = signal.default_int_handler
    if signal.getsignal(signal.SIGINT) is not usual or current_thread() is not main_thread():
        yield  # such as in the background, where SIGINT is ignored
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(_EXIT_INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
