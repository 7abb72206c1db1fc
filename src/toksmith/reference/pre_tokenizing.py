"""Splitters of text models, step by step: first what they write anew, then where they cut."""

from __future__ import annotations

from functools import singledispatch

from toksmith.reference.aligned import AnyText, Edit, changed
from toksmith.reference.splitting import character_spans
from toksmith.splitters import PatternSplitter, Splitter, SplitterSequence


def pieces(splitter: Splitter | None, text: AnyText, at_start: bool = True) -> list[AnyText]:
    """Return the chunks of a text.

    Args:
        splitter: how to cut; ``None`` leaves the text whole.
        text: normalized text, as a string or with the places of the original.
        at_start: whether its first character is the first of the whole document, and not one
            behind an added token.
    """
    if not len(text):
        return []
    if splitter is None:
        return [text]
    if isinstance(splitter, SplitterSequence):
        parts = [text]
        for step in splitter.steps:
            # A later step sees pieces; only the first of them can be the start of the document.
            parts = [
                piece
                for place, part in enumerate(parts)
                for piece in pieces(step, part, at_start and place == 0)
            ]
        return parts
    text = changed(text, rewriting(splitter, str(text), at_start))
    return [text[start:end] for start, end in cuts(splitter, str(text)) if end > start]


@singledispatch
def rewriting(splitter: Splitter, text: str, at_start: bool) -> list[Edit]:
    """Return what a splitter writes anew before it cuts."""
    return []


@singledispatch
def cuts(splitter: Splitter, text: str) -> list[tuple[int, int]]:
    """Return where each chunk of a text starts and ends, in characters."""
    raise NotImplementedError(type(splitter))


@cuts.register
def _(splitter: PatternSplitter, text: str) -> list[tuple[int, int]]:
    return character_spans(splitter, text)
