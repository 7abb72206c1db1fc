"""Normalizers and splitters that are decided by single characters, one character at a time.

A kernel that goes through a text once wants to look up what becomes of each character, and what
class it has. The answers here are made by running the steps themselves, not written a second time.

A Unicode form is not decided by single characters; but it is wherever no mark is near, because
characters act on each other only inside a segment, and most segments are one character. So such
steps count as context-free *but for the bound characters*: what one of these becomes, and what
the character before it becomes, depends on both. BERT's stripping of accents puts marks in order
before it removes them, which shows only in the few marks that it leaves.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from toksmith.normalizers import (
    Bert,
    Lowercase,
    Nmt,
    Normalizer,
    Replace,
    Step,
    StripAccents,
    UnicodeForm,
)
from toksmith.reference.normalizing import normalized
from toksmith.reference.normalizing_forms import acting_backwards
from toksmith.reference.pre_tokenizing_classes import character_classes
from toksmith.splitters import Splitter


def is_context_free(steps: Normalizer) -> bool:
    """Return whether each character becomes the same whatever stands beside it.

    But for the characters that :func:`is_bound` tells.

    Example:
        >>> from toksmith.normalizers import Strip
        >>> is_context_free((Lowercase(), Replace(" ", "_"))), is_context_free((Strip(),))
        (True, False)
    """
    return all(map(_is_context_free, steps))


def map_character(steps: Normalizer, character: str) -> str:
    """Return what becomes of a character that is not bound, in steps that are context-free.

    Example:
        >>> map_character((Bert(),), "É")
        'e'
    """
    return normalized(steps, character)


def is_bound(steps: Normalizer, character: str) -> bool:
    """Return whether what a character and the one before it become may depend on both.

    Example:
        >>> is_bound((UnicodeForm("NFC"),), "\u0301"), is_bound((UnicodeForm("NFC"),), "é")
        (True, False)
    """
    text = character
    for step in steps:
        if isinstance(step, UnicodeForm) and text[:1] in acting_backwards():
            return True
        text = normalized((step,), text)
        if isinstance(step, Bert) and step.strips_accents and any(map(_moves, text)):
            return True
    return False


def classes(splitter: Splitter) -> Callable[[str], int] | None:
    """Return the function that gives each character its class, or ``None`` if there is none.

    0: it is dropped; 1: it is a chunk of its own; from 2 on: a run of one class is a chunk.

    Example:
        >>> from toksmith.splitters import BertSplitter, FixedLength
        >>> [classes(BertSplitter())(c) for c in "a b!"], classes(FixedLength())
        ([2, 0, 2, 1], None)
    """
    table = character_classes(splitter)
    return None if table is None else lambda character: int(table[ord(character)])


def _is_context_free(step: Step) -> bool:
    if isinstance(step, Replace):
        return not step.is_regex and len(step.pattern) == 1
    return isinstance(step, Bert | Lowercase | Nmt | StripAccents | UnicodeForm)


def _moves(character: str) -> bool:
    """Return whether a form may move a character past others."""
    return unicodedata.combining(character) > 0 and character in acting_backwards()
