"""Cuts a text to a start or an end of at most n tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from toksmith._base.arrays import IdArray, SpanArray
from toksmith._base.text import characters
from toksmith.framing.lengths import Direction

AnyText = TypeVar("AnyText", str, bytes)


def truncate_text(
    text: AnyText,
    limit: int,
    side: Direction,
    places: Callable[[AnyText], tuple[IdArray, SpanArray]],
    count: Callable[[AnyText], int],
) -> AnyText:
    """Return the longest start or end of a text, cut between tokens and between characters.

    Args:
        text: the text.
        limit: the most tokens of the result.
        side: the end to cut off.
        places: returns the ids of a text and the byte span of each token.
        count: returns the number of tokens of a text.
    """
    reach = 8 * limit + 1024  # characters: enough for almost every text, and cheap for a long one
    while True:
        part = text[:reach] if side == "right" else text[max(len(text) - reach, 0) :]
        ids, spans = places(part)
        if len(part) == len(text):
            if len(ids) <= limit:
                return text
            break
        # Near its cut, the tokens of the part may differ from those of the text.
        if len(ids) > 2 * limit + 16:
            break
        reach *= 4
    string = part if isinstance(part, str) else part.decode("utf-8", "surrogateescape")
    touched = characters(part, spans)[1]
    # A cut changes the chunk next to it, which may then have more tokens.
    for kept in range(limit, 0, -1):
        place = kept if side == "right" else len(ids) - kept
        end, start = int(touched[place - 1, 1]), int(touched[place, 0])
        rest = string[: min(end, start)] if side == "right" else string[max(end, start) :]
        candidate = rest if isinstance(part, str) else rest.encode("utf-8", "surrogateescape")
        if count(candidate) <= limit:
            return candidate
    return text[:0]
