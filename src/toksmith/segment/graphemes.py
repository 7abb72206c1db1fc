"""Graphemes: user-perceived characters, by UAX #29 section 3."""

from __future__ import annotations

from toksmith._base.text import Text, string
from toksmith.segment.icu import boundaries, cutter
from toksmith.segment.spans import Spans


def graphemes(text: Text) -> Spans:
    r"""Return the extended grapheme clusters of a text: what a reader takes for one character.

    Args:
        text: a string, or UTF-8 bytes.

    Returns:
        Spans in characters that cover the text without gaps.

    Raises:
        MissingExtraError: ICU is not installed (``pip install toksmith[segment]``).

    Source:
        UAX #29, *Unicode Text Segmentation*, section 3; extended grapheme clusters.

    Example:
        >>> graphemes("e\u0301👩\u200d🚀한").pieces == ["e\u0301", "👩\u200d🚀", "한"]
        True
    """
    characters = string(text)
    return Spans(characters, boundaries(characters, cutter("Character")))
