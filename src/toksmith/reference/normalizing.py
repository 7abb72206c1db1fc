"""Normalizers, step by step: each says which stretches of a text become what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, singledispatch

from toksmith.normalizers import (
    Bert,
    Normalizer,
    Step,
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


@singledispatch
def passes(step: Step) -> Sequence[Callable[[str], list[Edit]]]:
    """Return what a step does to a text, pass after pass: most have one, their edits."""
    return (partial(edits, step),)


@passes.register
def _(step: Bert) -> Sequence[Callable[[str], list[Edit]]]:
    return letters.bert_passes(step)


@singledispatch
def edits(step: Step, text: str) -> list[Edit]:
    """Return what a step of one pass changes in a text, from left to right."""
    raise NotImplementedError(type(step))


for _edits in (
    letters.lowercase,
    letters.strip_accents,
    letters.nmt,
    form_edits,
    rewriting.prepended,
    rewriting.replaced,
    rewriting.stripped,
    precompiled_edits,
    sentencepiece_edits,
):
    edits.register(_edits)
