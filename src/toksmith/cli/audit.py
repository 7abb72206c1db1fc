"""``toksmith audit``: finds defects and oddities of a tokenizer."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from toksmith.cli.common import (
    Quiet,
    Separator,
    SpecialTokens,
    Split,
    Threads,
    load_tokenizer,
)
from toksmith.cli.compare import COMMAND as COMMAND
from toksmith.cli.corpus import EncodingErrors, EncodingErrorsOption, Field, ReadAsOption
from toksmith.errors import OptionError

EXAMPLE = "toksmith audit mine.model --on corpus/*.txt"


class FailOn(str, Enum):
    """The least severity of a finding for which the exit code is 1."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    NEVER = "never"


def run(
    tokenizer: Annotated[
        str, typer.Argument(metavar="TOKENIZER", help="A published name or a path.")
    ],
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="FILES...",
            help="Files, folders or quoted globs to read: report the tokens that they never use. "
            "All words up to the next option.",
        ),
    ] = None,
    separator: Separator = None,
    field: Field = "text",
    read_as: ReadAsOption = None,
    encoding_errors: EncodingErrorsOption = EncodingErrors.STRICT,
    fail_on: Annotated[
        FailOn, typer.Option(help="Exit with 1 if there is a finding of this severity or higher.")
    ] = FailOn.ERROR,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="Leave out findings of a kind, such as 'round trip'. Repeat for several.",
        ),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Write the whole audit as JSON; - prints it."),
    ] = None,
    examples: Annotated[
        int, typer.Option(min=0, help="How many examples of each finding to show, up to 12.")
    ] = 5,
    long: Annotated[
        int,
        typer.Option(min=1, metavar="CHARACTERS", help="Report tokens that are longer than this."),
    ] = 32,
    split: Split = None,
    special_token: SpecialTokens = None,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Find defects and oddities of a tokenizer.

    It reports unreachable tokens, partial characters, duplicates and near-duplicates, very long
    tokens, the split of numbers and white space, texts that do not survive a round trip, special
    tokens that a text can inject, and tokens that never occur in a corpus.

    The exit code is 0, 1 if a finding has the severity of --fail-on or higher, or 2 for errors.
    """
    from dataclasses import replace

    import toksmith
    from toksmith.cli.writing import check_folder
    from toksmith.measure.audit import KINDS
    from toksmith.measure.findings import Severity
    from toksmith.measure.inputs import names_of

    to_print = json is not None and str(json) == "-"
    if json is not None and not to_print:
        check_folder(json)
    if unknown := sorted(set(ignore or ()) - KINDS.keys()):
        raise OptionError(f"--ignore {unknown[0]!r}: unknown kind; use {', '.join(KINDS)}")
    tok = load_tokenizer(tokenizer, split, special_token)
    found = toksmith.audit(
        tok,
        files=on or None,
        separator=separator,
        field=field,
        read_as=read_as and read_as.value,
        encoding_errors=encoding_errors.value,
        longest=long,
        threads=threads,
        progress=False if quiet else None,
    )
    kept = tuple(finding for finding in found.findings if finding.kind not in (ignore or ()))
    found = replace(found, tokenizer=names_of([tokenizer])[0], findings=kept)
    if to_print:
        print(found.to_json(), end="")
    else:
        if json is not None:
            found.to_json(json)
        from rich.console import Console

        from toksmith.show.audit import audit_view
        from toksmith.show.terminal import has_colour

        console = Console(highlight=False)
        console.print(audit_view(found, examples=examples, colour=has_colour(console)))
    limit = None if fail_on is FailOn.NEVER else Severity[fail_on.name]
    if limit is not None and found.worst is not None and found.worst >= limit:
        raise typer.Exit(1)
