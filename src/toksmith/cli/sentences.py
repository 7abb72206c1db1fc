"""``toksmith sentences``: prints the sentences of a text."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from toksmith._base.lazy import np
from toksmith._base.visible import count_of
from toksmith.cli.common import File, Quiet
from toksmith.cli.corpus import EncodingErrors, EncodingErrorsOption
from toksmith.cli.pieces import (
    JsonOption,
    SpansOption,
    escape_controls,
    print_pieces,
    print_summary,
)

EXAMPLE = "toksmith sentences 'Dr. Smith left. Did she?'"


class Rules(str, Enum):
    """The rules for the end of a sentence."""

    SENTENCEX = "sentencex"
    UAX29 = "uax29"


def run(
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="The text; without it, --file or standard input."),
    ] = None,
    file: File = None,
    language: Annotated[
        str,
        typer.Option(
            "--language", "-l", metavar="CODE", help="The language of the text: en, de, ja …"
        ),
    ] = "en",
    rules: Annotated[
        Rules,
        typer.Option(help="sentencex handles abbreviations and quotes; uax29 is Unicode's rule."),
    ] = Rules.SENTENCEX,
    spans: SpansOption = False,
    as_json: JsonOption = False,
    encoding_errors: EncodingErrorsOption = EncodingErrors.STRICT,
    quiet: Quiet = False,
) -> None:
    r"""Print the sentences of a text, one per line, and their number.

    Without --json, white space around a sentence is removed, and a line break inside is a space.
    Needs pip install toksmith\[segment].
    """
    from toksmith.cli.reading import read_text
    from toksmith.segment import sentences

    found = sentences(read_text(text, file, quiet, encoding_errors.value), rules.value, language)
    # In UAX #29 an empty line is a sentence.
    chosen = [i for i, piece in enumerate(found.pieces) if not piece.isspace()]
    print_pieces(found, np.array(chosen, np.int64), _one_line, spans, as_json)
    print_summary(count_of(len(chosen), "sentence"), quiet)


def _one_line(sentence: str) -> str:
    return escape_controls(" ".join(sentence.split()))
