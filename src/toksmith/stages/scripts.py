"""The script of a character, as SentencePiece and `tokenizers` know it: Unicode 9.0's Script.

Hiragana, Katakana and ー count as Han. Characters that are younger are of the common script.
"""

from __future__ import annotations

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
