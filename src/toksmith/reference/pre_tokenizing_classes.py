"""Splitters that are decided by single characters.

Each gives every character a class. A character of class :data:`REMOVED` is dropped, one that is
:data:`ALONE` is a chunk; of all others, those of one class that stand side by side are a chunk.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TypeAlias

from toksmith.arguments import assert_never
from toksmith.lazy import np, npt
from toksmith.reference.character_classes import (
    CODE_POINTS,
    Flags,
    code_points,
    flags,
    flags_of,
    scripts,
    white_space,
)
from toksmith.reference.matching import Span
from toksmith.splitters import (
    BertSplitter,
    CharacterDelimiter,
    Digits,
    FixedLength,
    LeadingSpace,
    Metaspace,
    PatternSplitter,
    Punctuation,
    Split,
    Splitter,
    SplitterSequence,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)

Classes: TypeAlias = "npt.NDArray[np.uint8]"
"""The class of each code point: uint8, shape ``(0x110000,)``."""

REMOVED, ALONE, TEXT, OTHER = range(4)


def character_classes(splitter: Splitter) -> Classes | None:
    """Return the class that a splitter gives each code point; ``None`` if it does not so."""
    match splitter:
        case BertSplitter():
            return _classify_bert_splitter(splitter)
        case Whitespace():
            return _classify_whitespace(splitter)
        case WhitespaceSplit():
            return _classify_whitespace_split(splitter)
        case Punctuation():
            return _classify_punctuation(splitter)
        case Digits():
            return _classify_digits(splitter)
        case CharacterDelimiter():
            return _classify_character_delimiter(splitter)
        case (
            PatternSplitter()
            | FixedLength()
            | LeadingSpace()
            | Metaspace()
            | Split()
            | SplitterSequence()
            | UnicodeScripts()
        ):
            return None
        case _:
            assert_never(splitter)


@cache
def _classify_bert_splitter(splitter: BertSplitter) -> Classes:
    return _classes((flags_of("PUNCTUATION"), ALONE), (white_space(), REMOVED))


@cache
def _classify_whitespace(splitter: Whitespace) -> Classes:
    return _classes((~flags_of("WORD"), OTHER), (white_space(), REMOVED))


@cache
def _classify_whitespace_split(splitter: WhitespaceSplit) -> Classes:
    return _classes((white_space(), REMOVED))


@cache
def _classify_punctuation(splitter: Punctuation) -> Classes | None:
    kinds = {"removed": REMOVED, "isolated": ALONE, "contiguous": OTHER}
    if splitter.behavior not in kinds:  # a mark that joins its neighbour
        return None
    return _classes((flags_of("PUNCTUATION"), kinds[splitter.behavior]))


@cache
def _classify_digits(splitter: Digits) -> Classes:
    return _classes((flags_of("NUMBER"), ALONE if splitter.individual else OTHER))


@cache
def _classify_character_delimiter(splitter: CharacterDelimiter) -> Classes:
    return _classes((flags(splitter.delimiter), REMOVED))


def _classes(*kinds: tuple[Flags, int]) -> Classes:
    """Return the classes of kinds of characters, a later kind before an earlier; others: TEXT."""
    classes = np.full(CODE_POINTS, TEXT, np.uint8)
    for characters, kind in kinds:
        classes[characters] = kind
    return classes


def class_cuts(classes: Classes, text: str) -> list[Span]:
    """Return the chunks of a text by the classes of its characters.

    Example:
        >>> class_cuts(character_classes(BertSplitter()), "go on!!")
        [(0, 2), (3, 5), (5, 6), (6, 7)]
    """
    kinds = classes[code_points(text)]
    starts = np.flatnonzero((np.diff(kinds, prepend=~kinds[:1]) != 0) | (kinds == ALONE))
    ends = np.append(starts[1:], len(kinds))
    kept = kinds[starts] != REMOVED
    return list(zip(starts[kept].tolist(), ends[kept].tolist(), strict=True))


def script_cuts(text: str) -> list[Span]:
    """Return where the script changes; what stands with any script goes with what is before it.

    So what stands with any script at the very start goes nowhere, as in ``tokenizers``.

    Example:
        >>> script_cuts(" да no")
        [(1, 4), (4, 6)]
    """
    kinds = scripts()[code_points(text)]
    places = np.flatnonzero(kinds)
    starts = places[np.diff(kinds[places], prepend=0) != 0].tolist()
    return list(pairwise([*starts, len(text)])) if starts else []
