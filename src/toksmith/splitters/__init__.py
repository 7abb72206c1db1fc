"""What a splitter is: frozen data, one kind a file.

How each kind cuts is in :mod:`toksmith.reference.splitting` (patterns) and
:mod:`toksmith.reference.pre_tokenizing` (all others).
"""

from __future__ import annotations

from typing import TypeAlias

from toksmith.splitters.byte_level import LeadingSpace
from toksmith.splitters.classes import (
    Behavior,
    BertSplitter,
    CharacterDelimiter,
    Digits,
    FixedLength,
    Punctuation,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from toksmith.splitters.families import FAMILIES, Family, family_of
from toksmith.splitters.metaspace import Metaspace
from toksmith.splitters.names import NAMES
from toksmith.splitters.pattern import PatternSplitter, splitter
from toksmith.splitters.sequence import Split, SplitterSequence

Splitter: TypeAlias = (
    PatternSplitter
    | BertSplitter
    | CharacterDelimiter
    | Digits
    | FixedLength
    | LeadingSpace
    | Metaspace
    | Punctuation
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
    "CharacterDelimiter",
    "Digits",
    "Family",
    "FixedLength",
    "LeadingSpace",
    "Metaspace",
    "PatternSplitter",
    "Punctuation",
    "Split",
    "Splitter",
    "SplitterSequence",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
    "family_of",
    "splitter",
]
