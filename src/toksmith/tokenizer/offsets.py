"""Trims white space at the ends of tokens from their spans."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from toksmith._base.arrays import SpanArray
from toksmith._base.byte_alphabet import ALPHABET
from toksmith._base.lazy import np
from toksmith.framing.added import SPACE
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.tokenizer.rows import RowPart

_SPACES = "".join(space.decode() for space in SPACE) + ALPHABET[ord(" ")]


class Trimmer:
    """Trims spans by ``Framing.trim_offsets``.

    Args:
        pipeline: the pipeline of the tokens.
        tokens: the bytes of each id, added tokens included.
    """

    def __init__(self, pipeline: Pipeline, tokens: Sequence[bytes]) -> None:
        self._pipeline = pipeline
        self._tokens = tokens

    def __call__(self, part: RowPart) -> RowPart:
        """Return the tokens of a text with their spans trimmed."""
        trim = self._pipeline.framing.trim_offsets
        if trim is None or part.spans is None or not len(part.ids):
            return part
        start, end = part.spans.T
        before, after = self._spaces[part.ids].T
        if trim.add_prefix_space:  # the normalizer added the space of the first token
            first = start == 0
            first[0] = True
            before = np.where(first, 0, before)
        start = np.minimum(start + before, end)
        end = np.where(end >= after, np.maximum(end - after, start), end)
        return part._replace(spans=np.stack([start, end], axis=1))

    @cached_property
    def _spaces(self) -> SpanArray:
        """The number of spaces at the start and end of each token: shape ``(ids, 2)``."""
        added = {token.id for token in self._pipeline.framing.added_tokens}
        is_bytes = isinstance(self._pipeline.model, BPE)
        counts = np.zeros((len(self._tokens), 2), np.int64)
        for token_id, token in enumerate(self._tokens):
            # In a byte-level token, only the space is white space; others are spelled as letters.
            spaces = " " if is_bytes and token_id not in added else _SPACES
            text = token.decode("utf-8", "replace")
            counts[token_id] = [len(text) - len(text.lstrip(spaces)),
                                len(text) - len(text.rstrip(spaces))]  # fmt: skip
        return counts
