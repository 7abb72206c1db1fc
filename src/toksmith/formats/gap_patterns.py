r"""Extends patterns for libraries that drop the text between two matches.

minbpe and tiktoken drop such gaps; a splitter with ``gaps="keep"`` makes a chunk of each. For
these libraries, the pattern ``P`` is extended so that it matches the gaps as well:

    (?:P)|(?:(?!P)[\s\S])+

After a match, ``P`` is tried first; else the second half extends to the next place where ``P``
matches, which is exactly the gap. This requires that ``P`` has no empty match, which would forbid
the gap without covering it.
"""

from __future__ import annotations

from toksmith._base import lazy
from toksmith._base.lazy import regex
from toksmith.errors import UnsupportedError
from toksmith.splitters import PatternSplitter, family_of

_OPEN, _MIDDLE, _CLOSE = "(?:", ")|(?:(?!", r")[\s\S])+"

# The parts of a pattern that match between characters: look-arounds with their content, and
# anchors. Escapes and sets are skipped.
_BETWEEN = lazy.pattern(
    r"""(?xs) (?P<set> \[ \^? \]? (?: \\. | [^\]\\] )* \] )
      | (?P<between>
            \( \? <? [=!] (?P<inner> (?: \\. | (?&set) | [^()\[\\] | \( (?&inner) \) )* ) \)
          | \\[bBmMAZz] | [\^$] )
      | \\."""
)
# \G, \K, recursion, verbs and conditions: their matches depend on text outside of the match.
_REACHING = lazy.pattern(r"\\[GK]|\(\?(?:R|&|P>|P<|<\w|\(|\d|\|)|\(\*")


def cover_gaps(splitter: PatternSplitter) -> str:
    r"""Return a pattern whose matches are exactly the chunks of the splitter.

    Raises:
        UnsupportedError: no extended pattern is certain to be equivalent.

    Example:
        >>> cover_gaps(PatternSplitter("[a-z]+"))
        '(?:[a-z]+)|(?:(?![a-z]+)[\\s\\S])+'
    """
    pattern = splitter.pattern
    if splitter.gaps == "drop" or family_of(pattern, "drop"):  # the families leave no gaps
        return pattern
    if splitter.family:
        return splitter.family.pattern
    if _covers(pattern):
        return pattern
    if (why := _unfit(pattern)) is not None:
        raise UnsupportedError(
            f"split pattern {pattern!r} keeps the text between its matches, which this format "
            f"cannot express for a pattern that {why}; write it so that it matches all text"
        )
    return _OPEN + pattern + _MIDDLE + pattern + _CLOSE


def uncover_gaps(pattern: str) -> PatternSplitter:
    """Return the splitter of a pattern from a file: the inverse of :func:`cover_gaps`.

    Raises:
        SplitError: the pattern does not compile.

    Example:
        >>> uncover_gaps(cover_gaps(PatternSplitter("[a-z]+")))
        PatternSplitter(pattern='[a-z]+', gaps='keep', then=())
    """
    inner = pattern[len(_OPEN) : (len(pattern) - len(_MIDDLE) - len(_CLOSE) + len(_OPEN)) // 2]
    if pattern == _OPEN + inner + _MIDDLE + inner + _CLOSE and _unfit(inner) is None:
        return PatternSplitter(inner)
    is_whole = family_of(pattern, "drop") is not None or _covers(pattern)
    return PatternSplitter(pattern, "keep" if is_whole else "drop")


def _covers(pattern: str) -> bool:
    """Return whether a pattern is known to match all of every text, so that it leaves no gaps."""
    from toksmith.splitters import compiler  # 65 kB of tables, which known families do not need

    return compiler.refusal_of(pattern) is None and compiler.compile_pattern(pattern).covers()


def _unfit(pattern: str) -> str | None:
    """Return the reason why a pattern cannot cover its gaps, or ``None``."""
    try:
        compiled = regex.compile(pattern)
        known = regex.IGNORECASE | regex.DOTALL | regex.MULTILINE | regex.UNICODE | regex.V0
        if compiled.flags & ~known:
            return "sets flags such as (?x) or (?r)"
        if compiled.groups:
            return "has capture groups; make them (?:…)"
        if _REACHING.search(pattern):
            return r"uses \G, \K, recursion, verbs or conditions"
        if may_be_empty(pattern):
            return "can match the empty string"
    except (regex.error, RecursionError, TimeoutError):
        return "is not a plain regular expression"
    return None


def may_be_empty(pattern: str) -> bool:
    """Return whether a pattern may match the empty string; True if it does not compile.

    Example:
        >>> may_be_empty("(?=a)|b"), may_be_empty("(?=a)b")
        (True, False)
    """
    without = _BETWEEN.sub(lambda m: "(?:)" if m["between"] is not None else m[0], pattern)
    try:
        return regex.fullmatch(without, "") is not None
    except (regex.error, RecursionError):
        return True
