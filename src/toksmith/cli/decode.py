"""``toksmith decode``: ids to text."""

from __future__ import annotations

from typing import Annotated

import typer

from toksmith.cli.common import (
    Dtype,
    DtypeOption,
    File,
    IdFormat,
    IdFormatOption,
    Output,
    Quiet,
    SpecialTokens,
    Split,
    TokenizerName,
    load_tokenizer,
)
from toksmith.errors import OptionError

EXAMPLE = "toksmith encode 'hello' -t gpt2 | toksmith decode -t gpt2"


def run(
    tokenizer: TokenizerName,
    ids: Annotated[
        list[int] | None, typer.Argument(help="The ids; without them, --file or standard input.")
    ] = None,
    file: File = None,
    id_format: IdFormatOption = IdFormat.LINES,
    dtype: DtypeOption = Dtype.UINT32,
    output: Output = None,
    skip_special_tokens: Annotated[
        bool, typer.Option("--skip-special-tokens", help="Leave special tokens out.")
    ] = False,
    split: Split = None,
    special_token: SpecialTokens = None,
    quiet: Quiet = False,
) -> None:
    """Turn ids into exactly the bytes they stand for."""
    from toksmith.cli import reading, writing

    if ids and file is not None:
        raise OptionError("ids and --file are given: one of them is wanted")
    tok = load_tokenizer(tokenizer, split, special_token)
    if ids:
        data = tok.decode_bytes(ids, skip_special_tokens=skip_special_tokens)
    else:
        given = reading.read_text(None, file, quiet)
        data = tok.decode_bytes(
            reading.parse_ids(given, id_format, dtype), skip_special_tokens=skip_special_tokens
        )
    with writing.output(output) as out:
        out.write(data)
