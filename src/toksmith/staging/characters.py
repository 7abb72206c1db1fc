"""What a normalizer makes of single characters, and of which it cannot be told one by one."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import Protocol

from toksmith.normalizers import Normalizer, SentencePieceNormalizer


class Characters(Protocol):
    """A normalizer, character by character.

    Attributes:
        inside: the normalizer for a chunk inside a text, for what depends on neighbours.
        sentinel: a character, or none, to put before such a chunk, so that its start is no start
            of a text; it comes out as it is.
        lead: whether the normalizer puts a space before a text.
        collapse: whether it makes one space of several, and none at the end.
    """

    inside: Normalizer
    sentinel: str
    lead: bool
    collapse: bool

    def becomes(self, character: str) -> str:
        """Return what a character becomes."""

    def depends(self, character: str) -> bool:
        """Return whether what it or the character before it becomes depends on both."""


def characters_of(normalizer: Normalizer) -> Characters | None:
    """Return a normalizer character by character; ``None`` where it has to see the whole text."""
    if not normalizer:
        return Unchanged()
    if len(normalizer) == 1 and isinstance(normalizer[0], SentencePieceNormalizer):
        step = normalizer[0]
        # What it does at the ends of a text can be told from a chunk only where spaces are first
        # put there and then counted.
        if step.whitespace_as_suffix or step.remove_extra_whitespaces > step.add_dummy_prefix:
            return None
        return SentencePieceCharacters(step)
    return None


class Unchanged:
    """No normalizer."""

    inside: Normalizer = ()
    sentinel = ""
    lead = False
    collapse = False

    def becomes(self, character: str) -> str:
        """Return the character."""
        return character

    def depends(self, character: str) -> bool:
        """Return that none depends on others."""
        return False


class SentencePieceCharacters:
    """SentencePiece's normalizer."""

    def __init__(self, step: SentencePieceNormalizer) -> None:
        self.inside: Normalizer = (replace(step, add_dummy_prefix=False),)
        self.lead = step.add_dummy_prefix
        self.collapse = step.remove_extra_whitespaces
        entries: dict[str, str] = {}  # TODO: charsmap
        self._single = {key: new for key, new in entries.items() if len(key) == 1}
        self._single |= {symbol: symbol for symbol in step.protected if len(symbol) == 1}
        self._space = "\u2581" if step.escape_whitespaces else " "
        # What is rewritten together with what stands before it, and what starts a symbol that
        # passes as it is.
        depends = {c for key in entries for c in key[1:]}
        depends |= {symbol[0] for symbol in step.protected if len(symbol) > 1}
        if self.collapse:
            # Spaces are counted by what they are, not by what they are written as.
            depends |= {self._space} - {" "}
            depends |= {key for key, new in self._single.items() if " " in new and new != " "}
        self._depends: Set[str] = depends
        self.sentinel = next(c for c in _SENTINELS if c not in self._single and c not in depends)

    def becomes(self, character: str) -> str:
        """Return what a character becomes."""
        return self._single.get(character, character).replace(" ", self._space)

    def depends(self, character: str) -> bool:
        """Return whether its neighbours matter."""
        return character in self._depends


_SENTINELS = [chr(code) for code in range(0xE000, 0xF900)]  # of private use
