"""Tokens with a mark that says where words start or end."""

from __future__ import annotations

from dataclasses import dataclass

from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class BPEDecoder:
    """The mark of a word's end becomes a space, and nothing in the last token.

    Attributes:
        suffix: the mark.
    """

    suffix: str = "</w>"


@short_repr
@dataclass(frozen=True)
class MetaspaceDecoder:
    """The mark becomes a space.

    Attributes:
        replacement: the mark, one character.
        strip: the marks of the first token become nothing: the text was given one.
    """

    replacement: str = "\u2581"
    strip: bool = True


@short_repr
@dataclass(frozen=True)
class WordPieceDecoder:
    """A space before each token but the first, unless it has the prefix, which goes.

    Attributes:
        prefix: what marks a token that continues a word.
        cleanup: take spaces before punctuation and in contractions out, token by token (English).
    """

    prefix: str = "##"
    cleanup: bool = True
