"""Tokens that spell bytes."""

from __future__ import annotations

from dataclasses import dataclass

from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class ByteFallback:
    """``<0x0A>`` and its like, side by side, become the characters that their bytes make.

    Where they make none, each becomes U+FFFD.
    """


@short_repr
@dataclass(frozen=True)
class ByteLevelDecoder:
    """GPT-2's printable alphabet becomes the bytes again (``ByteLevel`` of tokenizer.json).

    For models of text whose tokens are spelled so; byte-level models hold bytes and need no
    decoder. A token with another character in it stands for itself.
    """
