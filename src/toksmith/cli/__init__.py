"""The command line: one module per command."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress

TYPE_CHECKING = False  # importing typing would take longer than this module
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

_EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit.

    The exit code is 0; 1 if `verify` finds a difference, or standard output is full or closed; 2
    for a ToksmithError, a system error or wrong usage; 130 after Ctrl-C; 141 if the reader of
    standard output has closed it; and 143 after SIGTERM. Any other exception is a bug and is shown
    with a traceback.

    Args:
        arguments: the arguments without the program's name; ``None`` for ``sys.argv``.
    """
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        from toksmith.cli.streams import replace_closed

        replace_closed()
    atexit.register(gc.freeze)  # so that the process ends without looking for garbage
    is_quiet = _set_quiet_handler()
    try:
        from toksmith.cli.app import app
        from toksmith.cli.signals import describe_end, exit_at_signals, handle_sigterm
    finally:
        if is_quiet:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        handle_sigterm()
        app(args=arguments, prog_name="toksmith")
    except KeyboardInterrupt:  # before the command began
        raise SystemExit(describe_end()[1]) from None
    except SystemExit as ended:
        if ended.code == describe_end()[1]:
            # PyArrow sends the signal that it saw once more, perhaps after the code is decided.
            with suppress(ValueError):
                signal.signal(signal.SIGINT, signal.SIG_IGN)
        else:
            exit_at_signals(ended.code)
        raise
    raise SystemExit(0)


def _set_quiet_handler() -> bool:
    """Make Ctrl-C end the process at once, without a traceback.

    Returns:
        Whether the handler was set: not in the background, where SIGINT is ignored, and not
        outside the main thread, where Python sets no handlers.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    try:
        signal.signal(signal.SIGINT, lambda *_: os._exit(_EXIT_INTERRUPTED))
    except ValueError:
        return False
    return True
