"""The tokens of one text by several tokenizers, side by side, with the differing ones marked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from toksmith._base.text import utf8
from toksmith._base.visible import count_of, visible_name
from toksmith.measure.agreement import differing_tokens
from toksmith.results import Encoding
from toksmith.show.terminal import encoding_text

_NARROWEST = 36
_BETWEEN = 3


def side_by_side(
    encodings: Mapping[str, Encoding], *, colour: bool = True, width: int = 80
) -> RenderableType:
    """Return the tokens of a text by each tokenizer, line by line, or one below the other.

    Tokens that all tokenizers make are grey; the others have the colours of tokens. Without
    colours the others are inside ``⟦ ⟧``.

    Args:
        encodings: of one text, by the names of tokenizers.
        colour: whether to use colours.
        width: in terminal cells; if columns would be narrow, tokenizers come one below the other.
    """
    marks = dict(zip(encodings, differing_tokens(list(encodings.values())), strict=True))
    heads = {
        name: Text(
            f"{visible_name(name)}: {count_of(len(each), 'token')}", "bold" if colour else ""
        )
        for name, each in encodings.items()
    }
    room = (width - _BETWEEN * (len(encodings) - 1)) // max(len(encodings), 1)
    if room < _NARROWEST or len(encodings) < 2:
        parts: list[RenderableType] = []
        for name, each in encodings.items():
            tokens = encoding_text(each, ids=False, colour=colour, width=width, marked=marks[name])
            parts += [*([""] if parts else []), heads[name], tokens]
        return Group(*parts)
    table = Table(box=None, pad_edge=False, padding=(0, _BETWEEN, 0, 0), show_header=True)
    for name in encodings:
        table.add_column(heads[name], width=room, overflow="fold")
    rows = [_lines(each, marks[name], colour, room) for name, each in encodings.items()]
    for cells in zip(*rows, strict=True):
        table.add_row(*cells)
    return table


def _lines(encoding: Encoding, marked: list[bool], colour: bool, width: int) -> Iterator[Text]:
    """Yield the tokens that start in each line of the text."""
    data = utf8(encoding.text)
    starts = encoding.spans[:, 0].tolist()
    first = 0
    ends = [place + 1 for place, letter in enumerate(encoding.text) if letter == "\n"]
    for end in [*ends, len(encoding.text) + 1] if data else []:
        after = bisect_right(starts, end - 1, lo=first)
        part = encoding[first:after]
        yield encoding_text(part, ids=False, colour=colour, width=width, marked=marked[first:after])
        first = after
