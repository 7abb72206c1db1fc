"""Normalizers that look at one character at a time.

Each says which characters it changes (an array of flags, so that text in which nothing changes
costs one look-up a character) and what becomes of each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from toksmith.lazy import np
from toksmith.normalizers import Bert, Lowercase, Nmt, StripAccents, UnicodeForm
from toksmith.reference.aligned import Edit
from toksmith.reference.character_classes import (
    WHITE_SPACE,
    Flags,
    code_points,
    flags,
    flags_of,
    lower_case,
)
from toksmith.reference.normalizing_forms import form_edits

Pass = Callable[[str], list[Edit]]
"""What one pass over a text changes."""


def character_edits(changes: Flags, new: Callable[[str], str], text: str) -> list[Edit]:
    """Return the edits of a text whose characters change each by itself.

    Args:
        changes: which characters change.
        new: what becomes of one of them.
        text: the text.
    """
    places = np.flatnonzero(changes[code_points(text)]).tolist()
    return [Edit(place, place + 1, new(text[place])) for place in places]


def lowercase(step: Lowercase, text: str) -> list[Edit]:
    """Return the edits that lower-case each character by itself."""
    return character_edits(_cased(), lower_case().__getitem__, text)


def strip_accents(step: StripAccents, text: str) -> list[Edit]:
    """Return the edits that remove combining marks."""
    return character_edits(flags_of("MARK"), _nothing, text)


def nmt(step: Nmt, text: str) -> list[Edit]:
    """Return the edits of ``Nmt``."""
    return character_edits(_unwanted(), lambda c: " " if c in _NMT_SPACES else "", text)


def bert_passes(step: Bert) -> list[Pass]:
    """Return BERT's passes over a text, one after the other.

    Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional Transformers".
    """
    passes: list[Pass] = []
    if step.clean_text:
        passes.append(_clean)
    if step.handle_chinese_chars:
        passes.append(_space_ideographs)
    if step.strips_accents:
        passes += [partial(form_edits, UnicodeForm("NFD")), _strip_nonspacing]
    if step.lowercase:
        passes.append(partial(lowercase, Lowercase()))
    return passes


def _clean(text: str) -> list[Edit]:
    return character_edits(_unclean(), lambda c: " " if c in _BERT_SPACES else "", text)


def _space_ideographs(text: str) -> list[Edit]:
    return character_edits(flags_of("IDEOGRAPH"), lambda c: f" {c} ", text)


def _strip_nonspacing(text: str) -> list[Edit]:
    return character_edits(flags_of("NONSPACING"), _nothing, text)


def _nothing(character: str) -> str:
    return ""


# Control characters that are white space are still removed, but for tabs and line breaks.
_BERT_SPACES = "".join(c for c in WHITE_SPACE if c not in "\x0b\x0c\x85 ")

_NMT_REMOVED = "".join(map(chr, [*range(1, 9), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F]))
# Some white space, marks of zero width and of direction, ▁, the byte order mark and U+FFFD.
_NMT_SPACES = "\t\n\f\r\u1680\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"


@cache
def _cased() -> Flags:
    return flags("".join(lower_case()))


@cache
def _unclean() -> Flags:
    return flags_of("CONTROL") | flags(_BERT_SPACES)


@cache
def _unwanted() -> Flags:
    return flags(_NMT_REMOVED + _NMT_SPACES)
