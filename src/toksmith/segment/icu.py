"""Boundaries by ICU's break iterators, in characters of any ``str``.

ICU counts in UTF-16 and takes no lone surrogates; here both are put right. The binding is icu4py,
which brings ICU (78, of Unicode 17, in icu4py 1.1 and 1.2) in its wheels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Literal, TypeAlias

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import extra, np
from toksmith.errors import OptionError

Unit: TypeAlias = Literal["Character", "Word", "Sentence"]
"""The units that end at a boundary; a *character* is a grapheme cluster, in ICU's words."""

Cut: TypeAlias = "Callable[[str], OffsetArray]"
"""A function from a text to the places where its pieces end, in characters."""

SURROGATES = re.compile("[\ud800-\udfff]")

_BLOCK = 1 << 17
"""Characters that ICU is given at once: between blocks Python hears Ctrl-C."""
_MOST = 1 << 29
"""ICU counts bytes in 31 bits."""

_LOCALE = re.compile("[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")
_end = itemgetter(1)


def cutter(unit: Unit, locale: str | None = None) -> Cut:
    r"""Return the function that finds where pieces end.

    A surrogate is a character by itself, and of no class.

    Args:
        unit: what to find.
        locale: whose rules; ``None`` means those of UAX #29 itself.

    Raises:
        OptionError: that is no name of a locale.
        MissingExtraError: icu4py is not installed.

    Example:
        >>> cutter("Character")("\U0001f600 e\u0301!")
        array([1, 2, 4, 5])
    """
    name = "root" if locale is None else locale
    if not isinstance(name, str) or not _LOCALE.fullmatch(name):
        raise OptionError(f"locale is {locale!r:.80}: use a name such as 'en', 'sv' or 'pt-BR'")
    breaker = getattr(extra("icu4py.breakers", "segment"), f"{unit}Breaker")

    def cut(text: str) -> OffsetArray:
        # U+0001 is to UAX #29 what a surrogate is: a control to graphemes, and else of no class.
        whole = text if text.isascii() else SURROGATES.sub("\x01", text)
        ends = np.fromiter(map(_end, breaker(whole, name).segments()), np.int64)
        return _in_characters(ends, whole)

    return cut


def boundaries(text: str, cut: Cut) -> OffsetArray:
    """Return the starts of the pieces of a text, and its end.

    Args:
        text: of any size.
        cut: finds the ends in a part of it.

    Returns:
        int64, shape ``(n + 1,)``, increasing; ``[0]`` for an empty text.

    Raises:
        OptionError: a line has more than 2**29 characters.

    Example:
        >>> boundaries("one two", cutter("Word"))
        array([0, 3, 4, 7])
    """
    ends = [start + cut(block) for start, block in blocks(text)]
    return np.concatenate([np.zeros(1, np.int64), *ends])


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield parts of a text, and where they start; units of all kinds end after a line feed.

    Raises:
        OptionError: a line has more than 2**29 characters.
    """
    start = 0
    while start < len(text):
        end = text.rfind("\n", start, start + _BLOCK) + 1
        if not end and start + _BLOCK < len(text):
            end = text.find("\n", start + _BLOCK) + 1
        end = end or len(text)
        if end - start > _MOST:
            raise OptionError(
                f"a line has {end - start:,} characters, and ICU takes at most {_MOST:,}: "
                "break it up"
            )
        yield start, text[start:end]
        start = end


def _in_characters(places: OffsetArray, text: str) -> OffsetArray:
    """Return places in UTF-16 as places in characters."""
    if text.isascii() or len(text) == places[-1]:
        return places
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    wide = np.flatnonzero(codes > 0xFFFF)
    in_utf16 = wide + np.arange(len(wide))
    return places - np.searchsorted(in_utf16, places)
