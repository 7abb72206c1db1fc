"""Splitting by what kind of character stands where (the pre-tokenizers of tokenizer.json)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from toksmith.errors import SplitError
from toksmith.short_repr import short_repr

Behavior = Literal["removed", "isolated", "merged-with-previous", "merged-with-next", "contiguous"]
"""What becomes of a match: nothing, a chunk of its own, part of the chunk before it or after it;
``contiguous``: a chunk of its own together with the matches that touch it."""


@short_repr
@dataclass(frozen=True)
class BertSplitter:
    """Drop white space; each punctuation mark is a chunk (``BertPreTokenizer``)."""


@short_repr
@dataclass(frozen=True)
class Whitespace:
    r"""Chunks are runs of word characters, and of what is neither: ``\w+|[^\w\s]+``."""


@short_repr
@dataclass(frozen=True)
class WhitespaceSplit:
    """Chunks are the text between white space."""


@short_repr
@dataclass(frozen=True)
class Punctuation:
    """Cut at punctuation (ASCII's, and Unicode's category P)."""

    behavior: Behavior = "isolated"


@short_repr
@dataclass(frozen=True)
class Digits:
    """Cut at numbers (Unicode's category N): each digit apart, or runs of them."""

    individual: bool = False


@short_repr
@dataclass(frozen=True)
class CharacterDelimiter:
    """Cut at one character, and drop it (``CharDelimiterSplit``).

    Raises:
        SplitError: it is not one character.
    """

    delimiter: str

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1:
            raise SplitError(f"delimiter is {self.delimiter!r:.40}; wanted: one character")


@short_repr
@dataclass(frozen=True)
class UnicodeScripts:
    """Cut where the script changes (Hiragana, Katakana and ー count as Han).

    Spaces and unassigned characters stand with any script; before the first of one they are lost,
    as in ``tokenizers``.
    """


@short_repr
@dataclass(frozen=True)
class FixedLength:
    """Chunks of a fixed number of characters.

    Raises:
        SplitError: the length is below 1.
    """

    length: int = 5

    def __post_init__(self) -> None:
        if self.length < 1:
            raise SplitError(f"length is {self.length}; wanted: 1 or more")
