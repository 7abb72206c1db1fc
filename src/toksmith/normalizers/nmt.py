"""The clean-up of characters that machine translation never wants to see."""

from __future__ import annotations

from dataclasses import dataclass

from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class Nmt:
    """Remove control characters; make white space and zero-width characters U+0020 (``Nmt``)."""
