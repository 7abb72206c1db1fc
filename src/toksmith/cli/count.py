"""``toksmith count``: how many tokens texts and files have."""

from __future__ import annotations

import os
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
from toksmith.errors import OptionError

EXAMPLE = "toksmith count -t o200k_base chapter1.txt chapter2.txt"


def run(
    tokenizer: TokenizerName,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT|FILES", help="Files, or one text; without them, standard input."
        ),
    ] = None,
    file: Annotated[
        list[Path] | None,
        typer.Option("--file", "-f", metavar="PATH", help="A file. May stand several times."),
    ] = None,
    special: SpecialOption = Special.TEXT,
    threads: Threads = None,
    split: Split = None,
    special_token: SpecialTokens = None,
    quiet: Quiet = False,
) -> None:
    """Count the tokens of files (a line each, and the total) or of a text.

    A single argument that is no file is taken as the text itself, unless it looks like a path.
    """
    from toksmith.cli.reading import read_stdin
    from toksmith.documents import open_mapped

    files, text = _files_or_text(inputs or [], file or [])
    tok = load_tokenizer(tokenizer, split, special_token)
    if not files:
        text = read_stdin(quiet) if text is None else text
        print(tok.count(text, special=special.value, threads=threads))
        return
    total = 0
    for path in files:
        with open_mapped(path) as data, memoryview(data) as view:
            tokens = tok.count(view, special=special.value, threads=threads)
        total += tokens
        print(f"{tokens}\t{path}" if len(files) > 1 else tokens)
    if len(files) > 1:
        print(f"{total}\ttotal")


def _files_or_text(inputs: list[str], files: list[Path]) -> tuple[list[Path], bytes | None]:
    missing = [name for name in inputs if not _exists(name)]
    if not missing:
        return [*map(Path, inputs), *files], None
    is_text = len(inputs) == 1 and not files and not _looks_like_path(inputs[0])
    if not is_text:
        raise OptionError(f"{missing[0]}: there is no such file")
    return [], os.fsencode(inputs[0])


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # a text too long for a name, or with a null character
        return False


def _looks_like_path(name: str) -> bool:
    is_one_word = len(name.split()) == 1
    return is_one_word and (os.sep in name or len(Path(name).suffix) > 1)
