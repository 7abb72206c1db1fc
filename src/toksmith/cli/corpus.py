"""The options that all commands that read a corpus share."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, TypeAlias

import typer

from toksmith.cli.common import Separator, Threads
from toksmith.errors import OptionError

_READING = "Reading"

CorpusOptions: TypeAlias = dict[str, Any]
"""The options of a corpus, by the names of the Python arguments."""

Files = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILES", help="Files, folders or quoted globs."),
]
CountsFiles = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH",
        help="Counts made by toksmith counts, instead of files: a file, or a folder of shards. "
        "Repeat for several.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="The memory limit, such as 4G; other counts go to temporary files.",
    ),
]
SpillLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="The maximum size of the temporary files of --memory, such as 100G."
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Print what would be read and how; read no text and write nothing."
    ),
]
MinCount = Annotated[
    int,
    typer.Option(
        min=1,
        help="Ignore words seen fewer times than this; saves memory on large texts.",
    ),
]
Field = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="The field of JSON Lines, or the column of Parquet, CSV and TSV, that holds the text.",
        rich_help_panel=_READING,
    ),
]


class ReadAs(str, Enum):
    """The content of files."""

    TEXT = "text"
    JSONL = "jsonl"
    PARQUET = "parquet"
    CSV = "csv"
    TSV = "tsv"


ReadAsOption = Annotated[
    ReadAs | None,
    typer.Option(
        "--read-as",
        case_sensitive=False,
        help="The format of the files, compressed or not. Default: by their names.",
        rich_help_panel=_READING,
    ),
]
Weight = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH=NUMBER",
        help="A factor for the counts of a file, folder or glob, such as wiki/=2.5. Repeat for "
        "several.",
        rich_help_panel=_READING,
    ),
]
Sample = Annotated[
    float,
    typer.Option(
        metavar="SHARE", help="Read this share of the documents.", rich_help_panel=_READING
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        help="Random seed for --sample; the same seed picks the same documents.",
        rich_help_panel=_READING,
    ),
]


class Duplicates(str, Enum):
    """What is used once if it repeats."""

    DOCUMENTS = "documents"
    LINES = "lines"


Deduplicate = Annotated[
    Duplicates | None,
    typer.Option(
        "--deduplicate",
        metavar="[documents|lines]",
        help="Read identical documents, or identical lines, once. \\[documents]",
        rich_help_panel=_READING,
    ),
]


class EncodingErrors(str, Enum):
    """The treatment of invalid UTF-8."""

    STRICT = "strict"
    REPLACE = "replace"


EncodingErrorsOption = Annotated[
    EncodingErrors,
    typer.Option(
        "--encoding-errors",
        case_sensitive=False,
        help="What to do with input that is not UTF-8 text: strict = stop, replace = put U+FFFD "
        "in place of other bytes.",
        rich_help_panel=_READING,
    ),
]


def _corpus(
    separator: Separator = None,
    field: Field = "text",
    read_as: ReadAsOption = None,
    weight: Weight = None,
    sample: Sample = 1.0,
    seed: Seed = 0,
    deduplicate: Deduplicate = None,
    encoding_errors: EncodingErrorsOption = EncodingErrors.STRICT,
    memory: Memory = None,
    min_count: MinCount = 1,
    threads: Threads = None,
) -> CorpusOptions:
    return {
        "separator": separator,
        "field": field,
        "read_as": read_as and read_as.value,
        "weights": _weights(weight),
        "sample": sample,
        "seed": seed,
        "deduplicate": deduplicate.value if deduplicate else False,
        "encoding_errors": encoding_errors.value,
        "memory": memory,
        "min_count": min_count,
        "threads": threads,
    }


def with_corpus_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options of a corpus in place of its parameter ``corpus``.

    Args:
        command: a function with a parameter ``corpus``, a :data:`Corpus`.
    """
    options = _parameters(_corpus)

    @wraps(command)
    def run(**given: Any) -> None:
        corpus = _corpus(**{name: given.pop(name) for name in options})
        command(**given, corpus=corpus)

    shown: dict[str, Parameter] = {}
    for name, parameter in _parameters(command).items():
        shown |= options if name == "corpus" else {name: parameter}
    run.__signature__ = signature(command).replace(parameters=list(shown.values()))  # type: ignore[attr-defined]
    return run


def _parameters(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the parameters of a function with evaluated types, keyword-only, for typer."""
    return {
        name: parameter.replace(kind=Parameter.KEYWORD_ONLY)
        for name, parameter in signature(function, eval_str=True).parameters.items()
    }


def _weights(given: list[str] | None) -> dict[str, float]:
    """Return the weights given on the command line.

    Raises:
        OptionError: a weight has another form than PATH=NUMBER.
    """
    found = {}
    for text in given or []:
        path, _, number = text.rpartition("=")
        try:
            found[path] = float(number)
        except ValueError:
            path = ""
        if not path:
            raise OptionError(f"--weight {text!r}: use PATH=NUMBER, such as 'wiki/=2.5'")
    return found
