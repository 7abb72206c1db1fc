"""The normalizer of a tokenizer.json."""

from __future__ import annotations

from typing import Any

from toksmith.errors import UnsupportedError
from toksmith.formats.hf_entries import Entry
from toksmith.normalizers import Normalizer


def read(entry: Entry) -> Normalizer:
    """Return the steps that change the text first.

    Raises:
        UnsupportedError: one of them cannot be read yet.
    """
    if entry.value is not None:
        raise entry.refused()
    return ()


def write(normalizer: Normalizer) -> dict[str, Any] | None:
    """Return the entry that does these steps."""
    if normalizer:
        raise UnsupportedError(f"huggingface: {normalizer!r:.80} cannot be written yet")
    return None
