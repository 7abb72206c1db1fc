"""Letters without their case or accents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lowercase:
    """Lower-case each character by itself (so a final sigma is σ, as in ``tokenizers``)."""


@dataclass(frozen=True)
class StripAccents:
    """Remove the combining marks that stand in the text (category M); decompose nothing."""
