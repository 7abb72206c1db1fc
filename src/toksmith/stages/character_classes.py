"""Classes of characters as `tokenizers` defines them, as arrays over all code points.

Its libraries use different versions of Unicode, 8.0 to 17.0, independent of the running Python; so
the classes are tables in :mod:`~toksmith.stages.tables_tokenizers`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import accumulate, chain
from typing import TypeAlias

from toksmith._base.lazy import np, npt
from toksmith.stages import tables_tokenizers

Range: TypeAlias = tuple[int, int]
"""The first and the last code point of a range."""

CODE_POINTS = 0x110000

WHITE_SPACE = "".join(
    map(chr, [*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)])
) + "\u2028\u2029\u202f\u205f\u3000"  # fmt: skip
"""Unicode's White_Space. (Python's own ``str.isspace`` counts U+001C..U+001F as well.)"""


def code_points(text: str) -> npt.NDArray[np.uint32]:
    """Return the code point of each character; a surrogate counts as one character."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


class Flags:
    """A class of characters: whether each code point is in one of some ranges, by index.

    Example:
        >>> punctuation = Flags(ranges("PUNCTUATION"), singles("b"))
        >>> [punctuation[ord(c)] for c in "a-b"]
        [False, True, True]
    """

    def __init__(self, *spans: Iterable[Range]) -> None:
        self._ranges = sorted(chain(*spans))
        self._ends = list(accumulate((last for _, last in self._ranges), max))

    def __getitem__(self, code: int) -> bool:
        before = bisect_left(self._ranges, (code + 1,))  # the number of ranges that start up to it
        return before > 0 and code <= self._ends[before - 1]

    @cached_property
    def table(self) -> bytes:
        """0 or 1 for each code point. Only long texts are worth making it."""
        return paint(0, (self._ranges, 1))


def paint(background: int, *layers: tuple[Iterable[Range], int]) -> bytes:
    """Return a number for each code point: that of the last layer with a range that holds it."""
    table = bytearray([background]) * CODE_POINTS
    for span, number in layers:
        for first, last in span:
            table[first : last + 1] = bytes([number]) * (last + 1 - first)
    return bytes(table)


def singles(characters: Iterable[str]) -> Iterator[Range]:
    """Return ranges of one character each."""
    return ((ord(character), ord(character)) for character in characters)


def places(flags: Flags, text: str) -> list[int]:
    """Return the places of a text whose characters are of a class.

    Example:
        >>> places(Flags(singles("a")), "abba")
        [0, 3]
    """
    if len(text) < _SHORT:
        return [place for place, character in enumerate(text) if flags[ord(character)]]
    found: list[int] = np.frombuffer(flags.table, bool)[code_points(text)].nonzero()[0].tolist()
    return found


_SHORT = 1 << 10
"""Characters for which NumPy is not imported."""


@cache
def flags_of(name: str) -> Flags:
    """Return a class of the tables by its name.

    Example:
        >>> [flags_of("PUNCTUATION")[ord(c)] for c in "a-b"]
        [False, True, False]
    """
    return Flags(ranges(name))


def ranges(name: str) -> Iterator[Range]:
    """Return the first and the last code point of each range of a class of the tables."""
    for part in getattr(tables_tokenizers, name).split():
        first, _, last = part.partition("-")
        yield int(first, 16), int(last or first, 16)


@cache
def lower_case() -> dict[str, str]:
    """Return the lower case of each character that has one, without context.

    Example:
        >>> lower_case()["Σ"], len(lower_case()["İ"])
        ('σ', 2)
    """
    letters = {"İ": "i\u0307"}
    for run in tables_tokenizers.LOWER.split():
        span, _, rest = run.partition("/")
        first, last = (int(code, 16) for code in span.split("-"))
        step, distance = int(rest[0]), int(rest[1:], 16)
        letters |= {chr(code): chr(code + distance) for code in range(first, last + 1, step)}
    return letters


@cache
def scripts() -> npt.NDArray[np.uint8]:
    """Return the number of the script of each code point; 0 matches any script."""
    starts, numbers = zip(
        *(run.split(":") for run in tables_tokenizers.SCRIPTS.split()), strict=True
    )
    places = [*(int(start, 16) for start in starts), CODE_POINTS]
    return np.repeat(np.array(numbers, np.uint8), np.diff(places))
