"""Normalizers, step by step: each says which stretches of a text become what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from toksmith.arguments import assert_never
from toksmith.normalizers import (
    Bert,
    Lowercase,
    Nmt,
    Normalizer,
    Precompiled,
    Prepend,
    Replace,
    SentencePieceNormalizer,
    Step,
    Strip,
    StripAccents,
    UnicodeForm,
)
from toksmith.reference import normalizing_letters as letters
from toksmith.reference import normalizing_rewriting as rewriting
from toksmith.reference.aligned import AnyText, Edit, changed
from toksmith.reference.normalizing_forms import form_edits
from toksmith.reference.normalizing_sentencepiece import precompiled_edits, sentencepiece_edits


def normalized(normalizer: Normalizer, text: AnyText) -> AnyText:
    """Return a text with all steps of a normalizer done.

    Args:
        normalizer: the steps.
        text: a string, or one that keeps the places of the original.

    Example:
        >>> from toksmith.normalizers import Lowercase, Prepend
        >>> normalized((Lowercase(), Prepend("_")), "Ab")
        '_ab'
    """
    for step in normalizer:
        for edits_of in passes(step):
            found = edits_of(str(text))
            text = changed(text, found) if found else text
    return text


def passes(step: Step) -> Sequence[Callable[[str], list[Edit]]]:
    """Return what a step does to a text, pass after pass: most have one, their edits."""
    match step:
        case Bert():
            return letters.bert_passes(step)
        case (
            UnicodeForm()
            | Lowercase()
            | StripAccents()
            | Nmt()
            | Precompiled()
            | Prepend()
            | Replace()
            | Strip()
            | SentencePieceNormalizer()
        ):
            return (partial(edits, step),)
        case _:
            assert_never(step)


def edits(step: Step, text: str) -> list[Edit]:
    """Return what a step of one pass changes in a text, from left to right."""
    match step:
        case Bert():
            raise NotImplementedError("Bert has several passes")
        case Lowercase():
            return letters.lowercase(step, text)
        case StripAccents():
            return letters.strip_accents(step, text)
        case Nmt():
            return letters.nmt(step, text)
        case UnicodeForm():
            return form_edits(step, text)
        case Prepend():
            return rewriting.prepended(step, text)
        case Replace():
            return rewriting.replaced(step, text)
        case Strip():
            return rewriting.stripped(step, text)
        case Precompiled():
            return precompiled_edits(step, text)
        case SentencePieceNormalizer():
            return sentencepiece_edits(step, text)
        case _:
            assert_never(step)
