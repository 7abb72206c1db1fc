"""``toksmith help``: the help of a command, or the meaning of a term."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toksmith.cli.glossary import TERMS, meaning
from toksmith.errors import OptionError

EXAMPLE = "toksmith help train"


def run(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND|TERM", help="Such as train, counts make, or chunk, byte fallback."
        ),
    ] = None,
) -> None:
    """Explain a command and its options, or a term such as chunk or merge."""
    root = context.find_root()
    words = words or []
    known: Any = root.command
    for place, word in enumerate(words):
        below = known.commands.get(word) if hasattr(known, "commands") else None
        if below is None and (text := meaning(" ".join(words)) or _measure(words)) is not None:
            typer.echo(text)
            return
        if below is None and place == 0:
            raise OptionError(
                f"{word} is neither a command nor a term that is explained here. Terms: "
                f"{', '.join(TERMS)}. Commands: toksmith --help"
            )
        if not hasattr(known, "commands"):
            name = " ".join(words[:place])
            raise OptionError(f"{word}: {name} has no subcommands; see toksmith help {name}")
        known = below
        if known is None:
            break  # the parser reports the unknown command
    root.command.main(args=[*words, "--help"], prog_name=root.info_name)


def _measure(words: list[str]) -> str | None:
    """Return what a measure of ``toksmith compare`` is, by its name; ``None`` for another word."""
    from toksmith.measure.metrics import MEASURES  # slow to import

    found = MEASURES.get("_".join(words).lower())
    if found is None:
        return None
    source = f" Source: {found.source}." if found.source else ""
    caveat = f" Note: {found.caveat}." if found.caveat else ""
    return f"{found.title}: {found.formula}.{source}{caveat}"
