"""``toksmith count``: counts the tokens of texts and files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toksmith.cli.common import (
    Quiet,
    Special,
    SpecialOption,
    SpecialTokens,
    Split,
    Threads,
    TokenizerName,
    load_tokenizer,
)
from toksmith.cli.corpus import EncodingErrors, EncodingErrorsOption, Field, ReadAsOption

EXAMPLE = "toksmith count chapter1.txt chapter2.txt -t toksmith-small"


def run(
    tokenizer: TokenizerName,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT|FILES",
            help="Files, folders, quoted globs, or one text; without them, standard input.",
        ),
    ] = None,
    file: Annotated[
        list[Path] | None,
        typer.Option(
            "--file",
            "-f",
            metavar="PATH",
            help="A file, folder or quoted glob. Repeat for several.",
        ),
    ] = None,
    special: SpecialOption = Special.TEXT,
    field: Field = "text",
    read_as: ReadAsOption = None,
    encoding_errors: EncodingErrorsOption = EncodingErrors.STRICT,
    threads: Threads = None,
    split: Split = None,
    special_token: SpecialTokens = None,
    quiet: Quiet = False,
) -> None:
    """Count the tokens of a text or of files.

    Several files have a line each, and the total. A single argument that is no file and
    matches none is taken as the text itself, unless it looks like a path.

    Files are read as in training: in CSV, TSV, JSON Lines and Parquet, only the texts count.
    """
    from toksmith.cli.reading import files_or_text, read_stdin
    from toksmith.corpus import check_field
    from toksmith.corpus.opening import open_documents
    from toksmith.corpus.options import Reading

    files, text = files_or_text(inputs or [], file or [])
    tok = load_tokenizer(tokenizer, split, special_token)
    if not files:
        text = read_stdin(quiet, encoding_errors.value) if text is None else text
        print(tok.count(text, special=special.value, threads=threads))
        return
    reading = Reading(
        field=field, read_as=read_as and read_as.value, encoding_errors=encoding_errors.value
    )
    check_field(files, reading)
    total = 0
    for path in files:
        with open_documents(path, reading, check_fields=False) as (data, bounds):
            if bounds.tolist() == [[0, len(data)]]:
                tokens = tok.count(data, special=special.value, threads=threads)
            else:
                rows = [data[start:end] for start, end in bounds.tolist()]
                counts = tok.count_batch(rows, special=special.value, threads=threads)
                tokens = int(counts.sum())
        total += tokens
        print(f"{tokens}\t{path}" if len(files) > 1 else tokens)
    if len(files) > 1:
        print(f"{total}\ttotal")
