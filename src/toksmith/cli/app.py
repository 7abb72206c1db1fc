"""The command line app: all commands, and the handling of their errors."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer

from toksmith._base.lazy import describe_failure
from toksmith.cli.common import Quiet
from toksmith.cli.messages import Command, Group, describe_usage_error, say
from toksmith.cli.signals import describe_end
from toksmith.errors import ToksmithError

_EXIT_LOST, _EXIT_ERROR, _EXIT_BROKEN_PIPE = 1, 2, 141
_LOST = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "no space left"),
    errno.EBADF: "standard output is closed, or not open for writing",
}
"""Errors of standard output, for an exit code of its own; errors of files name the file."""


class _Commands(Group):
    """The group of commands; it prints an error that users can fix as one line."""

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Parse the options before the name of the command."""
        with _errors_in_one_line():
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        """Parse a command's options and run it."""
        with _errors_in_one_line():
            return super().invoke(ctx)


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    try:
        with _flushed():
            yield
    except BrokenPipeError:
        _end_without_reader()
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # rich ends the process with 1
            _end_without_reader()
        raise
    except KeyboardInterrupt as interrupt:
        word, code = describe_end()
        say(": ".join([word, *map(str, interrupt.args)]))
        sys.exit(code)
    except MemoryError as error:
        reason = f" ({error})" if str(error) else ""
        say(f"error: out of memory{reason}: use a smaller input, or --memory if the command has it")
        sys.exit(_EXIT_ERROR)
    except OSError as error:
        if error.filename is None and error.errno in _LOST:
            _discard_output()
            say(f"error: cannot write the output: {_LOST[error.errno]}")
            sys.exit(_EXIT_LOST)
        say(f"error: {_message(error)}")
        sys.exit(_EXIT_ERROR)
    except ToksmithError as error:
        say(f"error: {_message(error)}")
        sys.exit(_EXIT_ERROR)
    except ImportError as error:
        name = error.name or "a package"
        if name.partition(".")[0] == "toksmith":
            raise
        say(f"error: {describe_failure(name, error)}")
        sys.exit(_EXIT_ERROR)
    except Exception as error:
        if not hasattr(error, "format_message") or type(error).__name__ == "NoArgsIsHelpError":
            raise
        say(f"error: {describe_usage_error(error)}")
        sys.exit(_EXIT_ERROR)


@contextmanager
def _flushed() -> Iterator[None]:
    """Flush standard output also after --help and --version, which end by an exception."""
    try:
        yield
    except typer.Exit:
        sys.stdout.flush()
        raise
    sys.stdout.flush()


def _end_without_reader() -> NoReturn:
    _discard_output()
    sys.exit(_EXIT_BROKEN_PIPE)


def _discard_output() -> None:
    """Redirect standard output to the null device, so that the flush at exit cannot fail."""
    with suppress(OSError, ValueError):  # in tests it is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error)


def _print_version(wanted: bool) -> None:
    if wanted:
        import toksmith

        print(f"toksmith {toksmith.__version__}")
        raise typer.Exit


app = typer.Typer(
    name="toksmith",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="New here?  [bold]toksmith quickstart[/bold]",
)


@app.callback()
def _root(
    quiet: Quiet = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Train, run, inspect, compare and convert tokenizers."""
    # A token may hold a character that the terminal's encoding lacks.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


GROUPS = {
    "Use": ["encode", "decode", "count"],
    "Look": ["inspect", "explore", "unicode", "words", "sentences", "help"],
    "Train": ["train", "advise", "counts", "quickstart"],
    "Token files": ["tokenize", "pack"],
    "Check": ["compare", "verify", "audit", "convert"],
}
"""The commands in the order of the help, by panel. Each is a module with ``EXAMPLE`` and either
``run``, or ``app`` if it has subcommands."""

for _group, _names in GROUPS.items():
    for _name in _names:
        _member = import_module(f"toksmith.cli.{_name}")
        _epilog = f"[bold]Example[/bold]  {_member.EXAMPLE}"
        if hasattr(_member, "app"):
            app.add_typer(_member.app, name=_name, epilog=_epilog, rich_help_panel=_group)
        else:
            app.command(
                _name,
                cls=getattr(_member, "COMMAND", Command),
                epilog=_epilog,
                rich_help_panel=_group,
            )(_member.run)
