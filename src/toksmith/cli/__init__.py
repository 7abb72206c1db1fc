"""The command line: one file a command, which parses, calls and prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit.

    The exit code is 0, or 1 where `verify` finds a difference, 2 for errors of ours, of the system
    or of usage, 130 after Ctrl-C, and 141 when the reader of our output has gone. Any other
    exception is a fault of the package and is shown in full.

    Args:
        arguments: without the program's name; ``None`` takes those of the process.
    """
    try:
        from toksmith.cli.app import app

        app(args=arguments, prog_name="toksmith")
    except KeyboardInterrupt:  # so early that the app was not there yet
        raise SystemExit(130) from None
    raise SystemExit(0)
