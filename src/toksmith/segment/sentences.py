"""Sentences: by rules made for real text, or by UAX #29 section 5."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import extra, np
from toksmith._base.text import Text, string
from toksmith.errors import OptionError, UnsupportedError
from toksmith.segment.icu import SURROGATES, boundaries, cutter
from toksmith.segment.spans import Spans

SentenceRules: TypeAlias = Literal["sentencex", "uax29"]
"""Whose rules: those of sentencex, which know abbreviations and quotes, or Unicode's."""

_LANGUAGE = re.compile("([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]{1,8})*")
_SPACES = re.compile("[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
"""White space of several bytes: to sentencex like any other, but it fails on some of it."""
_PARAGRAPH_GAPS = ("\n\n", "\n\r\n")
_WINDOW = 1 << 13
"""Characters that sentencex is given at once, as its time may grow with their square."""
_LOOK_AHEAD = 256
"""Characters after a full stop that may matter."""


def sentences(text: Text, rules: SentenceRules = "sentencex", language: str = "en") -> Spans:
    r"""Return the sentences of a text.

    Args:
        text: a string, or UTF-8 bytes.
        rules: ``"sentencex"`` knows the abbreviations, quotes and full stops of many languages. An
            empty line ends a sentence, a single line break does not. White space belongs to the
            sentence before it (at the start of a text, to the first one). ``"uax29"`` are the rules
            of UAX #29 unchanged: each line break ends a sentence, a capital letter after a
            full stop and a space begins one, *Dr. Smith* or not.
        language: of the text, such as ``"de"`` or ``"pt-BR"``. One that sentencex has no rules for
            follows a relative or English; UAX #29 is the same for all but Greek.

    Returns:
        Spans in characters that cover the text without gaps.

    Raises:
        OptionError: there are no such rules, or that is no code of a language.
        MissingExtraError: the rules are not installed (``pip install toksmith[segment]``).
        UnsupportedError: sentencex has a fault that this text meets; none is known.

    Source:
        sentencex (https://github.com/wikimedia/sentencex); UAX #29, *Unicode Text Segmentation*,
        section 5, in ICU's version.

    Example:
        >>> text = "Dr. Smith left.  He was late!\nVery late."
        >>> sentences(text).pieces
        ['Dr. Smith left.  ', 'He was late!\n', 'Very late.']
        >>> sentences(text, rules="uax29").pieces
        ['Dr. ', 'Smith left.  ', 'He was late!\n', 'Very late.']
    """
    tag = _LANGUAGE.fullmatch(language) if isinstance(language, str) else None
    if tag is None:
        raise OptionError(f"language is {language!r:.80}: use a code such as 'en', 'de' or 'pt-BR'")
    characters = string(text)
    if rules == "sentencex":
        return Spans(characters, _by_sentencex(characters, tag[1].lower()))
    if rules == "uax29":
        return Spans(characters, boundaries(characters, cutter("Sentence", language)))
    raise OptionError(f"rules is {rules!r:.80}: use 'sentencex' or 'uax29'")


def _by_sentencex(text: str, language: str) -> OffsetArray:
    plain = _SPACES.sub(" ", SURROGATES.sub("\ufffd", text))
    starts = list(_starts(plain, language))
    return np.array([0, *starts[1:], len(text)] if text else [0], np.int64)


def _starts(text: str, language: str) -> Iterator[int]:
    """Yield where sentences start, window after window.

    Windows end with a paragraph. In a paragraph too long for that, the window's end may cut a
    sentence or what decides about one; the next window starts with the last that is far from it.
    """
    start, size = 0, _WINDOW
    while start < len(text):
        paragraph_end = _paragraph_end(text, start, start + size)
        end = paragraph_end or start + size
        is_whole = paragraph_end > 0 or end >= len(text)
        found = [
            start + piece["end_index"] - len(sentence)
            for piece in _pieces(text[start:end], language, start)
            if (sentence := piece["text"].lstrip())
        ]
        if not is_whole:
            found = [place for place in found if place + _LOOK_AHEAD <= end]
        if is_whole:
            yield from found
            start, size = end, _WINDOW
        elif len(found) > 1:
            yield from found[:-1]
            start, size = found[-1], _WINDOW
        else:
            size *= 2


def _pieces(text: str, language: str, start: int) -> list[dict[str, Any]]:
    find = extra("sentencex", "segment").get_sentence_boundaries
    try:
        return list(find(language, text))
    except BaseException as failure:
        if type(failure).__name__ != "PanicException":  # a fault of sentencex, met nowhere so far
            raise
        raise UnsupportedError(
            f"sentencex fails on characters {start:,} to {start + len(text):,}: {failure}; "
            "rules='uax29' may do"
        ) from failure


def _paragraph_end(text: str, start: int, end: int) -> int:
    """Return the end of the last paragraph between two places; 0 if none ends there."""
    places = [(text.rfind(gap, start, end), len(gap)) for gap in _PARAGRAPH_GAPS]
    return max(place + size if place >= 0 else 0 for place, size in places)
