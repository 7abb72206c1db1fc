r"""The sets that a pattern names: categories, scripts, ``\s``, ``\d``, ``\w``; case variants.

All are those of Unicode 16.0, and mean what they mean in the ``regex`` package.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

from toksmith.errors import UnsupportedError
from toksmith.splitters.compiler import tables_unicode16 as tables
from toksmith.splitters.compiler.code_points import (
    EVERY,
    CodePoints,
    complement,
    from_ranges,
    union,
)

_WHITE_SPACE = from_ranges(
    (ord(first), ord(last))
    for first, last in (
        "\t\r",
        "  ",
        "\x85\x85",
        "\xa0\xa0",
        "\u1680\u1680",
        "\u2000\u200a",
        "\u2028\u2029",
        "\u202f\u202f",
        "\u205f\u205f",
        "\u3000\u3000",
    )
)

_LONG_NAMES = {
    "letter": "l", "casedletter": "lc", "l&": "lc", "uppercaseletter": "lu",
    "lowercaseletter": "ll", "titlecaseletter": "lt", "modifierletter": "lm", "otherletter": "lo",
    "mark": "m", "combiningmark": "m", "nonspacingmark": "mn", "spacingmark": "mc",
    "enclosingmark": "me", "number": "n", "decimalnumber": "nd", "letternumber": "nl",
    "othernumber": "no", "punctuation": "p", "punct": "p", "connectorpunctuation": "pc",
    "dashpunctuation": "pd", "openpunctuation": "ps", "closepunctuation": "pe",
    "initialpunctuation": "pi", "finalpunctuation": "pf", "otherpunctuation": "po",
    "symbol": "s", "mathsymbol": "sm", "currencysymbol": "sc", "modifiersymbol": "sk",
    "othersymbol": "so", "separator": "z", "spaceseparator": "zs", "lineseparator": "zl",
    "paragraphseparator": "zp", "other": "c", "control": "cc", "format": "cf",
    "surrogate": "cs", "privateuse": "co", "unassigned": "cn",
}  # fmt: skip
_CASES = {"lu", "ll", "lt", "lc"}


@cache
def named(name: str, ignores_case: bool = False) -> CodePoints:
    r"""Return the set of a name in ``\p{…}``: a general category, a script, or Alphabetic.

    Args:
        name: the name, in any case, with or without spaces, hyphens and underscores.
        ignores_case: whether it is used where case does not matter.

    Raises:
        UnsupportedError: the name is not known, or depends on case where that does not matter.

    Example:
        >>> named("Han")[:4], named("Pc")[:2]
        ((11904, 11930, 11931, 12020), (95, 96))
    """
    of, _, value = re.sub(r"[-_\s]", "", name.lower()).replace(":", "=").rpartition("=")
    category = _LONG_NAMES.get(value, value)
    if of in ("", "gc", "generalcategory") and category in _LONG_NAMES.values():
        if ignores_case and category in _CASES:
            raise UnsupportedError(rf"\p{{{name}}} means another set where case does not matter")
        return _category(category)
    if of in ("", "sc", "script") and value in _scripts():
        return _scripts()[value]
    if of == "":
        if value in ("any", "assigned"):
            return EVERY if value == "any" else complement(_category("cn"))
        if value in ("alphabetic", "alpha"):
            return _alphabetic()
        if value in ("whitespace", "space"):
            return white_space()
    raise UnsupportedError(rf"\p{{{name}}} is not a general category, a script or Alphabetic")


def white_space() -> CodePoints:
    r"""Return the set of ``\s``."""
    return _WHITE_SPACE


@cache
def digits() -> CodePoints:
    r"""Return the set of ``\d``."""
    return named("Nd")


@cache
def word_characters() -> CodePoints:
    r"""Return the set of ``\w``, which has the two joiners U+200C and U+200D in ``regex``."""
    parts = (named(name) for name in ("Alphabetic", "M", "Nd", "Pc"))
    return union((0x200C, 0x200E), *parts)


def with_case_variants(points: CodePoints) -> CodePoints:
    """Return a set with all characters that match a member where case does not matter.

    Example:
        >>> with_case_variants((0x73, 0x74))
        (83, 84, 115, 116, 383, 384)
    """
    members = zip(points[::2], points[1::2], strict=True)
    found = [
        variant
        for start, end in members
        for place in (range(start, end) if end - start < 10_000 else _case_variants())
        if start <= place < end
        for variant in _case_variants().get(place, ())
    ]
    return union(points, *((place, place + 1) for place in found)) if found else points


def _runs(text: str) -> dict[str, CodePoints]:
    """Return the set of each kind, from runs such as ``Lu26 Ps1``."""
    places: dict[str, list[int]] = defaultdict(list)
    start = 0
    for kind, length in re.findall(r"([A-Za-z]+)([0-9]+)", text):
        end = start + int(length)
        places[kind] += (start, end)
        start = end
    return {kind: tuple(found) for kind, found in places.items()}


@cache
def _category(name: str) -> CodePoints:
    """Return a general category such as ``lu``, or all that begin with a letter."""
    if name == "lc":
        return union(*map(_category, ("lu", "ll", "lt")))
    if len(name) == 1:
        return union(*(points for each, points in _categories().items() if each[0] == name))
    return _categories()[name]


@cache
def _categories() -> dict[str, CodePoints]:
    return {name.lower(): points for name, points in _runs(tables.CATEGORIES).items()}


@cache
def _scripts() -> dict[str, CodePoints]:
    found = _runs(tables.SCRIPTS)
    others = (pair.split(":") for pair in tables.SCRIPT_NAMES.split())
    return found | {other: found[name] for other, name in others}


@cache
def _alphabetic() -> CodePoints:
    return _runs(tables.ALPHABETIC)["y"]


@cache
def _case_variants() -> dict[int, tuple[int, ...]]:
    groups = tables.CASE_VARIANTS.split()
    return {ord(group[0]): tuple(map(ord, group[1:])) for group in groups}
