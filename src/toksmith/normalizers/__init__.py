"""What a normalizer is: frozen data, one kind a file.

A normalizer changes a text before it is cut into chunks. How each kind does it stands in
:mod:`toksmith.reference.normalizing`.
"""

from __future__ import annotations

from typing import TypeAlias

from toksmith.normalizers.bert import Bert
from toksmith.normalizers.forms import UnicodeForm
from toksmith.normalizers.letters import Lowercase, StripAccents
from toksmith.normalizers.nmt import Nmt
from toksmith.normalizers.precompiled import Precompiled
from toksmith.normalizers.rewriting import Prepend, Replace, Strip
from toksmith.normalizers.sentencepiece import SentencePieceNormalizer

Step: TypeAlias = (
    Bert
    | UnicodeForm
    | Lowercase
    | StripAccents
    | Nmt
    | Precompiled
    | Prepend
    | Replace
    | Strip
    | SentencePieceNormalizer
)
"""One normalizer."""

Normalizer: TypeAlias = tuple[Step, ...]
"""Normalizers one after the other; ``()`` leaves a text as it is."""

__all__ = [
    "Bert",
    "Lowercase",
    "Nmt",
    "Normalizer",
    "Precompiled",
    "Prepend",
    "Replace",
    "SentencePieceNormalizer",
    "Step",
    "Strip",
    "StripAccents",
    "UnicodeForm",
]
