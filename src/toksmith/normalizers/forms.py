"""Unicode's normalization forms (UAX #15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class UnicodeForm:
    """One of Unicode's four normalization forms."""

    form: Literal["NFC", "NFD", "NFKC", "NFKD"]
