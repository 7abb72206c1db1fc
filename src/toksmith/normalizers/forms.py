"""Unicode's normalization forms (UAX #15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class UnicodeForm:
    """One of Unicode's four normalization forms."""

    form: Literal["NFC", "NFD", "NFKC", "NFKD"]
