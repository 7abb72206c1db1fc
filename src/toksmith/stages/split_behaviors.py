"""The matches of a pattern, and the five behaviours of ``Split`` that cut a text at them."""

from __future__ import annotations

from toksmith._base.lazy import regex
from toksmith.splitters import Behavior
from toksmith.stages.split_patterns import pattern_spans

Span = tuple[int, int]


def find_matches(pattern: str, is_regex: bool, text: str) -> list[Span]:
    """Return the spans of the matches of a pattern, from left to right, in characters.

    Args:
        pattern: a regular expression of the ``regex`` package, or a literal.
        is_regex: whether the pattern is a regular expression.
        text: the text to search. Nothing matches in an empty text.

    Returns:
        The matches, which do not overlap. One may be empty, but not right after another.

    Example:
        >>> find_matches("x*", True, "axxb")
        [(0, 0), (1, 3), (4, 4)]
    """
    if not text or not (is_regex or pattern in text):  # most texts do not hold a literal
        return []
    spans = pattern_spans(pattern if is_regex else regex.escape(pattern), text)
    before = [(-1, -1), *spans]
    return [span for span, last in zip(spans, before, strict=False) if span != (last[1], last[1])]


def split_at_matches(
    matches: list[Span], behavior: Behavior, size: int, invert: bool = False
) -> list[Span]:
    """Return the chunks that cutting at matches makes; some may be empty.

    Args:
        matches: where the matches are, from left to right.
        behavior: what becomes of a match.
        size: the number of characters of the text.
        invert: what lies between the matches counts as the matches.

    Example:
        >>> split_at_matches([(1, 2), (2, 3)], "merged-with-previous", 5)
        [(0, 2), (2, 3), (3, 5)]
    """
    spans: list[tuple[Span, bool]] = []  # matches and what lies between, in turn
    done = 0
    for start, end in matches:
        if start > done:
            spans.append(((done, start), invert))
        spans.append(((start, end), not invert))
        done = end
    if done < size:
        spans.append(((done, size), invert))
    if behavior == "removed":
        return [span for span, is_match in spans if not is_match]
    if behavior == "isolated":
        return [span for span, _ in spans]
    if behavior == "merged-with-next":
        return _merge(spans[::-1], behavior)[::-1]
    return _merge(spans, behavior)


def _merge(spans: list[tuple[Span, bool]], behavior: Behavior) -> list[Span]:
    """Return spans joined to the one that was seen before them.

    Contiguous joins like to like; the other two join a match to what is no match.
    """
    chunks: list[Span] = []
    last = False
    for (start, end), is_match in spans:
        joins = is_match == last if behavior == "contiguous" else is_match and not last
        if joins and chunks:
            first, final = chunks[-1]
            chunks[-1] = (min(first, start), max(final, end))
        else:
            chunks.append((start, end))
        last = is_match
    return chunks
