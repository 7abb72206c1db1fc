"""``toksmith convert``: writes a tokenizer in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toksmith._base.visible import count_of
from toksmith.cli.common import FormatName, Quiet, Separator, SpecialTokens, Split, load_tokenizer

EXAMPLE = "toksmith convert toksmith-small tokenizer.json --verify 'Hello, world'"


def run(
    source: Annotated[str, typer.Argument(metavar="NAME|PATH", help="The tokenizer to convert.")],
    target: Annotated[Path, typer.Argument(metavar="PATH", help="The file to write.")],
    to: FormatName = None,
    verify: Annotated[
        list[str] | None,
        typer.Option(
            "--verify",
            metavar="TEXT|FILE",
            help="Encode this with both, decode the ids again, and show the first difference: a "
            "file, a folder, a quoted glob, or a text. Repeat for several.",
        ),
    ] = None,
    separator: Separator = None,
    split: Split = None,
    special_token: SpecialTokens = None,
    quiet: Quiet = False,
) -> None:
    """Write a tokenizer in another format, with the same ids.

    If the format cannot hold the tokenizer, it is an error and no file is written.

    With --verify, the exit code is 1 if the new file gives other ids or decodes them to another
    text.
    """
    from toksmith.cli.saving import save
    from toksmith.cli.writing import check_folder

    check_folder(target, can_be_folder=True)
    if verify:
        from toksmith.cli.reading import files_or_text

        files_or_text(verify, [])  # raises, before anything is written
    tok = load_tokenizer(source, split, special_token)
    save(tok, target, to, option="")
    if not quiet:
        print(f"{target}: {count_of(tok.vocab_size, 'token')}")
    if verify:
        import toksmith
        from toksmith.cli.verify import agree
        from toksmith.corpus import Reading

        again = toksmith.load(target, format=to)
        names = (source, str(target))
        reading = Reading(separator)
        if not agree(
            (tok, again), names, verify, "ids", reading=reading, quiet=quiet, decoding=True
        ):
            raise typer.Exit(1)
