"""What a splitter is: frozen data, one kind a file."""

from toksmith.splitters.families import FAMILIES, Family, family_of
from toksmith.splitters.pattern import PatternSplitter, splitter

Splitter = PatternSplitter

__all__ = ["FAMILIES", "Family", "PatternSplitter", "Splitter", "family_of", "splitter"]
