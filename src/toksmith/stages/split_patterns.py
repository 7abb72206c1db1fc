r"""Cutting a text into chunks by a pattern: the first step of byte-pair tokenizers since GPT-2.

Merging is free to join anything with anything, and so it would make tokens such as ``dog.``,
``dog!`` and ``dog?``. A split pattern forbids that: it cuts the text into words, numbers, runs of
punctuation and runs of space first, and no token may reach across a cut (Radford et al. 2019,
"Language Models are Unsupervised Multitask Learners", section 2.2).

A pattern is a regular expression over characters; tokens are bytes. So text goes
bytes → characters → matches → bytes again:

- A byte of invalid UTF-8 becomes a lone surrogate (``surrogateescape``): one character that is
  no letter, no digit and no space. On the way back it is the same byte again.
- Patterns mean the letters and digits of Unicode 16.0. The ``regex`` package may know a newer
  Unicode, so it is shown :func:`stand_ins`: for each character one of the same class that is as
  old as Unicode. Only the few patterns that the compiler does not know use its own classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from toksmith._base import lazy
from toksmith._base.arrays import Span
from toksmith._base.lazy import np, npt, regex
from toksmith._base.text import byte_sizes
from toksmith.errors import SplitError
from toksmith.splitters import PatternSplitter, family_by_spelling
from toksmith.splitters.names import WORDS

if TYPE_CHECKING:
    from toksmith.splitters import compiler
else:
    compiler = lazy.module("toksmith.splitters.compiler")

SECONDS = 10.0
"""Seconds that a pattern of unknown kind may search any text."""

SECONDS_PER_MB = 2.0
"""Further seconds that it may search for each 1,000,000 characters."""


def chunk_spans(splitter: PatternSplitter | None, text: bytes) -> list[Span]:
    """Return the start and end of each chunk of the text, in bytes.

    Args:
        splitter: the pattern, and what becomes of text between its matches; ``None`` leaves the
            text in one chunk.
        text: UTF-8 bytes, which may be invalid.

    Returns:
        The spans from left to right. None is empty and none overlap. They cover the whole text,
        unless the splitter drops gaps.

    Raises:
        SplitError: the pattern took too long (see ``SECONDS``).

    Example:
        >>> from toksmith.splitters import splitter
        >>> text = "I'm naïve".encode()
        >>> [text[start:end].decode() for start, end in chunk_spans(splitter("gpt2"), text)]
        ['I', "'m", ' naïve']
    """
    if not text:
        return []
    if splitter is None:
        return [Span(0, len(text))]
    string = text.decode("utf-8", "surrogateescape")
    spans = character_spans(splitter, string)
    if len(string) == len(text):  # then characters and bytes are counted alike
        return [Span(*span) for span in spans]
    places = [0, *np.cumsum(byte_sizes(string)).tolist()]
    return [Span(places[start], places[end]) for start, end in spans]


def character_spans(splitter: PatternSplitter, string: str) -> list[tuple[int, int]]:
    """Return the start and end of each chunk of a text, in characters; see :func:`chunk_spans`."""
    if splitter.then:
        return _spans_of_several(splitter.patterns, string)
    matches = _matches(splitter, string)
    if splitter.gaps == "drop":
        return matches
    spans = []
    done = 0
    for start, end in matches:
        if start > done:
            spans.append((done, start))
        spans.append((start, end))
        done = end
    if done < len(string):
        spans.append((done, len(string)))
    return spans


def _spans_of_several(patterns: Sequence[str], string: str) -> list[tuple[int, int]]:
    """Return the chunks of several patterns, one after the other; an empty match is a cut too."""
    bounds = {0, len(string)}
    for pattern in patterns:
        for start, end in pairwise(sorted(bounds)):
            for span in pattern_spans(pattern, string[start:end]):
                bounds |= {start + place for place in span}
    return [*pairwise(sorted(bounds))]


def stand_ins(pattern: str, string: str) -> str:
    r"""Return a text in which one character replaces all others that a pattern takes for the same.

    ASCII stays.

    Args:
        pattern: a pattern that the compiler knows.
        string: the text.

    Example:
        >>> stand_ins(r"\p{Lu}|\p{N}", "Łódź №5 ٥")
        'Àªdª ª5 À'
    """
    codes = np.frombuffer(string.encode("utf-32-le", "surrogatepass"), np.uint32)
    return _stand_ins(pattern)[codes].tobytes().decode("utf-32-le", "surrogatepass")


@lru_cache(maxsize=8)
def _stand_ins(pattern: str) -> npt.NDArray[np.uint32]:
    classes = compiler.compile_pattern(pattern).classes
    starts, numbers = np.array(classes.starts), np.array(classes.classes)
    of_class = np.array(classes.first_members(), np.uint32)
    for character in reversed(_OLD):
        of_class[numbers[np.searchsorted(starts, ord(character), "right") - 1]] = ord(character)
    table = np.repeat(of_class[numbers], np.diff(starts, append=0x110000))
    table[:0x80] = np.arange(0x80)
    return table


_OLD = "ªÀòǅʰ\u0301²\u3000€\ufdd0一あアא가"
"""Characters of many classes, in every version of Unicode and the same in all of them."""


def _matches(splitter: PatternSplitter, string: str) -> list[tuple[int, int]]:
    """Return the non-empty matches in characters, from left to right."""
    return [span for span in pattern_spans(splitter.pattern, string) if span[1] > span[0]]


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> regex.Pattern[str]:
    if "&&" in pattern and compiler.refusal_of(pattern) is None:
        # [A&&[B]] is an intersection, as in the compiler; regex has it in its newer syntax.
        return regex.compile(pattern, regex.V1)
    return regex.compile(pattern)  # which looks into its own cache, but slowly


def pattern_spans(pattern: str, string: str) -> list[tuple[int, int]]:
    """Return the spans of the matches of a pattern, in characters; a match may be empty.

    Raises:
        SplitError: it took too long (see ``SECONDS``).
    """
    if family_by_spelling(pattern):
        # In Python "$" also matches before a last line break, which the publishers do not mean.
        found = regex.finditer(pattern.replace("$", r"\Z"), stand_ins(pattern, string))
        return [match.span() for match in found]
    if pattern == WORDS:
        return _word_spans(string)
    if compiler.refusal_of(pattern) is None:
        string = stand_ins(pattern, string)
    size = len(string)
    limit = SECONDS + SECONDS_PER_MB * size / 1e6
    try:
        found = _compiled(pattern).finditer(string, timeout=limit)
        # A pattern may search backwards, (?r); chunks always go forwards.
        return sorted(match.span() for match in found)
    except TimeoutError as late:
        raise SplitError(
            f"split pattern {pattern!r} did not get through {size:,} characters in "
            f"{limit:.0f} seconds: it backtracks without end; give it possessive quantifiers "
            "(such as ++ or *+), or no repetition inside a repetition"
        ) from late


def _word_spans(string: str) -> list[tuple[int, int]]:
    """Return the spans of ``WORDS``: a text is cut on both sides of each white-space character."""
    codes = np.frombuffer(string.encode("utf-32-le", "surrogatepass"), np.uint32)
    is_space = _is_space()[codes]
    is_start = np.ones(len(codes), bool)
    is_start[1:] = is_space[1:] | is_space[:-1]
    starts = np.flatnonzero(is_start).tolist()
    return list(zip(starts, [*starts[1:], len(codes)], strict=True)) if starts else []


@cache
def _is_space() -> npt.NDArray[np.bool_]:
    table = np.zeros(0x110000, bool)
    table[[ord(space) for space in regex.findall(r"\s", "".join(map(chr, range(0x110000))))]] = True
    return table
