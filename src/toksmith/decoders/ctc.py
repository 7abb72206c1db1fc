"""Text from a speech recogniser's frames."""

from __future__ import annotations

from dataclasses import dataclass

from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class CTC:
    """Connectionist temporal classification (Graves et al. 2006): repeats and blanks go.

    Attributes:
        pad_token: the blank, removed wherever it stands.
        word_delimiter_token: what becomes a space (with ``cleanup``).
        cleanup: take the spaces before punctuation and in contractions out, as
            :class:`~toksmith.decoders.WordPieceDecoder` does.
    """

    pad_token: str = "<pad>"
    word_delimiter_token: str = "|"
    cleanup: bool = True
