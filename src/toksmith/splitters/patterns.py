"""The splitter by a regular expression, and the one that ``split=`` names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from toksmith._base.checks import check_pattern
from toksmith._base.visible import short_repr
from toksmith.errors import SplitError
from toksmith.splitters.families import Family, family_of
from toksmith.splitters.names import pattern_of


@short_repr
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
        SplitError: the pattern does not compile, or ``gaps`` is another word.

    Example:
        >>> PatternSplitter(r"[a-z]+|\d").family is None
        True
    """

    pattern: str
    gaps: Literal["keep", "drop"] = "keep"

    def __post_init__(self) -> None:
        if self.gaps not in ("keep", "drop"):
            raise SplitError(f"gaps is {self.gaps!r:.80}: use 'keep' or 'drop'")
        if self.family is None:
            check_pattern(self.pattern)

    @property
    def family(self) -> Family | None:
        """The published family that this pattern spells, if any."""
        return family_of(self.pattern)


def splitter(
    split: str | None,
    gaps: Literal["keep", "drop"] = "keep",
    *,
    also: Sequence[str] = (),
) -> PatternSplitter | None:
    r"""Return the splitter of a split that a user named or wrote.

    Args:
        split: a name of :data:`~toksmith.splitters.NAMES`, in any case, such as ``"gpt4"`` or
            ``"words"`` (words and white space, as ``str.split`` sees them), a regular expression,
            or ``None`` or ``"none"`` for no splitting.
        gaps: see :class:`PatternSplitter`.
        also: further names that the caller accepts, for the message.

    Raises:
        SplitError: the pattern does not compile, or is a bare word that is no name.

    Example:
        >>> splitter("gpt4").family.name, splitter("Llama3") == splitter("gpt4")
        ('cl100k', True)
    """
    if split is None:
        return None
    if not isinstance(split, str):
        raise SplitError(f"split is {split!r:.80}: use None, a name or a pattern, as a str")
    if not split:
        raise SplitError("split is an empty string: use None for no split, a name or a pattern")
    pattern = pattern_of(split, also)
    return None if pattern is None else PatternSplitter(pattern, gaps)
