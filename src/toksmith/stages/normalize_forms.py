r"""Unicode's normalization forms, with the origin of each character.

A form is made in three steps (UAX #15, "Unicode Normalization Forms"): each character is taken
apart; marks are put into the order of their combining classes; and for NFC and NFKC, what belongs
together is put together again. Characters act on each other only inside a *segment*, a character
with the marks after it, so only the segments that change are worked on.

Each part of a character has its origin; a mark that moves has the origin of the place it moves to;
a composed character has the origin of its first part. These are the rules of ``tokenizers``.
"""

from __future__ import annotations

import unicodedata
from typing import Literal, NamedTuple

from toksmith._base import lazy
from toksmith.normalizers import UnicodeForm
from toksmith.stages.aligned import Edit
from toksmith.stages.character_classes import ranges

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]


class Part(NamedTuple):
    """A character on its way into a form.

    Attributes:
        character: the character.
        taken: how many characters of the text it takes the place of; 0 for all parts of a
            character but its first.
    """

    character: str
    taken: int


def form_edits(step: UnicodeForm, text: str) -> list[Edit]:
    """Return the edits that bring a text into a form.

    Example:
        >>> form_edits(UnicodeForm("NFC"), "ae\u0301")
        [Edit(start=1, end=2, new='é'), Edit(start=2, end=3, new='')]
    """
    form = step.form
    if unicodedata.is_normalized(form, text):
        return []
    return [
        edit
        for segment in _SEGMENT.finditer(text)
        if not unicodedata.is_normalized(form, segment[0])
        for edit in _segment_edits(form, segment[0], segment.start())
    ]


def _segment_edits(form: Form, segment: str, start: int) -> list[Edit]:
    if len(segment) == 1:
        return [Edit(start, start + 1, unicodedata.normalize(form, segment))]
    parts = reorder(decompose(form, segment))
    if form in ("NFC", "NFKC"):
        parts = compose(parts)
    new = [""] * len(segment)
    done = 0
    for character, taken in parts:
        # A further part has the origin of the character before it, the last one taken.
        new[done if taken else done - 1] += character
        done += taken
    return [
        Edit(place, place + 1, changed)
        for place, changed in enumerate(new, start)
        if changed != segment[place - start]
    ]


def decompose(form: Form, segment: str) -> list[Part]:
    """Return the parts of each character."""
    apart: Form = "NFD" if form in ("NFC", "NFD") else "NFKD"
    return [
        Part(part, int(place == 0))
        for character in segment
        for place, part in enumerate(unicodedata.normalize(apart, character))
    ]


def reorder(parts: list[Part]) -> list[Part]:
    """Return the parts with the marks of each run in the order of their combining classes."""
    done: list[Part] = []
    marks: list[Part] = []
    for part in parts:
        if not unicodedata.combining(part.character):
            done += sorted(marks, key=_order)
            done.append(part)
            marks = []
        else:
            marks.append(part)
    return done + sorted(marks, key=_order)


def compose(parts: list[Part]) -> list[Part]:
    """Return the parts with each joined to the last starter, where such a character exists.

    A part is blocked from the starter by another of the same or a higher combining class.
    """
    done: list[Part] = []
    starter = -1  # its place in done
    for part in parts:
        between = done[starter + 1 :]
        blocked = bool(between) and _order(between[-1]) >= _order(part)
        if starter >= 0 and not blocked:
            joined = unicodedata.normalize("NFC", done[starter].character + part.character)
            if len(joined) == 1:
                done[starter] = Part(joined, done[starter].taken + part.taken)
                continue
        done.append(part)
        if _order(part) == 0:
            starter = len(done) - 1
    return done


def _order(part: Part) -> int:
    return unicodedata.combining(part.character)


def acting_backwards(text: str) -> set[str]:
    r"""Return the characters of a text that may act on the one before them, in some form.

    Example:
        >>> acting_backwards("e\u0301e") == {"\u0301"}
        True
    """
    return set() if text.isascii() else set(_ACTS.findall(text))


# A character that is newer than the forms of `tokenizers` (Unicode 9.0) acts on none.
_NEWER = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges("INERT"))
# Characters whose first part is reordered (its combining class is not 0) or composes with the part
# before it: most marks, some vowel signs, vowels and final consonants of Hangul. Other vowel signs
# do neither.
_ACTING = (
    r"[\P{ccc=0}\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf"
    r"\u0f73\u0f75\u0f81\u102e\u1161-\u1175\u11a8-\u11c2\u1b35\u3133\u3135\u3136\u313a-\u313f"
    r"\u314f-\u3163\uff9e\uff9f\uffa3\uffa5\uffa6\uffaa-\uffaf\uffc2-\uffc7\uffca-\uffcf"
    r"\uffd2-\uffd7\uffda-\uffdc\U00011127\U0001133e\U00011357\U000114b0\U000114ba\U000114bd"
    rf"\U000115af--{_NEWER}]"
)
_ACTS = lazy.pattern(f"(?V1){_ACTING}")
_SEGMENT = lazy.pattern(f"(?V1)[^{_NEWER}]{_ACTING}*")
