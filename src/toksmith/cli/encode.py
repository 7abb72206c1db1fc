"""``toksmith encode``: text to ids."""

from __future__ import annotations

from typing import Annotated

import typer

from toksmith.cli.common import (
    AddSpecialTokens,
    Dtype,
    DtypeOption,
    File,
    IdFormat,
    IdFormatOption,
    Output,
    Quiet,
    Separator,
    Special,
    SpecialOption,
    SpecialTokens,
    Split,
    Threads,
    TokenizerName,
    load_tokenizer,
)
from toksmith.errors import OptionError

EXAMPLE = "toksmith encode -t cl100k_base --file book.txt --format binary --output book.bin"


def run(
    tokenizer: TokenizerName,
    text: Annotated[
        str | None, typer.Argument(help="The text; without it, --file or standard input.")
    ] = None,
    file: File = None,
    id_format: IdFormatOption = IdFormat.LINES,
    dtype: DtypeOption = Dtype.UINT32,
    output: Output = None,
    special: SpecialOption = Special.TEXT,
    add_special_tokens: AddSpecialTokens = False,
    separator: Separator = None,
    threads: Threads = None,
    split: Split = None,
    special_token: SpecialTokens = None,
    quiet: Quiet = False,
) -> None:
    """Turn a text, a file or standard input into ids.

    With --separator, an empty line stands between the ids of two documents; JSON has a list for
    each.
    """
    from toksmith.cli import writing

    if text is not None and file is not None:
        raise OptionError("a text and --file are given: one of them is wanted")
    tok = load_tokenizer(tokenizer, split, special_token)
    if file is not None:
        batch = tok.encode_file(
            file,
            separator=separator,
            special=special.value,
            add_special_tokens=add_special_tokens,
            threads=threads,
        )
    else:
        documents = _documents(text, separator, quiet)
        batch = tok.encode_batch(
            documents, special=special.value, add_special_tokens=add_special_tokens, threads=threads
        )
    with writing.output(output) as out:
        writing.write_ids(batch, id_format, dtype, separator is not None, out)


def _documents(text: str | None, separator: str | None, quiet: bool) -> list[bytes]:
    from toksmith.cli.reading import read_text
    from toksmith.documents import document_bounds

    data = read_text(text, None, quiet)
    return [data[start:end] for start, end in document_bounds(data, separator).tolist()]
