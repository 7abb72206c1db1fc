"""The commands put together, and what all of them do when something goes wrong."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from toksmith.cli import (
    advise,
    audit,
    compare,
    convert,
    count,
    counts,
    decode,
    encode,
    explore,
    inspect,
    quickstart,
    sentences,
    train,
    unicode,
    verify,
    words,
)
from toksmith.cli.common import Quiet
from toksmith.errors import ToksmithError

_EXIT_ERROR, _EXIT_INTERRUPTED, _EXIT_BROKEN_PIPE = 2, 130, 141


class _Commands(TyperGroup):
    """The group of commands; it turns the errors that users can mend into one line."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = _show_warning
                result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Python flushes standard output once more as it ends, and would complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(_EXIT_BROKEN_PIPE)
        except KeyboardInterrupt as interrupt:
            _say(": ".join(["interrupted", *map(str, interrupt.args)]))
            sys.exit(_EXIT_INTERRUPTED)
        except (ToksmithError, OSError) as error:
            _say(f"error: {_message(error)}")
            sys.exit(_EXIT_ERROR)
        return result


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error)


def _say(message: str) -> None:
    """Print one line on standard error, whatever the message holds."""
    line = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in " ".join(message.splitlines())
    )
    print(f"toksmith: {line}", file=sys.stderr)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(f"warning: {message}")


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
    """Train, run, look into, compare and convert tokenizers."""
    # A token may hold a character that the terminal's encoding has not.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


for _command in (
    train,
    encode,
    decode,
    count,
    inspect,
    compare,
    explore,
    unicode,
    words,
    sentences,
    convert,
    verify,
    audit,
    advise,
    quickstart,
):
    _name = _command.__name__.rpartition(".")[2]
    app.command(
        _name,
        cls=getattr(_command, "COMMAND", None),
        epilog=f"[bold]Example[/bold]  {_command.EXAMPLE}",
    )(_command.run)

app.add_typer(counts.app, name="counts", epilog=f"[bold]Example[/bold]  {counts.EXAMPLE}")
