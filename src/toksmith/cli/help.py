"""``toksmith help``: the help of a command."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toksmith.errors import OptionError

EXAMPLE = "toksmith help train"


def run(
    context: typer.Context,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND", help="Such as train, or counts make.")
    ] = None,
) -> None:
    """Explain a command and its options."""
    root = context.find_root()
    words = command or []
    known: Any = root.command
    for place, word in enumerate(words):
        if not hasattr(known, "commands"):
            name = " ".join(words[:place])
            raise OptionError(
                f"{word}: {name} has no commands of its own; toksmith help {name} explains it"
            )
        known = known.commands.get(word)
        if known is None:
            break  # the parser says that there is no such command
    root.command.main(args=[*words, "--help"], prog_name=root.info_name)
