"""Rewriting of stretches of text: replace, strip, prepend."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Replace:
    """Replace each match.

    Attributes:
        pattern: a regular expression of the ``regex`` package, or a literal.
        content: what stands in its place, literally.
        is_regex: which of the two the pattern is.
    """

    pattern: str
    content: str
    is_regex: bool = False


@dataclass(frozen=True)
class Strip:
    """Remove white space at the ends."""

    left: bool = True
    right: bool = True


@dataclass(frozen=True)
class Prepend:
    """Put a text before every text that is not empty."""

    prefix: str
