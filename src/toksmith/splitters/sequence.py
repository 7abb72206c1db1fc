"""Splitters one after the other, and cutting at a pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toksmith.short_repr import short_repr
from toksmith.splitters.classes import Behavior
from toksmith.splitters.pattern import check_pattern

if TYPE_CHECKING:
    from toksmith.splitters import Splitter


@short_repr
@dataclass(frozen=True)
class Split:
    """Cut at the matches of a pattern (``Split`` of tokenizer.json).

    Attributes:
        pattern: a regular expression of the ``regex`` package, or a literal.
        behavior: what becomes of the matches.
        invert: the matches are the text *between* the cuts.
        is_regex: which of the two the pattern is.

    Raises:
        SplitError: the pattern does not compile.
    """

    pattern: str
    behavior: Behavior = "isolated"
    invert: bool = False
    is_regex: bool = True

    def __post_init__(self) -> None:
        if self.is_regex:
            check_pattern(self.pattern)


@short_repr
@dataclass(frozen=True)
class SplitterSequence:
    """Each splitter cuts the pieces that the one before it left."""

    steps: tuple[Splitter, ...]
