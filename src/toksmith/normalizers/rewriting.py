"""Rewriting of stretches of text: replace, strip, prepend."""

from __future__ import annotations

from dataclasses import dataclass

from toksmith.short_repr import short_repr
from toksmith.splitters.pattern import check_pattern


@short_repr
@dataclass(frozen=True)
class Replace:
    """Replace each match.

    Attributes:
        pattern: a regular expression of the ``regex`` package, or a literal.
        content: what stands in its place, literally.
        is_regex: which of the two the pattern is.

    Raises:
        SplitError: the pattern does not compile.
    """

    pattern: str
    content: str
    is_regex: bool = False

    def __post_init__(self) -> None:
        if self.is_regex:
            check_pattern(self.pattern)


@short_repr
@dataclass(frozen=True)
class Strip:
    """Remove white space at the ends."""

    left: bool = True
    right: bool = True


@short_repr
@dataclass(frozen=True)
class Prepend:
    """Put a text before every text that is not empty."""

    prefix: str
