"""An excerpt of a text and its tokens: the part of a long text that a page shows.

The whole text is encoded to ids only, which is fast. Spans are computed for the excerpt alone, with
a margin on either side, because distant text hardly ever changes a token. The ids are then compared
with those of the whole text; if they differ, the spans of the whole text are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from toksmith._base.arrays import IdArray, Span
from toksmith._base.lazy import np
from toksmith._base.text import characters, utf8
from toksmith.errors import OptionError
from toksmith.results import Encoding
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.encode import Special

SIZE = 4_000
"""The size of an excerpt in characters."""

_MARGIN = 1_000
_SNAP = 200
_DRIFT = 256


@dataclass(frozen=True)
class Excerpt:
    """A part of a text.

    Attributes:
        text: the whole text.
        start: its first character, in the text.
        end: one past its last character.
    """

    text: str
    start: int
    end: int

    @property
    def shown(self) -> str:
        """The text of the excerpt."""
        return self.text[self.start : self.end]


@dataclass(frozen=True)
class ExcerptTokens:
    """The tokens of an excerpt.

    Attributes:
        encoding: the excerpt and its tokens; the spans of tokens that cross its edge are clipped.
        first: the index of the first of them among all tokens of the text.
        total: the number of tokens of the whole text.
    """

    encoding: Encoding
    first: int
    total: int


def cut_excerpt(text: str, place: int, size: int = SIZE) -> Excerpt:
    """Return the excerpt that starts near a place, cut at white space if there is any.

    Near the end of a text it is the last excerpt of this size.

    Example:
        >>> excerpt = cut_excerpt("one two three four", 5, 9)
        >>> excerpt.shown
        'two three'
    """
    last = max(len(text) - size, 0)
    start = _snap_start(text, min(max(place, 0), last))
    return Excerpt(text, start, len(text) if place >= last else _snap_end(text, start + size))


def encode_excerpt(
    tok: Tokenizer, excerpt: Excerpt, special: Special = "text", template: bool = False
) -> ExcerptTokens:
    """Return the tokens of an excerpt, as they are in the whole text.

    Args:
        tok: the tokenizer.
        excerpt: the part of the text.
        special: how special tokens in the text are read, as in ``encode``.
        template: add the tokens of the template around the whole text.
    """
    text = excerpt.text
    ids = tok.encode_array(text, special=special)
    low = _snap_start(text, max(excerpt.start - _MARGIN, 0)) if excerpt.start else 0
    high = (
        _snap_end(text, min(excerpt.end + _MARGIN, len(text)))
        if excerpt.end < len(text)
        else len(text)
    )
    for start, end in ((low, high), (0, len(text))):
        encoding = tok.encoding(text[start:end], special=special, add_special_tokens=template)
        before = len(text[start : excerpt.start].encode())
        inside = Span(before, before + len(excerpt.shown.encode()))
        part = _inside(
            encoding, inside, start == 0 == excerpt.start, end == len(text) == excerpt.end
        )
        own = _own(encoding, part)
        first = _place(
            ids, own, tok.count(text[:start], special=special) + _own_before(encoding, part)
        )
        if first is not None or (start, end) == (0, len(text)):
            break
    head = sum(1 for which in encoding.sequence if which < 0) if template else 0
    byte_spans = np.clip(encoding.byte_spans[part], inside.start, inside.end) - inside.start
    spans = characters(excerpt.shown, byte_spans)[1]
    shown = Encoding(
        text=excerpt.shown,
        ids=[encoding.ids[i] for i in part],
        tokens=[encoding.tokens[i] for i in part],
        spans=spans,
        byte_spans=byte_spans,
        special=[encoding.special[i] for i in part],
    )
    return ExcerptTokens(shown, (first or 0) + (head if excerpt.start else 0), len(ids) + head)


def _snap_start(text: str, place: int) -> int:
    """Return the start of the line or word at a place, if it is near."""
    if place <= 0:
        return 0
    near = text[max(place - _SNAP, 0) : place]
    for mark in ("\n", " "):
        found = near.rfind(mark)
        if found >= 0:
            return place - len(near) + found + 1
    return place if place > _SNAP else 0


def _snap_end(text: str, place: int) -> int:
    """Return the end of the word at a place, if it is near."""
    near = text[place : place + _SNAP]
    found = [at for at in (near.find("\n"), near.find(" ")) if at >= 0]
    return place + min(found) if found else place


def _inside(encoding: Encoding, inside: Span, at_start: bool, at_end: bool) -> list[int]:
    """Return the indices of the tokens in a byte range; an empty token counts at its place."""
    part = []
    for i, (start, end) in enumerate(encoding.byte_spans.tolist()):
        if encoding.sequence[i] < 0:
            if (at_start and start == 0 == inside.start) or (at_end and start >= inside.end):
                part.append(i)
        elif start == end:
            if inside.start <= start < inside.end or (start == inside.end and at_end):
                part.append(i)
        elif end > inside.start and start < inside.end:
            part.append(i)
    return part


def _own(encoding: Encoding, part: Sequence[int]) -> IdArray:
    return np.array([encoding.ids[i] for i in part if encoding.sequence[i] >= 0], np.uint32)


def _own_before(encoding: Encoding, part: Sequence[int]) -> int:
    return sum(1 for i in range(part[0]) if encoding.sequence[i] >= 0) if part else 0


def _place(ids: IdArray, part: IdArray, about: int) -> int | None:
    """Return the index of a run of ids among all, searched around a place; ``None`` if absent."""
    if not len(part):
        return about
    for distance in range(_DRIFT):
        for place in {about - distance, about + distance}:
            if 0 <= place <= len(ids) - len(part) and np.array_equal(
                ids[place : place + len(part)], part
            ):
                return place
    return None


def parse_special(value: str) -> Literal["text", "encode"]:
    """Return the value of the field ``special``.

    Raises:
        OptionError: it is neither ``text`` nor ``encode``.
    """
    if value == "text":
        return "text"
    if value == "encode":
        return "encode"
    raise OptionError(f"special is {value!r:.80}: use text or encode")


def parse_text(value: object) -> str:
    r"""Return a field as a text, with U+FFFD for surrogates.

    Example:
        >>> parse_text("a\ud800") == "a\ufffd"
        True
    """
    return utf8(str(value)).decode()
