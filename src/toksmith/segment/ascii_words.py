"""Words of ASCII text by array arithmetic; ICU handles the rest.

ICU gives one boundary after the other, at some 8 MB/s. Most text is ASCII in large parts, and for
ASCII the rules of UAX #29 section 4 are few; tests hold them against ICU's.
"""

from __future__ import annotations

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np, npt
from toksmith._base.text import codes
from toksmith.segment.icu import Cut

# Classes as bits. A character that joins its neighbours into a word has their class, three bits up.
_LETTER, _NUMBER, _CONNECTOR = 1, 2, 4
_IN_LETTERS, _IN_NUMBERS = 8, 16
_SPACE, _CR, _LF = 32, 64, 128
_IN_WORDS = _LETTER | _NUMBER | _CONNECTOR
_CLASSES = (
    ("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", _LETTER),
    ("0123456789", _NUMBER),
    ("_", _CONNECTOR),
    (":", _IN_LETTERS),
    (".'", _IN_LETTERS | _IN_NUMBERS),
    (",;", _IN_NUMBERS),
    (" ", _SPACE),
    ("\r", _CR),
    ("\n", _LF),
)
_CLASS_OF = {ord(character): bits for group, bits in _CLASSES for character in group}
_NO_ASCII = 128
_MOSTLY = 0.8
"""If more than this share of a text needs ICU, all of it goes to ICU."""


def find_boundaries(cut: Cut) -> Cut:
    """Return a function that finds the same ends of words as ``cut``, but faster on ASCII.

    The text is cut before each ASCII character after a space that is no space itself, and after
    each line feed: words end there in any context. Parts that are all ASCII are handled here; the
    others, concatenated, have the same words, and go to ``cut``.

    Args:
        cut: finds the ends of words by the rules of UAX #29, not tailored to a language.

    Example:
        >>> from toksmith.segment.icu import cutter
        >>> find_boundaries(cutter("Word"))("can't, won't")
        array([ 5,  6,  7, 12])
    """

    def find(text: str) -> OffsetArray:
        numbers = codes(text)
        if text.isascii():
            return _ends(_starts(numbers))
        stretches = _stretches(numbers)
        all_ascii = np.logical_and.reduceat(numbers < _NO_ASCII, stretches)
        lengths = np.diff(stretches, append=len(numbers))
        rest = np.flatnonzero(np.repeat(~all_ascii, lengths))
        if len(rest) > _MOSTLY * len(numbers):
            return cut(text)
        is_start = _starts(numbers)
        ends = cut(numbers[rest].tobytes().decode("utf-32-le", "surrogatepass"))
        is_start[rest] = False
        is_start[rest[np.append(0, ends[:-1])]] = True
        is_start[stretches] = True  # where a line feed was, spaces may have met
        return _ends(is_start)

    return find


def _ends(is_start: npt.NDArray[np.bool_]) -> OffsetArray:
    return np.append(np.flatnonzero(is_start)[1:], len(is_start))


def _starts(numbers: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.bool_]:
    """Return the starts of words in ASCII text, whose first character starts a word."""
    table = np.zeros(_NO_ASCII + 1, np.uint8)
    table[list(_CLASS_OF)] = list(_CLASS_OF.values())
    kinds = table[np.minimum(numbers, _NO_ASCII)]
    before, after = kinds[:-1], kinds[1:]
    joined = ((before & _IN_WORDS) != 0) & ((after & _IN_WORDS) != 0)  # WB5, 8-10, 13a, 13b
    joined |= (before & after & _SPACE) != 0  # WB3d
    joined |= ((before & _CR) != 0) & ((after & _LF) != 0)  # WB3
    inside = (kinds[:-2] & kinds[2:] & (kinds[1:-1] >> 3) & (_LETTER | _NUMBER)) != 0
    joined[:-1] |= inside  # WB6, WB12
    joined[1:] |= inside  # WB7, WB11
    return np.append(True, ~joined)


def _stretches(numbers: npt.NDArray[np.unsignedinteger]) -> OffsetArray:
    """Return the first place, and those where words end for sure."""
    before, after = numbers[:-1], numbers[1:]
    after_space = (before == ord(" ")) & (after != ord(" "))
    is_closed = (after_space | (before == ord("\n"))) & (after < _NO_ASCII)
    return np.append(0, np.flatnonzero(is_closed) + 1)
