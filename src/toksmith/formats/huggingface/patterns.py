r"""Patterns of a tokenizer.json: a literal, or a regular expression of Oniguruma's.

The same pattern can have two meanings: in Oniguruma, ``\p{N}{1,3}+`` repeats and is not possessive,
``$`` matches before every line break, ``\w`` includes ``²``, ``\h`` is a hexadecimal digit. So the
published families are spelled with the same meaning in both; constructs with another meaning are
translated if possible (:data:`_IN_OUR_WORDS`); all others are refused unless they are known to
agree, which was tested with every character and every short text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from toksmith._base import lazy
from toksmith._base.lazy import regex
from toksmith.errors import UnsupportedError
from toksmith.formats.huggingface.entries import Entry
from toksmith.normalizers import SEVERAL_SPACES
from toksmith.splitters import FAMILIES, family_by_spelling


def read(entry: Entry) -> tuple[str, bool]:
    """Return a pattern, and whether it is a regular expression (of the ``regex`` package).

    Raises:
        UnsupportedError: the pattern is empty, or may match differently in ``regex``.
    """
    entry.only("Regex", "String")
    if len(entry.value) != 1:
        raise entry.refusal("a pattern is either a Regex or a String")
    is_regex = "Regex" in entry.value
    pattern = from_oniguruma(entry.text("Regex")) if is_regex else entry.text("String")
    if pattern == "":
        raise entry.refusal("the pattern is empty")
    if pattern is None:
        raise entry.refusal(
            "tokenizers runs it with Oniguruma, where it may match differently than here; "
            r"back-references, named groups, \X, && in sets and flags other than (?i) are not read"
        )
    return pattern, is_regex


def write(pattern: str, is_regex: bool) -> dict[str, Any]:
    """Return the entry of a pattern.

    Raises:
        UnsupportedError: the regular expression may match differently in ``tokenizers``.
    """
    if not is_regex:
        return {"String": pattern}
    if not (theirs := to_oniguruma(pattern)):
        raise UnsupportedError(
            f"huggingface runs patterns with another engine, where {pattern!r} may match "
            r"differently; use no anchors, \w, \b, flags, nested sets or possessive intervals"
        )
    return {"Regex": theirs}


if TYPE_CHECKING:
    from toksmith.formats.huggingface import pattern_cases
else:
    pattern_cases = lazy.module("toksmith.formats.huggingface.pattern_cases")

_POSSESSIVE_INTERVAL = lazy.pattern(r"[0-9,]\}\+")
_THEIRS = {
    family.pattern: family.pattern.replace("{1,3}+", "{1,3}") for family in FAMILIES.values()
}
_OURS = {theirs: ours for ours, theirs in _THEIRS.items()} | {SEVERAL_SPACES: SEVERAL_SPACES}

_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"  # inside a set
_WORDS = rf"[{_WORD}²³¹¼½¾]"
_IN_OUR_WORDS = {
    r"\w": _WORDS,
    r"\W": _WORDS.replace("[", "[^", 1),
    r"\b": rf"(?:(?<={_WORDS})(?!{_WORDS})|(?<!{_WORDS})(?={_WORDS}))",
    r"\B": rf"(?:(?<={_WORDS})(?={_WORDS})|(?<!{_WORDS})(?!{_WORDS}))",
    r"\h": "[0-9a-fA-F]",
    r"\H": "[^0-9a-fA-F]",
    "^": r"(?:\A|(?<=\n)(?!\Z))",
    "$": r"(?=\n|\Z)",
    r"\A": r"(?:\A)",
    r"\z": r"(?:\Z)",
    r"\Z": r"(?=\n?\Z)",
    r"\R": r"(?>\r\n|[\n\x0b\f\r\x85\u2028\u2029])",
}
_INSIDE_A_SET = {
    r"\w": _WORD,
    r"\h": "0-9a-fA-F",
    "[:alnum:]": r"\p{Alphabetic}\p{Nd}",
    "[:alpha:]": r"\p{Alphabetic}",
    "[:ascii:]": "\0-\x7f",
    "[:blank:]": r"\p{Zs}\t",
    "[:cntrl:]": r"\p{Cc}",
    "[:digit:]": r"\p{Nd}",
    "[:lower:]": r"\p{Lowercase}",
    "[:punct:]": r"\p{P}\p{S}",
    "[:space:]": r"\s",
    "[:upper:]": r"\p{Uppercase}",
    "[:word:]": _WORD,
    "[:xdigit:]": "0-9a-fA-F",
}
_OUR_WORD = rf"[{_WORD}\u200c\u200d]"
_OUR_WORDS = {
    r"\w": _OUR_WORD,
    r"\W": _OUR_WORD.replace("[", "[^", 1),
    r"\b": rf"(?:(?<={_OUR_WORD})(?!{_OUR_WORD})|(?<!{_OUR_WORD})(?={_OUR_WORD}))",
    r"\B": rf"(?:(?<={_OUR_WORD})(?={_OUR_WORD})|(?<!{_OUR_WORD})(?!{_OUR_WORD}))",
    "^": r"\A",
    "$": r"\Z",
    r"\A": r"\A",
    r"\Z": r"\z",
}
"""Constructs of ``regex`` that mean something else in Oniguruma, in Oniguruma's words."""
_BETWEEN = ("^", "$", r"\b", r"\B", r"\A", r"\z", r"\Z")
"""Constructs that match between characters."""

