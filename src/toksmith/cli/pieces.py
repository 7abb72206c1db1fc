"""Prints the pieces of a text, one per line, for ``words`` and ``sentences``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from toksmith._base.arrays import OffsetArray
    from toksmith.segment import Spans

SpansOption = Annotated[
    bool,
    typer.Option(
        "--spans",
        help="Print start and end before each piece, in characters counted from 0, and a tab.",
    ),
]
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object per line: start, end, and the exact text."),
]

_LINES_AT_ONCE = 1 << 14
_JOINERS = "\u200c\u200d"
"""Invisible characters that are part of words, and safe to print."""


def print_pieces(
    spans: Spans,
    chosen: OffsetArray,
    line: Callable[[str], str],
    with_spans: bool,
    as_json: bool,
) -> None:
    """Print some pieces of a text.

    Args:
        spans: all pieces.
        chosen: the indices of the pieces to print.
        line: returns the line for a piece, unless it is printed as JSON.
        with_spans: print the span before each piece.
        as_json: print JSON with exact texts.
    """
    starts, ends = spans.bounds[chosen], spans.bounds[chosen + 1]
    text = spans.text

    def lines() -> Iterator[str]:
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            piece = text[start:end]
            if as_json:
                entry = {"start": start, "end": end, "text": piece}
                yield json.dumps(entry, ensure_ascii=not piece.isprintable()) + "\n"
            elif with_spans:
                yield f"{start}\t{end}\t{line(piece)}\n"
            else:
                yield line(piece) + "\n"

    rest = lines()
    while some := "".join(islice(rest, _LINES_AT_ONCE)):
        sys.stdout.write(some)


def escape_controls(text: str) -> str:
    r"""Escape characters that control a terminal, if standard output is a terminal.

    Control characters and bidirectional marks are shown as their code points.
    """
    if text.isprintable() or not sys.stdout.isatty():
        return text
    return "".join(
        letter if letter.isprintable() or letter in _JOINERS else f"<U+{ord(letter):04X}>"
        for letter in text
    )


def print_summary(counts: str, quiet: bool) -> None:
    """Print a summary on standard error."""
    if not quiet:
        sys.stdout.flush()
        print(counts, file=sys.stderr)
