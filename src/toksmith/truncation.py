"""The start of a text that has at most so many tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from toksmith.text import characters
from toksmith.types import IdArray, SpanArray

AnyText = TypeVar("AnyText", str, bytes)


def truncated(
    text: AnyText,
    limit: int,
    places: Callable[[AnyText], tuple[IdArray, SpanArray]],
    count: Callable[[AnyText], int],
) -> AnyText:
    """Return the longest start found that ends with a token and with a character.

    Args:
        text: the text.
        limit: how many tokens the start may have.
        places: a text's ids, and the bytes that each token stands for.
        count: how many tokens a text has.
    """
    reach = 8 * limit + 1024  # the rest of a long text need not be looked at
    while True:
        part = text[:reach]
        ids, spans = places(part)
        if len(part) == len(text):
            if len(ids) <= limit:
                return text
            break
        # Where the part was cut, its last tokens may not be those of the text.
        if len(ids) > 2 * limit + 16:
            break
        reach *= 4
    _, touched = characters(part, spans[: limit + 1])
    # A cut changes what the last chunk is: its tokens may come to more than they were.
    for kept in range(limit, 0, -1):
        end = min(int(touched[kept - 1, 1]), int(touched[kept, 0]))
        start = _first_characters(part, end)
        if count(start) <= limit:
            return start
    return text[:0]


def _first_characters(text: AnyText, count: int) -> AnyText:
    if isinstance(text, str):
        return text[:count]
    first = text.decode("utf-8", "surrogateescape")[:count]
    return first.encode("utf-8", "surrogateescape")
