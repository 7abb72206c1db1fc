"""``toksmith pack``: packs the documents of token files into sequences, as an index."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from toksmith.cli.common import Quiet

EXAMPLE = "toksmith pack tokens/ --length 4096 --method best-fit"


class Method(str, Enum):
    """The methods of packing."""

    BEST_FIT = "best-fit"
    CONCAT = "concat"
    TRUNCATE = "truncate"


def run(
    tokens: Annotated[
        Path,
        typer.Argument(metavar="TOKENS", help="A folder or file that toksmith tokenize wrote."),
    ],
    length: Annotated[
        int, typer.Option(min=1, metavar="N", help="The maximum number of tokens of a sequence.")
    ],
    method: Annotated[
        Method,
        typer.Option(
            case_sensitive=False,
            help="best-fit = cut only documents longer than a sequence, and fill sequences by "
            "best-fit decreasing; concat = documents end to end, cut every N tokens; truncate = "
            "the first N tokens of each document alone.",
        ),
    ] = Method.BEST_FIT,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Shuffle the documents first. Default: keep their order."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="The index. Default: METHOD-N.pack, or METHOD-N=SPLIT.pack, in the folder of the "
            "token files.",
        ),
    ] = None,
    split: Annotated[
        str | None, typer.Option(metavar="NAME", help="A split, such as train. Default: all.")
    ] = None,
    format: Annotated[  # noqa: A002  # the word that users know
        str | None,
        typer.Option(metavar="NAME", help="The format of the files. Default: as found."),
    ] = None,
    eos: Annotated[
        int | None,
        typer.Option(
            metavar="ID",
            help="The end-of-text id, for files of a framework that do not store the bounds of "
            "documents.",
        ),
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The type of ids, for files that do not store it."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Pack the documents of token files into sequences of at most N tokens.

    Token files are not changed: the result is an index of (document, start, length) rows, which
    open_tokens(…).packed(index) reads in Python. The table says how full the sequences are, and how
    many documents are cut.
    """
    import toksmith
    from toksmith.cli.writing import check_folder
    from toksmith.tokenfiles import pack

    opened = toksmith.open_tokens(tokens, format=format, split=split, eos=eos, dtype=dtype)
    if output is None:
        folder = tokens if tokens.is_dir() else tokens.parent
        # "=": datasets takes a file whose name has "train" between "-" or "." for one of its own.
        of = "" if split is None else f"={split}"
        output = folder / f"{method.value}-{length}{of}.pack"
    check_folder(output)
    index = pack(opened, length=length, method=method.value, seed=seed)
    index.save(output)
    if not quiet:
        print(f"{index}\n{'index':<12} {output}")