_ITEM = lazy.pattern(
    r"(?xs) (?P<set> \[ (?: [^\[\]\\] | \\. | \[ (?: [^\[\]\\] | \\. )*+ \] )*+ \] ) | \\. | .",
)
_IN_THEIR_WORDS = lazy.pattern(
    "|".join(re.escape(ours) for ours in sorted(_IN_OUR_WORDS.values(), key=len, reverse=True))
)
_THEIR_WORD = {ours: theirs for theirs, ours in _IN_OUR_WORDS.items()}

_AGREED = lazy.pattern(
    r"""(?x) (?: (?P<escape> \\ (?: [sSdDrntfv] | [pP]\{\^? (?! Word | XDigit | Extended ) \w+\}
                             | [^\w\s] ) )
          | \[ \^? (?: (?&escape) | (?! && | \|\| | -- | ~~ ) [^\[\]\\] )+ \]
          | \(\? (?: [:=!>] | <[=!] )
          | \(\?i: (?= (?P<suffix> '? (?: \[[sdmt]+\] | [sdmt] | ll | ve | re ) )
                       (?: \| (?&suffix) )* \) )   # English contractions: case folding agrees
          | \( (?! [?*] )
          | [)|.]
          | [*+?] [+?]? (?! [*+?] )
          | \{ [0-9]+ (?: , [0-9]* )? \} (?! [+?*] )
          | [^\\\[\](){}^$.|*+?]
          )*+""",
)


def to_oniguruma(pattern: str) -> str | None:
    r"""Return an equivalent pattern for Oniguruma; ``None`` if there is none.

    Example:
        >>> to_oniguruma(r"\p{L}+|\s"), to_oniguruma(r"\s+$"), to_oniguruma(r"(a)\1")
        ('\\p{L}+|\\s', '\\s+\\Z', None)
    """
    if spelling := _THEIRS.get(pattern):
        return spelling
    if _agrees(pattern):
        return pattern
    theirs = _IN_THEIR_WORDS.sub(lambda found: _THEIR_WORD[found[0]], pattern)
    if theirs != pattern and from_oniguruma(theirs) == pattern:
        return theirs
    spelled, checked = [], []
    for item in _ITEM.finditer(pattern):
        spelled.append(_OUR_WORDS.get(item[0], item[0]))
        placeholder = "(?=~)" if item[0] in _BETWEEN else "~"
        checked.append(placeholder if item[0] in _OUR_WORDS else item[0])
    agrees = _agrees("".join(checked)) and not _REPEATED_BETWEEN.search("".join(checked))
    return "".join(spelled) if agrees else None


def from_oniguruma(pattern: str) -> str | None:
    r"""Return an equivalent pattern for ``regex``; ``None`` if there is none.

    Example:
        >>> from_oniguruma(r"\s+$"), from_oniguruma(r"[a[b-d]]"), from_oniguruma(r"\p{N}{1,3}+")
        ('\\s+(?=\\n|\\Z)', '[ab-d]', '(?:\\p{N}{1,3})+')
    """
    if spelling := _OURS.get(pattern):
        return spelling
    pattern = _CODE.sub(_spell_code, pattern)
    if _agrees(pattern):
        return pattern
    pattern = _COUNTED.sub(r"(?:\g<counted>)+", pattern)
    if "(?i" in pattern:
        if (spelled := pattern_cases.both_cases(pattern)) is None:
            return None
        pattern = spelled
    ours, checked = [], []
    for item in _ITEM.finditer(pattern):
        if item["set"]:
            inner = _set_of_one_level(item[0])
            if inner is None or item[0] in ("[]", "[^]"):  # in which "]" is the first member
                return None
            ours.append(inner)
            checked.append(inner if inner.startswith("[") else "~")
        elif item[0] == "]":  # which closes nothing: itself, as in SMILES patterns
            ours.append(r"\]")
            checked.append("~")
        else:
            ours.append(_IN_OUR_WORDS.get(item[0], item[0]))
            # A translated item agrees, so a placeholder replaces it in the check of the rest.
            placeholder = "(?=~)" if item[0] in _BETWEEN else "~"
            checked.append(placeholder if item[0] in _IN_OUR_WORDS else item[0])
    agrees = _agrees("".join(checked)) and not _REPEATED_BETWEEN.search("".join(checked))
    return "".join(ours) if agrees else None


