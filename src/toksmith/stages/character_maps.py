"""Normalizers and splitters as tables over single characters.

The kernel reads a text once and looks up the normalized form and the class of each character. The
tables are computed by running the steps on single characters, so each rule is written once.

A Unicode normalization form is not context-free, but its context is limited: characters only
interact inside a segment, and most segments are one character. So such steps count as context-free
*except for the bound characters*, such as combining marks: the forms of a bound character and of
the character before it depend on both. BERT's removal of accents orders marks before it removes
them, which only matters for the few marks that it keeps.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from toksmith.normalizers import (
    Bert,
    ByteLevel,
    Lowercase,
    Nmt,
    Normalizer,
    Precompiled,
    Replace,
    Step,
    StripAccents,
    UnicodeForm,
)
from toksmith.stages.normalize import normalize
from toksmith.stages.normalize_forms import acting_backwards
from toksmith.stages.normalize_sentencepiece import map_precompiled


def is_context_free(steps: Normalizer) -> bool:
    """Return whether the form of each character is independent of its neighbours.

    Except for the bound characters, which :func:`map_characters` reports.

    Example:
        >>> from toksmith.normalizers import Strip
        >>> is_context_free((Lowercase(), Replace(" ", "_"))), is_context_free((Strip(),))
        (True, False)
    """
    return all(map(_is_context_free, steps))


def map_characters(steps: Normalizer, characters: Sequence[str]) -> tuple[list[str], list[bool]]:
    r"""Return the normalized form of each character, for context-free steps.

    Returns:
        The form of each character without a bound character next to it, and whether it is
        *bound*: the forms of it and of the character before it may depend on both.

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
            # Marks that normalization may reorder.
            moving = set(filter(unicodedata.combining, acting_backwards("".join(texts))))
            bound = [b or not moving.isdisjoint(t) for b, t in zip(bound, texts, strict=True)]
    return texts, bound


def _mapped(step: Step, texts: list[str]) -> list[str]:
    if isinstance(step, Precompiled):
        return [map_precompiled(step, text) for text in texts]
    # Characters do not interact, so all are mapped in one call, joined by separators.
    together = "".join(texts)
    for between in _LETTERS:
        if between not in together:
            found = normalize((step,), between.join(texts)).split(between)
            if len(found) == len(texts):
                return found
    return [normalize((step,), text) for text in texts]


_LETTERS = "\ua015\u1401"
"""Separators: letters that normalizers rarely change."""


def _is_context_free(step: Step) -> bool:
    if isinstance(step, Replace):
        return not step.is_regex and len(step.pattern) == 1
    return isinstance(step, Bert | ByteLevel | Lowercase | Nmt | StripAccents | UnicodeForm)
