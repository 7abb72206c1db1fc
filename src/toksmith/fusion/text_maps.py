"""What the kernel must know to normalize a text before a byte-level model splits it.

The kernel rewrites a text character by character. When it first meets a block of 64 characters, it
calls :attr:`TextMap.describe_block`; characters that act on each other go, with the character
before them, to :attr:`TextMap.rewrite`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from toksmith.fusion import Unfused
from toksmith.fusion.characters import MappedCharacters, characters_of
from toksmith.fusion.rules import CHARACTERS_A_BLOCK
from toksmith.normalizers import Normalizer, Precompiled
from toksmith.stages.normalize import normalize

ChangedBlock: TypeAlias = "tuple[bytes, array[int], bytes]"
"""The new texts of 64 characters as UTF-8, the size of each in bytes (uint16), and the kind of each
character: 0 if it is kept, 1 if it is replaced, 2 if it acts on the character before it."""

_KEPT, _REPLACED, _BOUND = range(3)


@dataclass(frozen=True)
class TextMap:
    """A normalizer, for the kernel.

    Attributes:
        describe_block: returns the :data:`ChangedBlock` of a number; ``None`` if all characters of
            the block are kept.
        rewrite: returns the normalized form of a stretch of UTF-8.
    """

    describe_block: Callable[[int], ChangedBlock | None]
    rewrite: Callable[[bytes], bytes]


def find_text_map(normalizer: Normalizer) -> TextMap | None:
    """Return a normalizer for the kernel; ``None`` if its steps look beyond single characters."""
    if any(isinstance(step, Precompiled) for step in normalizer):
        return None
    try:
        characters = characters_of(normalizer)
    except Unfused:
        return None
    if (
        not isinstance(characters, MappedCharacters)
        or characters.prefix_space
        or characters.collapse
    ):
        return None

    def describe_block(block: int) -> ChangedBlock | None:
        start = block * CHARACTERS_A_BLOCK
        if 0xD800 <= start < 0xE000:
            return None  # surrogates are no text
        given = [chr(code) for code in range(start, start + CHARACTERS_A_BLOCK)]
        becomes, depends = characters.map(given)
        if becomes == given and not any(depends):
            return None
        # Where a character disappears, those around it become neighbours.
        kinds = [
            _BOUND if bound or not new else _KEPT if new == old else _REPLACED
            for old, new, bound in zip(given, becomes, depends, strict=True)
        ]
        encoded = [new.encode() for new in becomes]
        return b"".join(encoded), array("H", list(map(len, encoded))), bytes(kinds)

    def rewrite(stretch: bytes) -> bytes:
        text = stretch.decode("utf-8", "surrogateescape")
        return normalize(normalizer, text).encode("utf-8", "surrogateescape")

    return TextMap(describe_block, rewrite)
