"""GPT-2's splitter, as ``tokenizers`` has it."""

from __future__ import annotations

from dataclasses import dataclass

from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class LeadingSpace:
    """Put a space before each piece that starts with none (``add_prefix_space``)."""
