"""The script of each token of a text: Latin, Hangul, numbers, white space and so on."""

from __future__ import annotations

from functools import cache

from toksmith._base.arrays import SpanArray
from toksmith._base.lazy import np, npt, pattern
from toksmith._base.text import byte_sizes

WHITE = "white space"

_CLASSES = {
    WHITE: r"\s",
    "numbers": r"\p{N}",
    **{
        name: rf"\p{{Script={name}}}"
        for name in (
            *("Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Arabic", "Ethiopic"),
            *("Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Tamil", "Telugu", "Kannada"),
            *("Malayalam", "Sinhala", "Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Mongolian"),
            *("Hangul", "Han"),
        )
    },
    "kana": r"[\p{Script=Hiragana}\p{Script=Katakana}]",
    "other letters": r"[\p{L}\p{M}]",
    "marks and symbols": r"(?s:.)",
}

SCRIPTS = tuple(_CLASSES)
"""The scripts and classes; a character belongs to the first that matches."""

_PATTERN = pattern("|".join(f"({each})" for each in _CLASSES.values()))


def byte_scripts(text: bytes) -> npt.NDArray[np.uint8]:
    """Return for each byte of a text the place in :data:`SCRIPTS` of its character's.

    Example:
        >>> [SCRIPTS[place] for place in byte_scripts("aя1".encode())]
        ['Latin', 'Cyrillic', 'Cyrillic', 'numbers']
    """
    string = text.decode("utf-8", "surrogateescape")
    codes = np.frombuffer(string.encode("utf-32-le", "surrogatepass"), np.uint32)
    distinct, places = np.unique(codes, return_inverse=True)
    scripts = np.array([_script(code) for code in distinct.tolist()], np.uint8)
    return np.repeat(scripts[places] if len(codes) else scripts, byte_sizes(string))


def tokens_by_script(scripts: npt.NDArray[np.uint8], spans: SpanArray) -> npt.NDArray[np.int64]:
    """Return the number of tokens that there are of each script: int64, shape ``(len(SCRIPTS),)``.

    A token has the script of its first character that is not white space, or white space if
    there is none. A token without text is not counted.

    Args:
        scripts: of each byte of the text.
        spans: int64, shape ``(tokens, 2)``: the bytes of each token.

    Example:
        >>> spans = np.array([[0, 2], [2, 4], [4, 5]])  # " a" + "я" + "1"
        >>> tokens = tokens_by_script(byte_scripts(" aя1".encode()), spans)
        >>> {SCRIPTS[place]: int(tokens[place]) for place in np.flatnonzero(tokens)}
        {'numbers': 1, 'Latin': 1, 'Cyrillic': 1}
    """
    starts, ends = spans[spans[:, 1] > spans[:, 0]].T
    others = np.append(np.flatnonzero(scripts != SCRIPTS.index(WHITE)), len(scripts))
    first = others[np.searchsorted(others, starts)]
    found = scripts[np.where(first < ends, first, starts)]
    return np.bincount(found, minlength=len(SCRIPTS))


@cache
def _script(code: int) -> int:
    found = _PATTERN.match(chr(code))
    return (found.lastindex if found and found.lastindex else len(SCRIPTS)) - 1
