r"""Patterns that Oniguruma, with which ``tokenizers`` runs them, reads as we do.

The same pattern can mean two things: ``\p{N}{1,3}+`` is possessive here and repeats there, ``$``
matches before every line break there, ``\w`` holds ``²`` there, ``\h`` is a hexadecimal digit. So
the published families are written in a spelling that means the same in both, and of any other
pattern only constructs that are known to agree are let through.
"""

from __future__ import annotations

import regex

from toksmith.splitters import FAMILIES, family_of

_POSSESSIVE_INTERVAL = regex.compile(r"[0-9,]\}\+")
_THEIRS = {
    family.pattern: family.pattern.replace("{1,3}+", "{1,3}") for family in FAMILIES.values()
}
_OURS = {theirs: ours for ours, theirs in _THEIRS.items()}

_AGREED = regex.compile(
    r"""(?: (?P<escape> \\ (?: [sSdDrntfv] | [pP]\{\^?\w+\} | [^\w\s] ) )
          | \[ \^? (?: (?&escape) | (?! && | \|\| | -- | ~~ ) [^\[\]\\] )+ \]
          | \(\? (?: [:=!>] | <[=!] )
          | \(\?i: (?= (?P<suffix> '? (?: \[[sdmt]+\] | [sdmt] | ll | ve | re ) )
                       (?: \| (?&suffix) )* \) )   # English contractions: none folds otherwise
          | \( (?! [?*] )
          | [)|.]
          | [*+?] [+?]? (?! [*+?] )
          | \{ [0-9]+ (?: , [0-9]* )? \} (?! [+?*] )
          | [^\\\[\](){}^$.|*+?]
          )*+""",
    regex.VERBOSE,
)


def to_oniguruma(pattern: str) -> str | None:
    r"""Return a spelling that means there what the pattern means here; ``None`` without one.

    Example:
        >>> to_oniguruma(r"\p{L}+|\s"), to_oniguruma(r"\w+$")
        ('\\p{L}+|\\s', None)
    """
    return _THEIRS.get(pattern) or (pattern if _agreed(pattern) else None)


def from_oniguruma(pattern: str) -> str | None:
    """Return a spelling that means here what the pattern means there; ``None`` without one."""
    return _OURS.get(pattern) or (pattern if _agreed(pattern) else None)


def _agreed(pattern: str) -> bool:
    if family_of(pattern):
        return _POSSESSIVE_INTERVAL.search(pattern) is None
    return _AGREED.fullmatch(pattern) is not None
