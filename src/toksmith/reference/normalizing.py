"""Normalizers, step by step: each says which stretches of a text become what."""

from __future__ import annotations

from functools import singledispatch

from toksmith.normalizers import Normalizer, Step
from toksmith.reference.aligned import AnyText, Edit, changed
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
        text = changed(text, edits(step, str(text)))
    return text


@singledispatch
def edits(step: Step, text: str) -> list[Edit]:
    """Return what a step changes in a text, from left to right."""
    raise NotImplementedError(type(step))


edits.register(sentencepiece_edits)
edits.register(precompiled_edits)
