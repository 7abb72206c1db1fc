"""Normalizers that rewrite stretches of a text, and where ``tokenizers`` says they came from."""

from __future__ import annotations

from toksmith.normalizers import Prepend, Replace, Strip
from toksmith.reference.aligned import Edit
from toksmith.reference.character_classes import WHITE_SPACE
from toksmith.reference.matching import find_matches


def replaced(step: Replace, text: str) -> list[Edit]:
    """Return the edits that replace each match.

    What takes the place of a match stands for its last character; what takes the place of an
    empty one, for the character before it.

    Example:
        >>> replaced(Replace("--", "-"), "a--b")
        [Edit(start=1, end=2, new=''), Edit(start=2, end=3, new='-')]
    """
    edits: list[Edit] = []
    for start, end in find_matches(step.pattern, step.is_regex, text):
        if start < end - 1:
            edits.append(Edit(start, end - 1, ""))
        if start < end or end == 0:
            edits.append(Edit(max(start, end - 1), end, step.content))
        else:
            edits.append(Edit(end - 1, end, text[end - 1] + step.content))
    return edits


def prepended(step: Prepend, text: str) -> list[Edit]:
    """Return the edit that puts a text before another; it stands for that one's first character.

    Example:
        >>> prepended(Prepend("_"), "ab")
        [Edit(start=0, end=1, new='_a')]
    """
    return [Edit(0, 1, step.prefix + text[0])] if text and step.prefix else []


def stripped(step: Strip, text: str) -> list[Edit]:
    """Return the edits that remove white space at the ends."""
    start = len(text) - len(text.lstrip(WHITE_SPACE)) if step.left else 0
    end = len(text.rstrip(WHITE_SPACE)) if step.right else len(text)
    if start >= end:  # nothing else is there
        return [Edit(0, len(text), "")] if text and (step.left or step.right) else []
    around = [Edit(0, start, ""), Edit(end, len(text), "")]
    return [edit for edit in around if edit.start < edit.end]
