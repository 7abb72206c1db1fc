"""``toksmith inspect``: a text's tokens in colour, and how they came about."""

from __future__ import annotations

from typing import Annotated

import typer

from toksmith.cli.common import (
    AddSpecialTokens,
    File,
    Quiet,
    Special,
    SpecialOption,
    SpecialTokens,
    Split,
    TokenizerName,
    load_tokenizer,
)

EXAMPLE = "toksmith inspect 'Hello  wörld' -t cl100k_base --steps"


def run(
    tokenizer: TokenizerName,
    text: Annotated[
        str | None, typer.Argument(help="The text; without it, --file or standard input.")
    ] = None,
    file: File = None,
    steps: Annotated[
        bool, typer.Option("--steps", help="Also print every chunk and every step in it.")
    ] = False,
    brief: Annotated[
        bool, typer.Option("--brief", help="The ids below the tokens, without the table.")
    ] = False,
    special: SpecialOption = Special.TEXT,
    add_special_tokens: AddSpecialTokens = False,
    split: Split = None,
    special_token: SpecialTokens = None,
    quiet: Quiet = False,
) -> None:
    """Show a text's tokens in colour, with their ids, characters and bytes, or the text of each.

    A space is shown as ·, a line break as ↵, a tab as →, what cannot be seen by its number
    (<U+200B>), a part of a character in hex (<E2 82>). Special tokens have a * before their id.
    """
    from toksmith.cli.reading import read_text

    data = read_text(text, file, quiet)
    tok = load_tokenizer(tokenizer, split, special_token)
    encoding = tok.encoding(data, special.value, add_special_tokens)

    from rich.console import Console

    from toksmith.show.terminal import encoding_table, encoding_text, has_colour

    console = Console(highlight=False)
    colour = has_colour(console)
    console.print(encoding_text(encoding, ids=brief, colour=colour, width=console.width))
    if not brief:
        console.print(encoding_table(encoding, colour=colour))
    if not quiet:
        print(_size(len(encoding), len(encoding.text), len(data)))
    if steps:
        print(f"\n{tok.explain(data)}")


def _size(tokens: int, characters: int, size: int) -> str:
    ratio = f" ({size / tokens:.2f} bytes a token)" if tokens else ""
    return f"{tokens:,} tokens, {characters:,} characters, {size:,} bytes{ratio}"
