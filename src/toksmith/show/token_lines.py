"""Lines of tokens that are drawn as boxes: in the direction of the text, with whole characters.

A browser orders letters by the bidirectional algorithm, but treats a box as a neutral sign. So the
direction of each box is found here, and boxes that run against their line are put into an element
with a direction of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

from toksmith._base.visible import LONGEST
from toksmith.results import Encoding

_STRONG = {"L": "ltr", "R": "rtl", "AL": "rtl"}
_NUMBERS = {"EN", "AN"}
_JOINER = "\u200d"
# Spacing marks of Thai and Lao, voicing marks of halfwidth kana: letters by their category.
_LATER_PARTS = "\u0e33\u0eb3\uff9e\uff9f"
# The viramas after which a consonant goes on with the cluster (UAX #29, rule GB9c).
_LINKERS = "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d"
_JAMO, _LATER_JAMO = range(0x1100, 0x1200), range(0x1160, 0x1200)
_SYLLABLES = range(0xAC00, 0xD7A4)
_JOINING = re.compile("([\u200d\ufe0e\ufe0f])")
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)


class Box(NamedTuple):
    """A token, or some tokens that share a grapheme cluster.

    Attributes:
        html: the box as HTML.
        text: the text that it covers.
    """

    html: str
    text: str


def box_lines_html(boxes: Iterable[Box]) -> str:
    r"""Return boxes as lines, each of which has the direction of its text.

    Example:
        >>> box_lines_html([Box("<b>x</b>", "x"), Box("<b>\u05d0</b>", "\u05d0")])
        '<div dir="ltr"><b>x</b><span dir="rtl"><b>א</b></span></div>'
    """
    lines: list[list[Box]] = [[]]
    for box in boxes:
        if box.text.startswith("\n") and box.text.strip("\n"):  # the start of the next line
            lines.append([])
        lines[-1].append(box)
        if box.text.endswith("\n"):
            lines.append([])
    return "".join(_line(line) for line in lines if line)


def _line(line: Sequence[Box]) -> str:
    base, directions = box_directions([box.text for box in line])
    parts = []
    for direction, run in groupby(zip(directions, line, strict=True), lambda pair: pair[0]):
        html = "".join(box.html for _, box in run)
        parts.append(html if direction == base else f'<span dir="{direction}">{html}</span>')
    return f'<div dir="{base}">{"".join(parts)}</div>'


def token_boxes(
    encoding: Encoding, count: int, token: Callable[[int], str], html: Callable[[bytes], str]
) -> list[Box]:
    """Return the boxes of the first tokens; what tokens share is drawn once above them.

    Args:
        encoding: the tokens.
        count: the number of tokens to draw.
        token: returns the HTML of the token at an index.
        html: returns bytes as HTML.
    """
    texts = (encoding.text, encoding.pair or "")
    ends = dict(shared_characters(encoding))
    boxes: list[Box] = []
    place = 0
    while place < count:
        after = min(ends.get(place, place + 1), count)
        which = encoding.sequence[place]
        spans = encoding.spans[place:after].tolist()
        start, end = spans[0][0], max(end for _, end in spans)
        text = "" if which < 0 else texts[which][start:end]
        drawn = [token(each) for each in range(place, after)]
        boxes.append(
            Box(
                drawn[0] if len(drawn) == 1 else whole_html(text, drawn, html, spans),
                text,
            )
        )
        place = after
    return boxes


def whole_html(
    text: str,
    tokens: Sequence[str],
    html: Callable[[bytes], str],
    spans: Sequence[Sequence[int]],
) -> str:
    """Return characters with the tokens that share them below.

    Args:
        text: the characters.
        tokens: the HTML of each token.
        html: returns bytes as HTML.
        spans: of the tokens, in characters. Bytes of one character run from left to right, whole
            characters as the text does.
    """
    splits_characters = any(after < end for (_, end), (after, _) in pairwise(spans))
    direction = "ltr" if splits_characters else _letter_direction(text) or "ltr"
    return (
        '<span class="whole"><span class="characters" aria-hidden="true">'
        f'{picture_html(text, html)}</span><span class="bytes" dir="{direction}">'
        f"{''.join(tokens)}</span></span>"
    )


def picture_html(text: str, html: Callable[[bytes], str]) -> str:
    r"""Return characters as HTML; what joins them to one picture stays as it is.

    Args:
        text: the characters.
        html: returns bytes as HTML; it would show joiners by their numbers.
    """
    if len(text) > LONGEST:
        return html(text.encode())
    return "".join(
        part if _JOINING.match(part) else html(part.encode()) for part in _JOINING.split(text)
    )


def box_directions(texts: Sequence[str]) -> tuple[str, list[str]]:
    r"""Return the direction of a line, ``"ltr"`` or ``"rtl"``, and that of each box in it.

    The first letter decides about the line, and about each box. Digits run from left to right. A
    box without both has the direction of its neighbours if they agree, else that of the line.

    Example:
        >>> box_directions(["\u05d0", " ", "\u05d1", " ", "x"])
        ('rtl', ['rtl', 'rtl', 'rtl', 'rtl', 'ltr'])
    """
    found = [_direction(text) for text in texts]
    base = next((each for each in map(_letter_direction, texts) if each), "ltr")
    before = list(accumulate(found, lambda last, each: each or last, initial=base))
    after = list(accumulate(reversed(found), lambda last, each: each or last, initial=base))[::-1]
    resolved = [
        direction or (before[place] if before[place] == after[place + 1] else base)
        for place, direction in enumerate(found)
    ]
    return base, resolved


def _direction(text: str) -> str:
    if direction := _letter_direction(text):
        return direction
    is_number = any(unicodedata.bidirectional(character) in _NUMBERS for character in text)
    return "ltr" if is_number else ""


def _letter_direction(text: str) -> str:
    classes = map(unicodedata.bidirectional, text)
    return next((_STRONG[each] for each in classes if each in _STRONG), "")


def shared_characters(encoding: Encoding) -> list[tuple[int, int]]:
    r"""Return the runs of tokens that share a grapheme cluster: the first, and one past the last.

    A cluster is what is drawn as one picture: a letter with its combining marks, an emoji with its
    skin tone, joined emoji, the two letters of a flag, conjunct consonants of Indic scripts.

    Example:
        >>> import numpy as np
        >>> data = "aé!".encode()
        >>> spans = np.array([[i, i + 1] for i in range(4)])
        >>> places = np.array([[0, 1], [1, 2], [1, 2], [2, 3]])
        >>> tokens = [data[i : i + 1] for i in range(4)]
        >>> shared_characters(Encoding("aé!", list(data), tokens, places, spans, [False] * 4))
        [(1, 3)]
    """
    spans = encoding.spans.tolist()
    texts = (encoding.text, encoding.pair or "")
    runs: list[tuple[int, int]] = []
    for place in range(1, len(spans)):
        if encoding.sequence[place] != encoding.sequence[place - 1]:
            continue
        (start, end), (after, stop) = spans[place - 1], spans[place]
        if start == end or after == stop or any(encoding.special[place - 1 : place + 1]):
            continue
        text = texts[encoding.sequence[place] == 1]
        goes_on = bool(runs) and runs[-1][1] == place
        if after < end or (after == end and _is_joined(text, after)):
            runs[-1:] = (
                [(runs[-1][0], place + 1)] if goes_on else [*runs[-1:], (place - 1, place + 1)]
            )
    return runs


def _is_joined(text: str, place: int) -> bool:
    """Return whether the characters before and after a place are drawn as one."""
    before, after = text[place - 1 : place], text[place : place + 1]
    if not before or not after or unicodedata.category(before) in ("Cc", "Zl", "Zp"):
        return False
    if _JOINER in (before, after) or unicodedata.category(after).startswith("M"):
        return True
    if ord(after) in _SKIN_TONES or after in _LATER_PARTS:
        return True
    if before in _LINKERS and unicodedata.category(after) == "Lo":
        return True
    if ord(after) in _LATER_JAMO and (ord(before) in _JAMO or ord(before) in _SYLLABLES):
        return True
    letters = 0
    while letters < place and ord(text[place - 1 - letters]) in _FLAG_LETTERS:
        letters += 1
    return letters % 2 == 1 and ord(after) in _FLAG_LETTERS
