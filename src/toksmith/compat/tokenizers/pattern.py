"""tokenizers' ``Regex``, and patterns as tokenizer.json spells them."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from toksmith._base.checks import check_pattern
from toksmith.compat.tokenizers.callbacks import checked
from toksmith.compat.tokenizers.failures import ComponentTypeError, TokenizersError
from toksmith.errors import OptionError, SplitError
from toksmith.formats.huggingface.patterns import from_oniguruma
from toksmith.splitters import Behavior

BEHAVIORS: dict[str, Behavior] = {
    "removed": "removed",
    "isolated": "isolated",
    "merged_with_previous": "merged-with-previous",
    "merged_with_next": "merged-with-next",
    "contiguous": "contiguous",
}
"""tokenizers' names of what becomes of a match, and ours."""


class SplitDelimiterBehavior(Enum):
    """What becomes of the match of a split."""

    REMOVED = "removed"
    ISOLATED = "isolated"
    MERGED_WITH_PREVIOUS = "merged_with_previous"
    MERGED_WITH_NEXT = "merged_with_next"
    CONTIGUOUS = "contiguous"


class Regex:
    r"""A regular expression in the syntax of Oniguruma.

    Args:
        pattern: the expression.

    Raises:
        TokenizersError: it does not compile, or has a construct that may match differently here.

    Example:
        >>> from toksmith.compat.tokenizers import NormalizedString
        >>> text = NormalizedString("in 1984")
        >>> text.replace(Regex(r"\d+"), "0")
        >>> str(text)
        'in 0'
    """

    __slots__ = ("pattern", "translated")

    def __init__(self, pattern: str) -> None:
        self.pattern = checked(pattern, str)
        self.translated = translate(pattern)

    def __reduce__(self) -> tuple[type[Regex], tuple[str]]:
        return Regex, (self.pattern,)


Pattern: TypeAlias = "str | Regex"
"""A literal or a regular expression."""


def translate(pattern: str) -> str:
    """Return a regular expression of Oniguruma's in the syntax of the ``regex`` package.

    Raises:
        TokenizersError: it does not compile, or has a construct that may match differently here.
    """
    translated = from_oniguruma(pattern)
    try:
        check_pattern(pattern if translated is None else translated)
    except SplitError as wrong:
        raise TokenizersError(f"the pattern {pattern!r:.200} does not compile: {wrong}") from wrong
    if translated is None:
        raise TokenizersError(
            f"the pattern {pattern!r:.200} may match differently here than in Oniguruma: "
            r"back-references, named groups, \X, && in sets and flags other than (?i) are not read"
        )
    return translated


def spec_of(pattern: Pattern) -> dict[str, str]:
    """Return a pattern as tokenizer.json spells it.

    Raises:
        ComponentTypeError: it is neither a string nor a :class:`Regex`.
    """
    if isinstance(pattern, Regex):
        return {"Regex": pattern.pattern}
    return {"String": literal(pattern)}


def literal(pattern: object) -> str:
    """Return a pattern that is a string.

    Raises:
        ComponentTypeError: it is something else.
    """
    if not isinstance(pattern, str):
        raise ComponentTypeError(
            f"pattern is {pattern!r:.80}: give a str, or a Regex of tokenizers"
        )
    return pattern


def behavior_of(name: str) -> Behavior:
    """Return our name of what becomes of a match.

    Raises:
        ComponentTypeError: the name is no string.
        OptionError: there is no such behavior.
    """
    if checked(name, str) not in BEHAVIORS:
        raise OptionError(
            f"Wrong value for SplitDelimiterBehavior, {name!r:.80}, expected one of: "
            f"`{', '.join(BEHAVIORS)}`"
        )
    return BEHAVIORS[name]
