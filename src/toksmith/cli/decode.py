"""``toksmith decode``: decodes ids to text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toksmith.cli.common import (
    Dtype,
    DtypeOption,
    IdFormatOption,
    Output,
    Quiet,
    SpecialTokens,
    Split,
    TokenizerName,
    choose_format,
    load_tokenizer,
)
from toksmith.errors import OptionError

EXAMPLE = "toksmith encode 'hello' -t toksmith-small | toksmith decode -t toksmith-small"


def run(
    tokenizer: TokenizerName,
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="IDS",
            help="The ids, separated by spaces or commas, or as JSON; without them, --file or "
            "standard input.",
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="PATH", help="Read the ids from a file.")
    ] = None,
    output: Output = None,
    id_format: IdFormatOption = None,
    dtype: DtypeOption = Dtype.UINT32,
    skip_special_tokens: Annotated[
        bool, typer.Option("--skip-special-tokens", help="Leave special tokens out.")
    ] = False,
    split: Split = None,
    special_token: SpecialTokens = None,
    quiet: Quiet = False,
) -> None:
    """Decode ids to text: exactly the bytes of their tokens."""
    from toksmith.cli import reading, writing

    if ids and file is not None:
        raise OptionError("ids and --file are given: give only one of them")
    tok = load_tokenizer(tokenizer, split, special_token)
    if ids:
        found = reading.parse_id_words(ids)
    else:
        form = choose_format(id_format, file, writes=False)
        given = reading.read_text(None, file, quiet)
        try:
            found = reading.parse_ids(given, form, dtype)
        except OptionError as wrong:
            raise OptionError(f"{file}: {wrong}") if file else wrong from None
    data = tok.decode_bytes(found, skip_special_tokens=skip_special_tokens)
    with writing.open_output(output) as out:
        out.write(data)
