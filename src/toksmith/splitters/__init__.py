"""Splitters as frozen data: they cut a text into chunks before the model runs.

The code that cuts is in :mod:`toksmith.stages.split_patterns` (patterns) and
:mod:`toksmith.stages.split_classes` (all others).
"""

from __future__ import annotations

from typing import TypeAlias

from toksmith.splitters.classes import (
    Behavior,
    BertSplitter,
    ByteSpelling,
    CharacterDelimiter,
    Digits,
    FixedLength,
    LeadingSpace,
    Metaspace,
    PatternSplitter,
    Punctuation,
    SpelledBytes,
    Split,
    SplitterSequence,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
    splitter,
)
from toksmith.splitters.names import FAMILIES, NAMES, Family, family_by_spelling
from toksmith.splitters.recognition import family_of

Splitter: TypeAlias = (
    PatternSplitter
    | BertSplitter
    | ByteSpelling
    | CharacterDelimiter
    | Digits
    | FixedLength
    | LeadingSpace
    | Metaspace
    | Punctuation
    | SpelledBytes
    | Split
    | SplitterSequence
    | UnicodeScripts
    | Whitespace
    | WhitespaceSplit
)

__all__ = [
    "FAMILIES",
    "NAMES",
    "Behavior",
    "BertSplitter",
    "ByteSpelling",
    "CharacterDelimiter",
    "Digits",
    "Family",
    "FixedLength",
    "LeadingSpace",
    "Metaspace",
    "PatternSplitter",
    "Punctuation",
    "SpelledBytes",
    "Split",
    "Splitter",
    "SplitterSequence",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
    "family_by_spelling",
    "family_of",
    "splitter",
]
