"""SentencePiece's way with spaces, as ``tokenizers`` does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from toksmith.errors import SplitError
from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class Metaspace:
    """Write a mark for each space, and start a chunk at each mark (``Metaspace``).

    Attributes:
        replacement: the mark, one character.
        prepend: whether a text that does not start with the mark gets one: ``always``, ``never``,
            or ``first`` (only at the start of the whole text, not after an added token).
        split: whether chunks start at the marks; otherwise the text stays whole.

    Raises:
        SplitError: the mark is not one character.
    """

    replacement: str = "\u2581"
    prepend: Literal["always", "first", "never"] = "always"
    split: bool = True

    def __post_init__(self) -> None:
        if len(self.replacement) != 1:
            raise SplitError(f"replacement is {self.replacement!r:.40}; wanted: one character")
