"""Cuts a text into chunks of at most n tokens, or to a start or an end of that length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

from toksmith._base.arrays import IdArray, OffsetArray, Span, SpanArray
from toksmith._base.lazy import np
from toksmith._base.records import dataclass
from toksmith._base.text import characters, utf8
from toksmith._base.visible import short_repr
from toksmith.errors import OptionError
from toksmith.framing.lengths import Direction

AnyText = TypeVar("AnyText", str, bytes)

Unit: TypeAlias = Literal["token", "word", "sentence"]
"""Where a text may be cut."""

_UNITS = ("token", "word", "sentence")
_MARGIN = 8
"""The number of tokens at the end of a window that may differ from those of the whole text."""


@short_repr
@dataclass(frozen=True)
class TextChunk(Generic[AnyText]):
    """A part of a text.

    Attributes:
        text: the part, of the same type as the whole text.
        span: its characters in the whole text.
        tokens: the number of tokens when the part is encoded by itself.

    Example:
        >>> import toksmith
        >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
        >>> chunk = tok.chunks("low lower", 3)[0]
        >>> chunk.text, chunk.span, chunk.tokens
        ('low low', Span(start=0, end=7), 3)
    """

    text: AnyText
    span: Span
    tokens: int


class _Window(NamedTuple):
    """The tokens of a stretch of the text, encoded by itself.

    Attributes:
        starts: int64, shape ``(tokens,)``: the first character of each token in the whole text.
        ends: int64, shape ``(tokens,)``: the index after the last character of each token.
        is_rest: whether the window reaches the end of the text.
    """

    starts: OffsetArray
    ends: OffsetArray
    is_rest: bool


class Chunker:
    """Cuts one text into chunks; the time is linear in its length.

    At the start of each chunk, the chunker encodes a window of text with a few more tokens than a
    chunk may have. The chunk ends at the last boundary within the limit and is then counted by
    itself, because a cut may change the tokens next to it. If the count exceeds the limit, earlier
    boundaries are tried, at distances that double.

    Args:
        text: a string, or bytes.
        limit: the most tokens of a chunk.
        overlap: the most tokens that a chunk repeats from the chunk before it.
        at: the unit to cut at; a sentence longer than a chunk is cut at words, a word at tokens.
        places: returns the ids of a text and the byte span of each token.
        count: returns the number of tokens of a text.
    """

    def __init__(
        self,
        text: str | bytes,
        limit: int,
        overlap: int,
        at: Unit,
        places: Callable[[bytes], tuple[IdArray, SpanArray]],
        count: Callable[[str | bytes], int],
    ) -> None:
        if at not in _UNITS:
            raise OptionError(f"at is {at!r:.80}: use one of {', '.join(map(repr, _UNITS))}")
        if overlap >= limit:
            raise OptionError(
                f"overlap is {overlap} and max_tokens is {limit}: a chunk must have more tokens "
                "than it repeats"
            )
        self._is_bytes = isinstance(text, bytes)
        self._string = text if isinstance(text, str) else text.decode("utf-8", "surrogateescape")
        self._size = len(self._string)
        self._limit = limit
        self._overlap = overlap
        self._units = _UNITS[: _UNITS.index(at) + 1][::-1]
        self._places = places
        self._count = count
        self._reach = 8 * limit + 64

    def __iter__(self) -> Iterator[tuple[Span, int]]:
        """Yield the character span of each chunk and its number of tokens.

        Raises:
            OptionError: a single character has more tokens than a chunk may have.
        """
        start = end = 0
        while end < self._size:
            window, start, end, tokens = self._next(start, end)
            yield Span(start, end), tokens
            self._reach = 5 * (end - start) // 4 + 64
            before = start
            start = self._overlap_start(window, end) if self._overlap and end < self._size else end
            if start <= before:  # else the next chunk would contain this whole chunk
                start = end

    def _next(self, start: int, after: int) -> tuple[_Window, int, int, int]:
        """Return the window, start, end and token count of a chunk that ends after ``after``.

        It starts at ``start``, or where the chunk before it ended if it can then end at a boundary
        of a larger unit.
        """
        windows: dict[int, _Window] = {}
        for unit in self._units:
            for place in dict.fromkeys((start, after)):
                window = windows[place] = windows.get(place) or self._window(place)
                found = self._end(window, unit, place, after)
                if found is not None:
                    return window, place, *found
        end, tokens = self._few_characters(after)
        return windows[after], after, end, tokens

    def _window(self, start: int) -> _Window:
        reach = self._reach
        while True:
            end = min(start + reach, self._size)
            part = self._part(start, end)
            ids, spans = self._places(utf8(part))
            if end == self._size or len(ids) > self._limit + _MARGIN:
                touched = characters(part, spans)[1] + start
                return _Window(touched[:, 0], touched[:, 1], end == self._size)
            reach *= 2

    def _end(self, window: _Window, unit: str, start: int, after: int) -> tuple[int, int] | None:
        """Return the last boundary of a unit at which a chunk can end, and its token count."""
        if window.is_rest and len(window.starts) <= self._limit:
            tokens = self._count(self._part(start, self._size))
            if tokens <= self._limit or start == self._size:
                return self._size, tokens
        last = int(window.starts[self._limit]) if len(window.starts) > self._limit else self._size
        bounds = window.starts[: self._limit + 1] if unit == "token" else self._bounds[unit]
        low, high = np.searchsorted(bounds, (after, last), side="right").tolist()
        place, step = high - 1, 1
        while place >= low:
            end = int(bounds[place])
            tokens = self._count(self._part(start, end))
            if tokens <= self._limit:
                return end, tokens
            place = max(place - step, low) if place > low else low - 1
            step *= 2
        return None

    def _few_characters(self, start: int) -> tuple[int, int]:
        """Return the end and token count of a chunk that ends at no token boundary."""
        size = min(self._limit, self._size - start)
        while True:
            tokens = self._count(self._part(start, start + size))
            if tokens <= self._limit:
                return start + size, tokens
            if size == 1:
                raise OptionError(
                    f"max_tokens is {self._limit}, but the character {self._string[start]!a} at "
                    f"{start} has {tokens} tokens by itself: use {tokens} or more"
                )
            size //= 2

    def _overlap_start(self, window: _Window, end: int) -> int:
        """Return the start of the next chunk, which repeats tokens before ``end``."""
        last_token = int(np.searchsorted(window.starts, end))
        first = max(last_token - self._overlap, 0)
        low = int(window.starts[first]) if first < len(window.starts) else end
        if first:
            low = max(low, int(window.ends[first - 1]))
        for unit in self._units:
            bounds = window.starts[first:last_token] if unit == "token" else self._bounds[unit]
            place, last = np.searchsorted(bounds, (low, end)).tolist()
            step = 1
            while place < last:
                start = int(bounds[place])
                if self._count(self._part(start, end)) <= self._overlap:
                    return start
                place += step
                step *= 2
        return end

    @cached_property
    def _bounds(self) -> _UnitStarts:
        return _UnitStarts(self._string)

    def _part(self, start: int, end: int) -> str | bytes:
        part = self._string[start:end]
        return part.encode("utf-8", "surrogateescape") if self._is_bytes else part


def text_chunks(text: AnyText, chunks: Iterable[tuple[Span, int]]) -> list[TextChunk[AnyText]]:
    r"""Return the parts of a text.

    Args:
        text: a string or bytes.
        chunks: the character span of each part, and its number of tokens.

    Example:
        >>> text_chunks(b"low\xc3\xa9", [(Span(2, 4), 3)])
        [TextChunk(text=b'w\xc3\xa9', span=Span(start=2, end=4), tokens=3)]
    """
    if isinstance(text, str):
        return [TextChunk(text[slice(*span)], span, tokens) for span, tokens in chunks]
    string = text.decode("utf-8", "surrogateescape")
    return [
        TextChunk(string[slice(*span)].encode("utf-8", "surrogateescape"), span, tokens)
        for span, tokens in chunks
    ]


class _UnitStarts:
    """The starts of the words and sentences of a text, computed on first use."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, OffsetArray] = {}

    def __getitem__(self, unit: str) -> OffsetArray:
        if unit not in self._found:
            from toksmith import segment

            find = segment.words if unit == "word" else segment.sentences
            self._found[unit] = find(self._text).bounds
        return self._found[unit]


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
    reach = 8 * limit + 1024  # in characters: enough for most texts; avoids encoding a long text
    while True:
        part = text[:reach] if side == "right" else text[max(len(text) - reach, 0) :]
        ids, spans = places(part)
        if len(part) == len(text):
            if len(ids) <= limit:
                return text
            break
        # Near the cut, the tokens of the part may differ from those of the whole text.
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
