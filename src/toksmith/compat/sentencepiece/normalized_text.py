"""Normalized texts, with the place in the original of each of their bytes."""

from __future__ import annotations

from typing import NamedTuple

from toksmith._base.text import byte_sizes
from toksmith.compat.sentencepiece.segmentation import character_numbers
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.stages.aligned import Aligned
from toksmith.stages.normalize import normalize
from toksmith.stages.normalize_sentencepiece import end_of_normalized


class Normalized(NamedTuple):
    """A normalized text.

    Attributes:
        text: as UTF-8.
        origins: the place in the original, in bytes, where each byte comes from, and the end of
            what was used of it; empty if the original is white space alone.
    """

    text: bytes
    origins: list[int]

    def in_characters(self, original: bytes) -> tuple[str, list[int]]:
        """Return the text, and the character of the original where each of its characters starts.

        Args:
            original: the text that was normalized.
        """
        text = self.text.decode()
        if not self.origins:
            return text, [0]
        numbers = character_numbers(original)
        ends = [0, *character_ends(text)]
        return text, [numbers[self.origins[end]] for end in ends]


def character_ends(text: str) -> list[int]:
    """Return where each character of a text ends, in bytes."""
    ends: list[int] = byte_sizes(text).cumsum().tolist()
    return ends


def normalize_text(step: SentencePieceNormalizer, text: bytes) -> str:
    """Return a text as the normalizer leaves it."""
    return normalize((step,), text.decode("utf-8", "surrogateescape"))


def normalize_with_origins(step: SentencePieceNormalizer, text: bytes) -> Normalized:
    """Return a text as the normalizer leaves it, and where its bytes come from."""
    string = text.decode("utf-8", "surrogateescape")
    aligned = normalize((step,), Aligned.of(string))
    if not aligned.text:
        end = end_of_normalized(step, string)
        used = [] if end is None else [len(string[:end].encode("utf-8", "surrogateescape"))]
        return Normalized(b"", used)
    origins: list[int] = []
    for start, size in zip(aligned.starts, byte_sizes(aligned.text).tolist(), strict=True):
        origins += [start] * size
    origins.append(aligned.ends[-1])
    return Normalized(aligned.text.encode(), origins)
