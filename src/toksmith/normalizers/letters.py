"""Letters without their case or accents."""

from __future__ import annotations

from dataclasses import dataclass

from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class Lowercase:
    """Lower-case each character by itself (so a final sigma is σ, as in ``tokenizers``)."""


@short_repr
@dataclass(frozen=True)
class StripAccents:
    """Remove the combining marks that stand in the text (category M); decompose nothing."""
