"""SentencePiece's Python module, run by toksmith.

``import toksmith.compat.sentencepiece as sentencepiece`` is enough for existing code. The names are
those of SentencePiece 0.2.1 and of 0.2.3.
"""

from __future__ import annotations

from toksmith.compat.sentencepiece.immutable import (
    ImmutableNBestSentencePieceText,
    ImmutableSentencePieceText,
    ImmutableSentencePieceText_ImmutableSentencePiece,
)
from toksmith.compat.sentencepiece.normalizer import SentencePieceNormalizer
from toksmith.compat.sentencepiece.options import ThreadPool
from toksmith.compat.sentencepiece.processor import SentencePieceProcessor
from toksmith.compat.sentencepiece.settings import (
    convert_to_flatbuffer,
    set_data_dir,
    set_min_log_level,
    set_nbest_timeout,
    set_random_generator_seed,
)
from toksmith.compat.sentencepiece.trainer import SentencePieceTrainer

__all__ = [
    "ConvertToFlatbuffer",
    "ImmutableNBestSentencePieceText",
    "ImmutableSentencePieceText",
    "ImmutableSentencePieceText_ImmutableSentencePiece",
    "SentencePieceNormalizer",
    "SentencePieceProcessor",
    "SentencePieceTrainer",
    "SetDataDir",
    "SetMinLogLevel",
    "SetNBestTimeout",
    "SetRandomGeneratorSeed",
    "ThreadPool",
    "convert_to_flatbuffer",
    "set_data_dir",
    "set_min_log_level",
    "set_nbest_timeout",
    "set_random_generator_seed",
]

__version__ = "0.2.3"
"""The newest version of SentencePiece whose names are here."""

SetRandomGeneratorSeed = set_random_generator_seed
SetMinLogLevel = set_min_log_level
SetNBestTimeout = set_nbest_timeout
SetDataDir = set_data_dir
ConvertToFlatbuffer = convert_to_flatbuffer
