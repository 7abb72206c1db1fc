"""BERT's normalizer: cleans and rewrites a text before it is split into words."""

from __future__ import annotations

from dataclasses import dataclass

from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class Bert:
    """BERT's normalizer (``BertNormalizer`` of tokenizer.json).

    Attributes:
        clean_text: remove control characters and U+FFFD; make all white space U+0020.
        handle_chinese_chars: put a space on either side of each CJK ideograph.
        strip_accents: decompose (NFD) and remove non-spacing marks; ``None``: as ``lowercase``.
        lowercase: lower-case each character by itself.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True

    @property
    def strips_accents(self) -> bool:
        """Whether accents go, ``None`` resolved."""
        return self.lowercase if self.strip_accents is None else self.strip_accents
