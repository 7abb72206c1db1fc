"""``toksmith encode``: text to ids."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toksmith.cli.common import (
    AddSpecialTokens,
    Dtype,
    DtypeOption,
    File,
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
    format_of,
    load_tokenizer,
)
from toksmith.cli.corpus import EncodingErrors, EncodingErrorsOption
from toksmith.errors import OptionError

EXAMPLE = "toksmith encode -t cl100k_base --file book.txt --output book.npy"


def run(
    tokenizer: TokenizerName,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="The text; without it, --file or standard input."),
    ] = None,
    file: File = None,
    id_format: IdFormatOption = None,
    dtype: DtypeOption = Dtype.UINT32,
    output: Output = None,
    special: SpecialOption = Special.TEXT,
    add_special_tokens: AddSpecialTokens = False,
    separator: Separator = None,
    encoding_errors: EncodingErrorsOption = EncodingErrors.STRICT,
    threads: Threads = None,
    split: Split = None,
    special_token: SpecialTokens = None,
    quiet: Quiet = False,
) -> None:
    """Turn a text, a file or standard input into ids.

    The suffix of --output sets the format: .npy is a NumPy array, .bin raw little-endian integers,
    .json JSON, .txt one id a line. Beside NAME.npy and NAME.bin, NAME.ends.npy holds the end of
    each document as a count of ids (int64).

    With --separator, lines have an empty line between two documents, and JSON has a list for each.
    """
    from toksmith.cli.reading import read_text, text_of
    from toksmith.cli.writing import check_folder, write_ids
    from toksmith.documents import document_bounds, open_mapped
    from toksmith.progress import amount_progress

    if text is not None and file is not None:
        raise OptionError("a text and --file are given: one of them is wanted")
    form = format_of(id_format, output)
    if output is not None:
        check_folder(output)
    tok = load_tokenizer(tokenizer, split, special_token)
    options: dict[str, Any] = {
        "special": special.value, "add_special_tokens": add_special_tokens, "threads": threads,
    }  # fmt: skip
    given = b"" if file is not None else read_text(text, None, quiet)
    with amount_progress("encoding", None, False if quiet else None):
        if file is not None:
            with open_mapped(file) as data:
                checked = text_of(file, data, encoding_errors.value)
            if checked is data:
                batch = tok.encode_file(file, separator=separator, **options)
            else:
                given = bytes(checked)  # type: ignore[arg-type]  # files are no str
        if file is None or given:
            bounds = document_bounds(given, separator).tolist()
            batch = tok.encode_batch([given[start:end] for start, end in bounds], **options)
    write_ids(batch, output, form, dtype, nested=separator is not None, quiet=quiet)
