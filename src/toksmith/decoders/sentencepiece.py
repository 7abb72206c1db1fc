"""SentencePiece's way back to text."""

from __future__ import annotations

from dataclasses import dataclass, field

from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class SentencePieceDecoder:
    """How SentencePiece decodes.

    Control pieces become nothing, the unknown piece its surface, byte pieces that stand side by
    side the characters they make (U+FFFD for each byte that makes none), and ▁ a space; the dummy
    space is taken off again.

    Attributes:
        unk_surface: what an unknown piece decodes to.
        add_dummy_prefix: the normalizer put a space at the start (or the end).
        remove_extra_whitespaces: the normalizer dropped spaces at the start.
        whitespace_as_suffix: the dummy space stands behind the text.
        charsmap: SentencePiece's denormalizer, applied at the end; empty for none.
    """

    unk_surface: str = " \u2047 "
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    whitespace_as_suffix: bool = False
    charsmap: bytes = field(default=b"", repr=False)