_CODE = lazy.pattern(
    r"""(?xs) \\ (?: x\{ (?P<braced> [0-9a-fA-F]{1,6} ) \}
                 | x (?P<byte> [0-7][0-9a-fA-F] ) (?! [0-9a-fA-F] )
                 | u (?P<four> [0-9a-fA-F]{4} ) | . )"""
)


def _spell_code(match: regex.Match[str]) -> str:
    """Return the character that an escape names by its code, escaped if it is punctuation."""
    digits = match["braced"] or match["byte"] or match["four"]
    code = int(digits, 16) if digits else -1
    if not 0 <= code <= 0x10FFFF or 0xD800 <= code < 0xE000:
        return match[0]
    return regex.escape(chr(code), literal_spaces=True) if code < 0x80 else chr(code)


_COUNTED = lazy.pattern(
    r"""(?xs) (?<! \\ ) (?P<counted> (?: \\[pP]\{ [^{}]* \} | \\[a-zA-Z] | [^\\\[\](){}^$.|*+?]
                                   | \[ (?: [^\[\]\\] | \\. )++ \] )
                              \{ [0-9]+ (?: , [0-9]* )? \} ) \+"""
)
"""A counted item that is repeated: in ``regex``, the last plus would make the count possessive."""

_REPEATED_BETWEEN = lazy.pattern(r"\(\?=~\)[*+?{]")


def _set_of_one_level(text: str) -> str | None:
    r"""Return an equivalent pattern without nested sets; ``None`` if there is none.

    A nested set adds its characters. Nested sets next to a hyphen are not translated.
    """
    head = "[^" if text.startswith("[^") else "["
    body = text[len(head) : -1]
    parts, others = [], []  # characters, and sets of which all other characters are meant
    for item in _ITEM.finditer(body):
        part = _INSIDE_A_SET.get(item[0], item[0])
        if (other := _other(item[0])) is not None:
            others.append(other)
            part = ""
        elif item["set"] and part == item[0]:
            part = item[0][1:-1]
            if not part or part[0] in "^:" or "[" in part or r"\w" in part or r"\h" in part:
                return None
        before, after = body[: item.start()][-1:], body[item.end() :][:1]
        if part != item[0] and "-" in (before, after, part[:1], part[-1:]):
            return None
        parts.append(part)
    rest = "".join(parts)
    if not others:
        return head + rest + "]"
    if not _agrees("".join(f"[{each or ' '}]" for each in (rest, *others))):
        return None
    if head == "[^":  # a character of all these sets that is none of the rest
        before = (f"(?![{rest}])" if rest else "") + "".join(f"(?=[{each}])" for each in others[1:])
        return f"(?:{before}[{others[0]}])" if before else f"[{others[0]}]"
    either = [f"[^{each}]" for each in others] + ([f"[{rest}]"] if rest else [])
    return either[0] if len(either) == 1 else f"(?:{'|'.join(either)})"


def _other(item: str) -> str | None:
    r"""Return the content of the set whose other characters an item of a set means.

    Example:
        >>> _other("[:^digit:]"), _other("[^ab]"), _other("[ab]")
        ('\\p{Nd}', 'ab', None)
    """
    if item == r"\W":
        return _WORD
    if item == r"\H":
        return _INSIDE_A_SET[r"\h"]
    if item.startswith("[:^"):
        return _INSIDE_A_SET.get("[:" + item[3:])
    if item.startswith("[^") and len(item) > 3 and not _UNLIKE.search(item[2:-1]):
        return item[2:-1]
    return None


_UNLIKE = lazy.pattern(r"\[|\\[wWhH]|^-|-$")
"""What keeps a negated nested set from being translated: further sets, and hyphens at its ends."""


def _agrees(pattern: str) -> bool:
    if family_by_spelling(pattern):
        return _POSSESSIVE_INTERVAL.search(pattern) is None
    return _AGREED.fullmatch(pattern) is not None
