"""Reads corpora of any size: streams files of several formats as documents to a counter."""

from __future__ import annotations

from toksmith.corpus.hashing import Hashing
from toksmith.corpus.options import Reading
from toksmith.corpus.paths import AnyPath, expand, match_files
from toksmith.corpus.sources import (
    Documents,
    DocumentSink,
    DocumentSource,
    FileRead,
    Files,
    ReadTotals,
    check_field,
)

__all__ = [
    "AnyPath",
    "DocumentSink",
    "DocumentSource",
    "Documents",
    "FileRead",
    "Files",
    "Hashing",
    "ReadTotals",
    "Reading",
    "check_field",
    "expand",
    "match_files",
]
