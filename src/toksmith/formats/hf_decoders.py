"""The decoder of a tokenizer.json."""

from __future__ import annotations

from typing import Any

from toksmith.decoders import Decoder
from toksmith.errors import UnsupportedError
from toksmith.formats.hf_entries import Entry
from toksmith.formats.hf_splitters import BYTE_LEVEL


def read(entry: Entry) -> Decoder | None:
    """Return how tokens become text; ``None`` where their bytes are the text.

    Raises:
        UnsupportedError: in a way that cannot be read yet.
    """
    if entry.value is None or entry.get("type").value != "ByteLevel":
        raise entry.refused()
    entry.only(*BYTE_LEVEL)
    return None


def write(decoder: Decoder | None) -> dict[str, Any] | None:
    """Return the entry that decodes so."""
    if decoder is None:
        return BYTE_LEVEL
    raise UnsupportedError(f"huggingface: {decoder!r:.80} cannot be written yet")
