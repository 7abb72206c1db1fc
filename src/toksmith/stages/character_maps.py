"""Normalizers and splitters as tables over single characters.

The kernel goes through a text once and looks up the normalized form and the class of each
character. Both are computed by running the steps themselves, not written a second time.

A Unicode form is not decided by single characters; but it is wherever no mark is near, because
characters act on each other only inside a segment, and most segments are one character. So such
steps count as context-free *but for the bound characters*: what one of these becomes, and what
the character before it becomes, depends on both. BERT's stripping of accents puts marks in order
before it removes them, which shows only in the few marks that it leaves.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

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
from toksmith.splitters import Splitter
from toksmith.stages.normalize import normalize
from toksmith.stages.normalize_forms import acting_backwards
from toksmith.stages.split_classes import character_classes


def is_context_free(steps: Normalizer) -> bool:
    """Return whether each character becomes the same whatever its neighbours are.

    Except for the bound characters, which :func:`map_characters` reports.

    Example:
        >>> from toksmith.normalizers import Strip
        >>> is_context_free((Lowercase(), Replace(" ", "_"))), is_context_free((Strip(),))
        (True, False)
    """
    return all(map(_is_context_free, steps))


def map_characters(steps: Normalizer, characters: Sequence[str]) -> tuple[list[str], list[bool]]:
    r"""Return what becomes of each of some characters in steps that are context-free.

    Returns:
        What each becomes where no bound character is next to it; and whether it is *bound*: what
        it and the one before it become may depend on both.

    Example:
        >>> map_characters((UnicodeForm("NFC"), Bert()), ["É", "\u0301", "\n"])
        (['e', '', ' '], [False, True, False])
    """
    texts = list(characters)
    bound = [False] * len(texts)
    for step in steps:
        if isinstance(step, UnicodeForm):
            firsts = [text[:1] for text in texts]
            acting = acting_backwards("".join(firsts))
            bound = [b or first in acting for b, first in zip(bound, firsts, strict=True)]
        texts = _mapped(step, texts)
        if isinstance(step, Bert) and step.strips_accents:
            # Those that a form may move past others.
            moving = set(filter(unicodedata.combining, acting_backwards("".join(texts))))
            bound = [b or not moving.isdisjoint(t) for b, t in zip(bound, texts, strict=True)]
    return texts, bound


def _mapped(step: Step, texts: list[str]) -> list[str]:
    # None sees another, so all can be mapped at once, with others between them.
    together = "".join(texts)
    for between in _LETTERS:
        if between not in together:
            found = normalize((step,), between.join(texts)).split(between)
            if len(found) == len(texts):
                return found
    return [normalize((step,), text) for text in texts]


_LETTERS = "\ua015\u1401"
"""Letters that hardly any normalizer changes."""


def class_table(splitter: Splitter) -> bytes | None:
    """Return the class of each code point; ``None`` where single characters have none.

    0: it is dropped; 1: it is a chunk of its own; from 2 on: a run of one class is a chunk.

    Example:
        >>> from toksmith.splitters import BertSplitter, FixedLength
        >>> [class_table(BertSplitter())[ord(c)] for c in "a b!"], class_table(FixedLength())
        ([2, 0, 2, 1], None)
    """
    table = character_classes(splitter)
    return None if table is None else table.tobytes()


def _is_context_free(step: Step) -> bool:
    if isinstance(step, Replace):
        return not step.is_regex and len(step.pattern) == 1
    return isinstance(step, Bert | Lowercase | Nmt | StripAccents | UnicodeForm)
