"""A tokenizer with tokens of a megabyte, as training on one long word makes them."""

from __future__ import annotations

from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.tokenizer import Tokenizer

SIZE = 1 << 20
"""The size of the longest tokens in bytes."""


def long_tokens() -> tuple[Tokenizer, list[int]]:
    """Return the tokenizer, and the ids of its longest tokens: letters, spaces, broken UTF-8."""
    vocab = [bytes([byte]) for byte in range(256)]
    merges: list[tuple[int, int, int]] = []
    longest = []
    for part in b"x \xc3":
        while len(vocab[part]) < SIZE:
            merges.append((part, part, len(vocab)))
            vocab.append(vocab[part] * 2)
            part = len(vocab) - 1
        longest.append(part)
    return Tokenizer(Pipeline(BPE(tuple(vocab), merges), name="long")), longest
