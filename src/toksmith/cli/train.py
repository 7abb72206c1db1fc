"""``toksmith train``: from text to a tokenizer's file."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toksmith.cli.common import FormatName, Quiet, Separator, Threads, split_of
from toksmith.errors import ToksmithError

if TYPE_CHECKING:
    from toksmith.tokenizer import Tokenizer

EXAMPLE = "toksmith train corpus/*.txt -o mine.model --vocab-size 32000"


class Ties(str, Enum):
    """Which of equally frequent pairs is merged first."""

    FIRST_SEEN = "first-seen"
    SMALLEST_PAIR = "smallest-pair"


class Model(str, Enum):
    """What can be trained."""

    BPE = "bpe"


def run(
    files: Annotated[
        list[str], typer.Argument(metavar="FILES", help="Files, folders or quoted globs.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="The file to write.")
    ],
    vocab_size: Annotated[
        int, typer.Option(min=256, help="How many tokens, special tokens included.")
    ],
    split: Annotated[
        str,
        typer.Option(metavar="NAME|REGEX", help="gpt4, gpt2, o200k, none or a regex."),
    ] = "gpt4",
    special_token: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A special token. May stand several times."),
    ] = None,
    ties: Annotated[
        Ties, typer.Option(help="Of equally frequent pairs: minbpe's choice or Hugging Face's.")
    ] = Ties.FIRST_SEEN,
    min_frequency: Annotated[
        int, typer.Option(min=1, help="Stop when no pair is this frequent.")
    ] = 1,
    max_token_length: Annotated[
        int | None, typer.Option(min=1, metavar="BYTES", help="Make no longer tokens.")
    ] = None,
    separator: Separator = None,
    threads: Threads = None,
    to: FormatName = None,
    model: Annotated[Model, typer.Option(help="What to train.")] = Model.BPE,
    quiet: Quiet = False,
) -> None:
    """Learn a tokenizer from text and write it to a file."""
    from toksmith.cli.writing import check_folder

    check_folder(output)
    _rehearse(output, to, split_of(split), special_token or [])
    import toksmith

    tok = toksmith.train(
        files,
        model=model.value,
        vocab_size=vocab_size,
        split=split_of(split),
        special_tokens=special_token or (),
        ties=ties.value,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        separator=separator,
        threads=threads,
        progress=False if quiet else None,
    )
    tok.save(output, format=to)
    if not quiet:
        print(f"{figures(tok)} → {output}")


def _rehearse(output: Path, to: str | None, split: str | None, special_tokens: list[str]) -> None:
    """Find out before the long work, not after it, that the format cannot hold the result."""
    from tempfile import TemporaryDirectory

    import toksmith

    smallest = 256 + len(special_tokens)
    tok = toksmith.train(
        texts=["-"],
        vocab_size=smallest,
        split=split,
        special_tokens=special_tokens,
        progress=False,
    )
    with TemporaryDirectory() as folder:
        stand_in = Path(folder, output.name)
        if output.is_dir():
            stand_in.mkdir()
        try:
            tok.save(stand_in, format=to)
        except ToksmithError as error:
            error.args = (str(error).replace(str(stand_in), str(output)),)
            raise


def figures(tok: Tokenizer) -> str:
    """Return what training did, in one line of figures."""
    record = tok.training
    if record is None:
        return f"{tok.vocab_size:,} tokens"
    ratio = record.bytes / record.tokens if record.tokens else 0.0
    plural = "" if record.documents == 1 else "s"
    return (
        f"{record.model}: {record.documents:,} document{plural}, {megabytes(record.bytes)}, "
        f"{record.chunks:,} distinct chunks, {record.merges:,} merges, "
        f"{record.tokens:,} tokens, {ratio:.2f} bytes a token, {record.seconds:.1f} s"
    )


def megabytes(size: int) -> str:
    """Return a size for people.

    Example:
        >>> megabytes(12_345_678), megabytes(1_234)
        ('12.3 MB', '1,234 bytes')
    """
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size:,} bytes"
