"""One text, or one pair, framed with the template; spans without white space at token ends."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from toksmith._base.arrays import IdArray, SpanArray
from toksmith._base.byte_alphabet import ALPHABET
from toksmith._base.lazy import np
from toksmith.framing import Template, TextPart
from toksmith.framing.added import SPACE
from toksmith.models import BPE
from toksmith.pipeline import Pipeline

if TYPE_CHECKING:
    from toksmith.engine.rows import SpanTrim


class RowPart(NamedTuple):
    """Consecutive tokens of a row, all from one text or from the template.

    Attributes:
        ids: their ids.
        type_id: their type.
        sequence: 0 or 1 for the first or second text, -1 for the template.
        spans: the character span of each token in its text; ``None`` if spans are not wanted.
    """

    ids: IdArray
    type_id: int
    sequence: int
    spans: SpanArray | None = None

    def part(self, start: int, end: int) -> RowPart:
        """Return some of the tokens."""
        spans = None if self.spans is None else self.spans[start:end]
        return self._replace(ids=self.ids[start:end], spans=spans)


def frame(
    template: Template, texts: Sequence[RowPart], add_special_tokens: bool = True
) -> list[RowPart]:
    """Return one row: a template around its texts.

    Args:
        template: the template.
        texts: the tokens of the text, or of both.
        add_special_tokens: whether to add the template's ids.
    """
    row = []
    for part in template.single if len(texts) == 1 else template.pair:
        if isinstance(part, TextPart):
            row.append(texts["AB".index(part.which)]._replace(type_id=part.type_id))
        elif add_special_tokens:
            row.append(RowPart(np.array([part.id], np.uint32), part.type_id, -1))
    return row


def concat(row: Sequence[RowPart]) -> IdArray:
    """Return the ids of a row."""
    return np.concatenate([np.zeros(0, np.uint32), *(part.ids for part in row)])


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
    def in_rows(self) -> SpanTrim | None:
        """The same for the rows of a batch."""
        from toksmith.engine.rows import SpanTrim

        trim = self._pipeline.framing.trim_offsets
        if trim is None:
            return None
        return SpanTrim(self._spaces.astype(np.uint32), trim.add_prefix_space)

    @cached_property
    def _spaces(self) -> SpanArray:
        """The number of spaces at the start and end of each token: shape ``(ids, 2)``."""
        added = {token.id for token in self._pipeline.framing.added_tokens}
        is_bytes = isinstance(self._pipeline.model, BPE)
        counts = np.zeros((len(self._tokens), 2), np.int64)
        for token_id, token in enumerate(self._tokens):
            # Byte-level tokens spell other white space as letters, so only the space is trimmed.
            spaces = " " if is_bytes and token_id not in added else _SPACES
            text = token.decode("utf-8", "replace")
            counts[token_id] = [len(text) - len(text.lstrip(spaces)),
                                len(text) - len(text.rstrip(spaces))]  # fmt: skip
        return counts
