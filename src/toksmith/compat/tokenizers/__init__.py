"""tokenizers' interface, run by toksmith: ``from toksmith.compat import tokenizers``."""

from toksmith.compat.tokenizers import normalizers, pre_tokenizers
from toksmith.compat.tokenizers.normalized_string import NormalizedString
from toksmith.compat.tokenizers.pattern import Regex, SplitDelimiterBehavior
from toksmith.compat.tokenizers.pre_tokenized_string import (
    OffsetReferential,
    OffsetType,
    PreTokenizedString,
    Token,
)

__all__ = [
    "NormalizedString",
    "OffsetReferential",
    "OffsetType",
    "PreTokenizedString",
    "Regex",
    "SplitDelimiterBehavior",
    "Token",
    "normalizers",
    "pre_tokenizers",
]
