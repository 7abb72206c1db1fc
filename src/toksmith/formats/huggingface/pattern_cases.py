r"""Patterns with ``(?i)`` for Oniguruma, rewritten so that each letter names its variants.

Oniguruma folds more than ``regex``: ``ss`` matches ``ß``, and ``[\p{L}]`` matches U+0345, a case
variant of ``ι``. So letters become sets of their variants, and patterns in which several characters
may fold to one are left alone.
"""

from __future__ import annotations

from functools import cache

from toksmith._base import lazy
from toksmith.splitters.compiler.properties import with_case_variants

_PART = lazy.pattern(
    r"""(?xs) (?P<flag> \(\?i [:)] ) | (?P<open> \( (?: \?<?[:=!>] )? ) | (?P<close> \) )
      | (?P<set> \[ (?: [^\[\]\\] | \\. )++ \] ) | (?P<escape> \\[pP]\{[^{}]*\} | \\. )
      | (?P<count> \{ [0-9,]+ \} ) | (?P<syntax> [\[\]{}|*+?.^$] ) | (?P<letter> . )"""
)
_MEMBER = lazy.pattern(
    r"(?xs) (?P<class> \\[pP]\{\^?(\w+)\} | \\[sSdD] ) | (?P<one> \\[^\w] | \\[rntfv] | [^\\] )"
    r" (?: - (?P<last> \\[^\w] | [^\\] ) )?"
)
_CLOSED = {"N", "Nd", "P", "S", "Z", "Zs", "L", "M", "Han", "Hiragana", "Katakana", "Hangul"}
_CONTROLS = {r"\r": "\r", r"\n": "\n", r"\t": "\t", r"\f": "\f", r"\v": "\v"}


def both_cases(pattern: str) -> str | None:
    r"""Return an equivalent pattern without ``(?i)``; ``None`` if there is none.

    Example:
        >>> both_cases("(?i:'re)|a"), both_cases("(?i)[ab]+"), both_cases("(?i)ss")
        ("(?:'[Rr][Ee])|a", '(?:[abAB]+)', None)
    """
    made: list[str] = []
    groups = [(False, "")]  # whether case is ignored, and what else to close at the end
    run = ""  # letters in a row, which may fold together
    for part in _PART.finditer(pattern):
        ignored, closing = groups[-1]
        text = part[0]
        if part["flag"]:
            made.append("(?:")
            if text == "(?i:":
                groups.append((True, ""))
            else:
                groups[-1] = (True, closing + ")")
        elif part["open"]:
            groups.append((ignored, ""))
            made.append(text)
        elif part["close"]:
            if len(groups) == 1:
                return None
            made.append(groups.pop()[1] + ")")
        elif not ignored or part["count"] or part["syntax"] or part["escape"]:
            made.append(text)
            run += "|" if part["syntax"] or part["escape"] else ""
        elif part["set"]:
            if (spelled := _set(text)) is None:
                return None
            made.append(spelled)
            run += "|"
        else:
            run += text
            variants = _variants(text)
            made.append(text if variants == text else f"[{variants}]")
        if text.startswith("(?") and "i" not in text and text[2] not in ":=!><":
            return None
    if len(groups) > 1 or any(each in run.casefold() for each in _folded_together()):
        return None
    return "".join(made) + groups[0][1]


def _set(text: str) -> str | None:
    """Return a set with the variants of its members; ``None`` if one may be several characters."""
    head = "[^" if text.startswith("[^") else "["
    more = ""
    members = list(_MEMBER.finditer(text[len(head) : -1]))
    if "".join(member[0] for member in members) != text[len(head) : -1]:
        return None
    for member in members:
        if member["class"]:
            name = member[2]
            if name is not None and (name not in _CLOSED or member[0][1] == "P"):
                return None
            more += {"L": "\u0345", "M": "ιΙ\u1fbe"}.get(name or "", "")
            continue
        first, last = (
            _character(each) for each in (member["one"], member["last"] or member["one"])
        )
        if ord(last) - ord(first) > 0x400:
            return None
        some = "".join(map(chr, range(ord(first), ord(last) + 1)))
        if any(len(each.casefold()) > 1 for each in some):
            return None
        more += "".join(each for one in some for each in _variants(one) if each not in some)
    return f"{head}{text[len(head) : -1]}{''.join(dict.fromkeys(more))}]"


def _character(text: str) -> str:
    return _CONTROLS.get(text) or text[-1]


def _variants(character: str) -> str:
    """Return a character and those that match it where case does not matter: not ``İ`` for i."""
    points = with_case_variants((ord(character), ord(character) + 1))
    pairs = zip(points[::2], points[1::2], strict=True)
    found = [chr(code) for start, end in pairs for code in range(start, end)]
    return "".join(each for each in found if each.casefold() == character.casefold())


@cache
def _folded_together() -> frozenset[str]:
    """Return the strings of several characters that one character folds to, and that character."""
    codes = (*range(0x80, 0x2000), *range(0xFB00, 0xFB18))
    folded = {chr(code): chr(code).casefold() for code in codes}
    return frozenset(each for one, many in folded.items() if len(many) > 1 for each in (one, many))
