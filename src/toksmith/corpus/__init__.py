"""Reading corpora: text of any size and kind of file, streamed, as documents for a counter."""

from __future__ import annotations

from toksmith.corpus.hashing import Hashing
from toksmith.corpus.options import Reading
from toksmith.corpus.paths import AnyPath, expand
from toksmith.corpus.sources import (
    Counter,
    Documents,
    FileRead,
    Files,
    Source,
    WhatWasRead,
    check_field,
)

__all__ = [
    "AnyPath",
    "Counter",
    "Documents",
    "FileRead",
    "Files",
    "Hashing",
    "Reading",
    "Source",
    "WhatWasRead",
    "check_field",
    "expand",
]
