"""``toksmith encode``: encodes text to ids."""

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
    choose_format,
    load_tokenizer,
)
from toksmith.cli.corpus import EncodingErrors, EncodingErrorsOption, Field, ReadAsOption
from toksmith.errors import OptionError

EXAMPLE = "toksmith encode 'Hello, world' -t toksmith-small --output hello.npy"


def run(
    tokenizer: TokenizerName,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="The text; without it, --file or standard input."),
    ] = None,
    file: File = None,
    output: Output = None,
    id_format: IdFormatOption = None,
    dtype: DtypeOption = Dtype.UINT32,
    special: SpecialOption = Special.TEXT,
    add_special_tokens: AddSpecialTokens = False,
    separator: Separator = None,
    field: Field = "text",
    read_as: ReadAsOption = None,
    encoding_errors: EncodingErrorsOption = EncodingErrors.STRICT,
    threads: Threads = None,
    split: Split = None,
    special_token: SpecialTokens = None,
    quiet: Quiet = False,
) -> None:
    """Encode a text, a file or standard input to ids.

    The suffix of --output sets the format: .npy is a NumPy array, .bin raw little-endian integers,
    .json JSON, .jsonl a list of ids per document and line, .txt and .ids one id a line. Beside
    NAME.npy and NAME.bin, NAME.ends.npy holds the end of each document as a count of ids (int64).

    A file is read as in training: each row of CSV, TSV or Parquet and each line of JSON Lines is a
    document. The output has an empty line between documents; JSON has a list for each document.
    """
    from toksmith._base.documents import document_bounds
    from toksmith._base.progress import amount_progress
    from toksmith.cli.reading import read_text
    from toksmith.cli.writing import check_folder, write_ids
    from toksmith.corpus.opening import is_plain
    from toksmith.corpus.options import Reading

    if text is not None and file is not None:
        raise OptionError("a text and --file are given: give only one of them")
    form = choose_format(id_format, output, writes=True)
    if output is not None:
        check_folder(output)
    tok = load_tokenizer(tokenizer, split, special_token)
    options: dict[str, Any] = {
        "special": special.value, "add_special_tokens": add_special_tokens, "threads": threads,
    }  # fmt: skip
    how: dict[str, Any] = {
        "separator": separator,
        "field": field,
        "read_as": read_as and read_as.value,
        "encoding_errors": encoding_errors.value,
    }
    are_documents = separator is not None or (
        file is not None and not is_plain(file, Reading(**how))
    )
    data = read_text(text, None, quiet, encoding_errors.value) if file is None else b""
    with amount_progress("encoding", None, False if quiet else None):
        if file is not None:
            batch = tok.encode_file(file, **how, **options)
        else:
            bounds = document_bounds(data, separator).tolist()
            batch = tok.encode_batch([data[start:end] for start, end in bounds], **options)
    write_ids(batch, output, form, dtype, nested=are_documents, quiet=quiet)
