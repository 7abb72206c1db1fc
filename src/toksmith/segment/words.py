"""Words, by UAX #29 section 4."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np, npt, regex
from toksmith._base.text import Text, codes, string
from toksmith.segment.ascii_words import find_boundaries
from toksmith.segment.icu import blocks, cutter
from toksmith.segment.spans import Spans

_SHORT = 1000
"""Characters that ICU is through with before arithmetic has begun."""


@dataclass(frozen=True, eq=False, repr=False)
class Words(Spans):
    """The words of a text, and the text between them, as spans without gaps.

    Attributes:
        is_word: bool, shape ``(n,)``, not to be written: whether each piece is a word, that is,
            holds a letter or a number; white space, punctuation and symbols hold none.

    Example:
        >>> found = words("To be!")
        >>> found.pieces, found.is_word.tolist()
        (['To', ' ', 'be', '!'], [True, False, True, False])
    """

    is_word: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.is_word.flags.writeable = False

    @property
    def words(self) -> list[str]:
        """The text of each piece that is a word.

        Example:
            >>> words("To be, or not.").words
            ['To', 'be', 'or', 'not']
        """
        text, chosen = self.text, np.flatnonzero(self.is_word)
        starts, ends = self.bounds[chosen].tolist(), self.bounds[chosen + 1].tolist()
        return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def words(text: Text, locale: str | None = None) -> Words:
    r"""Return the words of a text, and the text between them.

    Scripts without spaces are cut as well: Chinese, Japanese, Thai, Lao, Khmer and Burmese by ICU's
    dictionaries, which UAX #29 leaves open. UAX #29 keeps *don't* and *3.14* whole and cuts *New
    York* and *e-mail*; each space that is not next to another is a piece of its own.

    Args:
        text: a string, or UTF-8 bytes.
        locale: whose rules, such as ``"sv"``; ``None`` means those of UAX #29 itself. Few locales
            have rules of their own; the others follow UAX #29.

    Returns:
        Spans in characters that cover the text without gaps, and whether each is a word.

    Raises:
        OptionError: that is no name of a locale.
        MissingExtraError: ICU is not installed (``pip install toksmith[segment]``).

    Source:
        UAX #29, *Unicode Text Segmentation*, section 4, in ICU's version.

    Example:
        >>> found = words("Don't stop, 3.14!")
        >>> found.pieces
        ["Don't", ' ', 'stop', ',', ' ', '3.14', '!']
        >>> found.words, found[2]
        (["Don't", 'stop', '3.14'], Span(start=6, end=10))
    """
    characters = string(text)
    cut = cutter("Word", locale)
    if locale is None and len(characters) > _SHORT:
        cut = find_boundaries(cut)
    bounds, is_word = [np.zeros(1, np.int64)], [np.zeros(0, np.bool_)]
    for start, block in blocks(characters):
        ends = cut(block)
        bounds.append(start + ends)
        is_word.append(_hold_letter_or_number(block, ends))
    return Words(characters, np.concatenate(bounds), np.concatenate(is_word))


def _hold_letter_or_number(text: str, ends: OffsetArray) -> npt.NDArray[np.bool_]:
    is_one = _letters_and_numbers()[codes(text)]
    return np.logical_or.reduceat(is_one, np.append(0, ends[:-1]))


@cache
def _letters_and_numbers() -> npt.NDArray[np.bool_]:
    """Return for each code point whether it is a letter or a number, not a mark."""
    every = np.arange(0x110000, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    is_one = np.zeros(len(every), np.bool_)
    for run in regex.finditer(r"(?V1)[[\p{Alphabetic}\p{N}]--\p{M}]+", every):
        is_one[slice(*run.span())] = True
    return is_one
