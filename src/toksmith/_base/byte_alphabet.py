"""GPT-2's printable byte alphabet: one visible character for each of the 256 bytes.

Printable Latin-1 characters spell their own code; the other 68 bytes, in order, are spelled U+0100
and onwards (so a space is ``Ġ`` and a line break is ``Ċ``). Radford et al. 2019 needed it to keep
byte strings in text files.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, pairwise

_VISIBLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_HIDDEN = sorted(set(range(256)) - set(_VISIBLE))

ALPHABET = {byte: chr(byte) for byte in _VISIBLE} | {
    byte: chr(256 + place) for place, byte in enumerate(_HIDDEN)
}
"""The character of each byte."""

# To Latin-1 and back, where each byte is one character. A hidden byte's own character becomes
# nothing; U+FFFF makes encoding fail on it.
_TO_LATIN = dict.fromkeys(_HIDDEN, 0xFFFF) | {
    ord(character): byte for byte, character in ALPHABET.items()
}


def spell(token: bytes) -> str:
    r"""Return the token in printable characters.

    Example:
        >>> spell(b" \n\xc3")
        'ĠĊÃ'
    """
    return token.decode("latin-1").translate(ALPHABET)


def unspell(text: str) -> bytes | None:
    r"""Return the bytes that the text spells; ``None`` where a character is not of the alphabet.

    Example:
        >>> unspell("ĠĊÃ"), unspell("a b")
        (b' \n\xc3', None)
    """
    try:
        return text.translate(_TO_LATIN).encode("latin-1")
    except UnicodeEncodeError:
        return None


def unspell_all(texts: Iterable[str]) -> list[bytes | None]:
    """Return :func:`unspell` of each text; quickly where all of them spell something."""
    texts = list(texts)
    whole = unspell("".join(texts))  # one pass over all is some ten times faster
    if whole is None:
        return [unspell(text) for text in texts]
    ends = [0, *accumulate(map(len, texts))]
    return [whole[start:end] for start, end in pairwise(ends)]
