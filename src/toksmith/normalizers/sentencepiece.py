"""SentencePiece's normalizer: a map of characters, then white space."""

from __future__ import annotations

from dataclasses import dataclass, field

from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class SentencePieceNormalizer:
    """``NormalizerSpec`` of a SentencePiece model, with what the trainer's spec adds to it.

    Attributes:
        charsmap: the compiled map (``precompiled_charsmap``); empty for none. The longest entry
            that starts at a character replaces it, from left to right.
        add_dummy_prefix: put one space before the text.
        remove_extra_whitespaces: drop spaces at the ends, and make one of several.
        escape_whitespaces: write U+2581 (▁) for each space.
        whitespace_as_suffix: the dummy space comes after the text, not before it.
        protected: user-defined symbols, which pass as they are; the longest first.
        name: the rule's name (``nmt_nfkc`` …), for the file alone.
    """

    charsmap: bytes = field(default=b"", repr=False)
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    whitespace_as_suffix: bool = False
    protected: tuple[str, ...] = ()
    name: str = ""
