"""SentencePiece's rules for strings that may be pieces, from the options of its trainer.

A piece is short, of one script, and has white space (▁) only at its start. Training checks every
pair and every substring, so the kernel (``native/kernel/training/piece_rules.hpp``) decides from
the two halves of a piece alone.

Scripts are Unicode 9.0's, as SentencePiece and `tokenizers` know them: Hiragana, Katakana and ー
count as Han. Characters that are younger are of the common script.
"""

from __future__ import annotations

from dataclasses import dataclass

from toksmith.stages.character_classes import scripts

COMMON = int(scripts()[ord("!")])
"""The script of what many scripts use, such as digits; also of what is no character."""

INHERITED = int(scripts()[0x301])
"""The script of combining marks: that of the character before."""


def script(character: str) -> int:
    r"""Return the number of a character's script.

    Example:
        >>> script("a") == script("é"), script("a") == script("я"), script("カ") == script("漢")
        (True, False, True)
        >>> script("1") == script("\U0001f9a5") == COMMON
        True
    """
    return int(scripts()[ord(character)]) or COMMON


SPACE = "\u2581"
"""SentencePiece's symbol for a space: ▁."""


@dataclass(frozen=True)
class PieceRules:
    """The rules; the names are those of SentencePiece's options.

    Example:
        >>> rules = PieceRules()
        >>> [rules.allow(piece) for piece in ("▁the", "the▁", "aя", "カな漢", "a1")]
        [True, False, False, True, False]
    """

    max_sentencepiece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_digits: bool = False
    split_by_whitespace: bool = True
    treat_whitespace_as_suffix: bool = False
    allow_whitespace_only_pieces: bool = False

    def allow(self, piece: str) -> bool:
        """Return whether a string may be a piece."""
        return (
            0 < len(piece) <= self.max_sentencepiece_length
            and self._allow_spaces(piece)
            and not (self.split_digits and len(piece) > 1 and any(map(is_digit, piece)))
            and not (self.split_by_unicode_script and self._mixes_scripts(piece))
        )

    def apart(self, left: str, right: str) -> bool:
        """Return whether no piece can hold these two characters next to each other.

        Example:
            >>> rules = PieceRules()
            >>> [rules.apart(*pair) for pair in ("aя", "a1", "ab", "▁a", "カ漢")]
            [True, True, False, False, False]
        """
        if self.split_digits and (is_digit(left) or is_digit(right)):
            return True
        scripts = {self.script(character) for character in (left, right) if character != SPACE}
        return self.split_by_unicode_script and len(scripts - {None, INHERITED}) > 1

    def _allow_spaces(self, piece: str) -> bool:
        if self.allow_whitespace_only_pieces and piece == SPACE * len(piece):
            return True
        rest = piece[:-1] if self.treat_whitespace_as_suffix else piece[1:]
        if self.split_by_whitespace:
            return SPACE not in rest
        # A piece may span words, but a space stays with the word after it (or before it).
        return (rest[:1] if self.treat_whitespace_as_suffix else rest[-1:]) != SPACE

    def _mixes_scripts(self, piece: str) -> bool:
        before = None
        for character in piece.replace(SPACE, ""):
            own = self.script(character)
            if own == INHERITED:
                own = before
            if None not in (own, before) and own != before:
                return True
            before = own
        return False

    def script(self, character: str) -> int | None:
        """Return the script of a character by itself; ``None`` if it fits any."""
        if not self.split_by_number and is_digit(character):
            return None
        return script(character)


def is_digit(character: str) -> bool:
    """Return whether SentencePiece treats a character as a digit: ASCII, or full width."""
    return "0" <= character <= "9" or "\uff10" <= character <= "\uff19"
