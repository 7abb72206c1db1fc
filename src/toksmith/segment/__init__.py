"""Words, sentences and graphemes of a text, as spans that cover it without gaps.

Words and graphemes follow Unicode Standard Annex #29, *Unicode Text Segmentation*
(https://www.unicode.org/reports/tr29/), as ICU implements it; sentences follow rules made for
real text in many languages, or UAX #29 as well. All of it comes with
``pip install toksmith[segment]``.
"""

from __future__ import annotations

from toksmith.segment.characters import graphemes
from toksmith.segment.sentences import SentenceRules, sentences
from toksmith.segment.spans import Spans
from toksmith.segment.words import Words, words

__all__ = ["SentenceRules", "Spans", "Words", "graphemes", "sentences", "words"]
