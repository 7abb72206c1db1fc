"""``toksmith words``: prints the words of a text."""

from __future__ import annotations

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

EXAMPLE = 'toksmith words "Don\'t panic: 東京へ行く"'


def run(
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="The text; without it, --file or standard input."),
    ] = None,
    file: File = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="Also print the text between words; a space is shown as ·."),
    ] = False,
    spans: SpansOption = False,
    as_json: JsonOption = False,
    locale: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Use the rules of a locale, such as sv; few locales have special rules.",
        ),
    ] = None,
    encoding_errors: EncodingErrorsOption = EncodingErrors.STRICT,
    quiet: Quiet = False,
) -> None:
    r"""Print the words of a text, one per line, and their number.

    Words are found by ICU, by UAX #29 (Unicode Text Segmentation) and, in Chinese, Japanese and
    Thai, by dictionaries. Needs pip install toksmith\[segment].
    """
    from toksmith._base.text import utf8
    from toksmith._base.visible import visible
    from toksmith.cli.reading import read_text
    from toksmith.segment import words

    found = words(read_text(text, file, quiet, encoding_errors.value), locale)
    if every:
        chosen = np.arange(len(found))
        print_pieces(found, chosen, lambda piece: visible(utf8(piece)), spans, as_json)
    else:
        print_pieces(found, np.flatnonzero(found.is_word), escape_controls, spans, as_json)
    of_all = f" in {count_of(len(found), 'piece')}" if every else ""
    print_summary(f"{count_of(int(found.is_word.sum()), 'word')}{of_all}", quiet)
