"""``toksmith convert``: from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toksmith.cli.common import Quiet, SpecialTokens, Split, load_tokenizer

EXAMPLE = "toksmith convert cl100k_base tokenizer.json"


def run(
    source: Annotated[str, typer.Argument(metavar="NAME|PATH", help="What to convert.")],
    target: Annotated[Path, typer.Argument(metavar="PATH", help="The file to write.")],
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="minbpe, tiktoken, gpt2 or huggingface; without it, as the file's name says.",
        ),
    ] = None,
    split: Split = None,
    special_token: SpecialTokens = None,
    quiet: Quiet = False,
) -> None:
    """Write a tokenizer in another format; it gives the same ids there."""
    tok = load_tokenizer(source, split, special_token)
    tok.save(target, format=to)
    if not quiet:
        print(f"{target}: {tok.vocab_size:,} tokens")
