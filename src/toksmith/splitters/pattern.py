"""Splitting by a regular expression."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import Literal

from toksmith.errors import SplitError
from toksmith.lazy import regex
from toksmith.splitters.families import ALIASES, FAMILIES, Family, family_of

_MOST_COPIES = 100_000
# As a pattern such a word would find itself alone, and leave all other text in one piece.
_NAME = re.compile(r"(?i)(gpt|[clropk]+\d+k|qwen|llama|none)[\w.-]*")


@dataclass(frozen=True)
class PatternSplitter:
    r"""Cut the text into the matches of a pattern, in the syntax of the ``regex`` package.

    Attributes:
        pattern: the pattern. The character classes of a known family are those of Unicode 16.0
            (as in tiktoken and tokenizers); those of any other pattern are the installed
            ``regex`` package's.
        gaps: what becomes of text that no match covers: ``"keep"`` makes each gap a chunk of its
            own, ``"drop"`` leaves it out, as tiktoken and minbpe do.

    Raises:
        SplitError: the pattern does not compile.

    Example:
        >>> PatternSplitter(r"[a-z]+|\d").family is None
        True
    """

    pattern: str
    gaps: Literal["keep", "drop"] = "keep"

    def __post_init__(self) -> None:
        if self.family is None:
            check_pattern(self.pattern)

    @property
    def family(self) -> Family | None:
        """The published family that this pattern spells, if any."""
        return family_of(self.pattern)


def check_pattern(pattern: str) -> None:
    """Check that a pattern compiles, and does not take the memory of the machine to do so.

    Raises:
        SplitError: it does not.
    """
    counts = (int(count[:9]) for count in re.findall(r"\{([0-9]+)", pattern))
    if prod(max(count, 1) for count in counts) > _MOST_COPIES:
        raise SplitError(
            f"split pattern {pattern!r:.80} counts too far: {{n}} is compiled as n "
            f"copies, and {_MOST_COPIES:,} in all are the most"
        )
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as wrong:
        raise SplitError(
            f"split pattern {pattern!r:.80} is not a regular expression: {wrong}"
        ) from wrong


def splitter(split: str | None, gaps: Literal["keep", "drop"] = "keep") -> PatternSplitter | None:
    """Return the splitter that a user named or wrote.

    Args:
        split: ``None`` (no splitting), a family's name (``"gpt2"``, ``"gpt4"`` or ``"cl100k"``,
            ``"o200k"``, …) or a pattern.
        gaps: see :class:`PatternSplitter`.

    Raises:
        SplitError: the pattern does not compile, or is the name of nothing that is known.

    Example:
        >>> splitter("gpt4").family.name
        'cl100k'
    """
    if split is None:
        return None
    if not isinstance(split, str):
        raise SplitError(f"split is {split!r:.80}: use None, a name or a pattern, as a str")
    family = FAMILIES.get(ALIASES.get(split, split))
    if family is None and _NAME.fullmatch(split):
        raise SplitError(
            f"split is {split!r}, which looks like a name and is none; there are "
            f"{', '.join([*FAMILIES, *ALIASES])}, None for no split, and any regular expression"
        )
    return PatternSplitter(family.pattern if family else split, gaps)
