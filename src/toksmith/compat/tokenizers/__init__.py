"""tokenizers' interface, run by toksmith: ``from toksmith.compat import tokenizers``."""

from __future__ import annotations

from toksmith.compat.tokenizers import (
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from toksmith.compat.tokenizers.added_token import AddedToken
from toksmith.compat.tokenizers.encoding import Encoding
from toksmith.compat.tokenizers.implementations import (
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    CharBPETokenizer,
    SentencePieceBPETokenizer,
    SentencePieceUnigramTokenizer,
)
from toksmith.compat.tokenizers.normalized_string import NormalizedString
from toksmith.compat.tokenizers.pattern import Regex, SplitDelimiterBehavior
from toksmith.compat.tokenizers.pre_tokenized_string import (
    OffsetReferential,
    OffsetType,
    PreTokenizedString,
    Token,
)
from toksmith.compat.tokenizers.tokenizer import Tokenizer

__version__ = "0.23.3"
"""The version of tokenizers whose interface this is."""

__all__ = [
    "AddedToken",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "Encoding",
    "NormalizedString",
    "OffsetReferential",
    "OffsetType",
    "PreTokenizedString",
    "Regex",
    "SentencePieceBPETokenizer",
    "SentencePieceUnigramTokenizer",
    "SplitDelimiterBehavior",
    "Token",
    "Tokenizer",
    "decoders",
    "models",
    "normalizers",
    "pre_tokenizers",
    "processors",
    "trainers",
]
