"""Rows of model inputs: truncate texts, frame them with a template, pad rows to one length.

Where the framing says so, spans leave out white space at the ends of tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from toksmith._base.arrays import IdArray, SpanArray
from toksmith._base.byte_alphabet import ALPHABET
from toksmith._base.lazy import np
from toksmith.errors import OptionError
from toksmith.framing import Padding, Template, TextPart, Truncation
from toksmith.framing.added import SPACE
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.results import Inputs


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


def windows(length: int, room: int, stride: int, direction: str) -> list[tuple[int, int]]:
    """Return the ranges of at most ``room`` tokens that a text is cut into.

    Args:
        length: the number of tokens of the text.
        room: the most tokens of a range.
        stride: the number of tokens that a range shares with the range before it.
        direction: the end of a text that is cut off first.

    Example:
        >>> windows(10, 4, 1, "right"), windows(10, 4, 1, "left")
        ([(0, 4), (3, 7), (6, 10)], [(6, 10), (3, 7), (0, 4)])
    """
    if length <= room:
        return [(0, length)]
    step = room - stride
    starts = range(0, length - room + step, step)
    ranges = [(start, min(start + room, length)) for start in starts]
    if direction == "right":
        return ranges
    return [(length - end, length - start) for start, end in ranges]


def share_room(lengths: Sequence[int], truncation: Truncation, added: int) -> list[int]:
    """Return the number of tokens of each text that fit into a row.

    Args:
        lengths: the number of tokens of the text, or of both texts.
        truncation: the maximum length and the strategy.
        added: the number of ids that the template adds.

    Raises:
        OptionError: the texts cannot be cut to the maximum length.
    """
    room = truncation.max_length - added
    if room < 0:
        raise OptionError(
            f"max_length is {truncation.max_length}, but the template has {added} ids"
        )
    excess = sum(lengths) - room
    if excess <= 0:
        return list(lengths)
    if truncation.strategy == "longest_first":
        if len(lengths) == 1:
            return [room]
        shorter = min(lengths)
        longer = shorter if shorter > room else max(shorter, room - shorter)
        if shorter + longer > room:
            shorter = room // 2
            longer = shorter + room % 2
        return [shorter, longer] if lengths[0] <= lengths[1] else [longer, shorter]
    which = ("only_first", "only_second").index(truncation.strategy)
    if which >= len(lengths):
        raise OptionError(
            'strategy "only_second" cuts the second of two texts, but only one text was given'
        )
    if lengths[which] <= excess:
        raise OptionError(
            f'strategy "{truncation.strategy}" cannot take {excess} tokens off a text of '
            f"{lengths[which]} and leave some"
        )
    return [length - excess * (place == which) for place, length in enumerate(lengths)]


def cut(
    texts: Sequence[RowPart], truncation: Truncation, added: int, overflow: bool
) -> list[list[RowPart]]:
    """Cut a text, or a pair, into rows.

    The overflow rows come after the first. If both texts are cut, each part of one is combined with
    each part of the other, in the order of ``tokenizers``.

    Args:
        texts: the tokens of the text, or of both.
        truncation: the maximum length, the strategy and the stride.
        added: the number of ids that the template adds.
        overflow: whether to return rows after the first.

    Raises:
        OptionError: the texts cannot be cut to the maximum length, or the stride is too large.
    """
    rows: list[list[RowPart]] = [[]]
    lengths = [len(text.ids) for text in texts]
    for text, length, room in zip(
        texts, lengths, share_room(lengths, truncation, added), strict=True
    ):
        stride = truncation.stride if overflow else 0
        if stride >= room < length and overflow:
            raise OptionError(
                f"a row has room for {room} tokens of a text, but the stride is {stride}: use less"
            )
        found = windows(length, room, stride, truncation.direction) if room else [(0, 0)]
        first, *others = (text.part(*each) for each in (found if overflow else found[:1]))
        rows = [
            [*rows[0], first],
            *([*row, each] for row in rows[1:] for each in (first, *others)),
            *([*rows[0], each] for each in others),
        ]
    return rows


def pad(rows: Sequence[Sequence[RowPart]], documents: Sequence[int], padding: Padding) -> Inputs:
    """Pad rows to arrays of one length.

    Args:
        rows: the parts of each row.
        documents: the index of each row's text.
        padding: the row length and the padding token.

    Raises:
        OptionError: a row is longer than a fixed length.
    """
    lengths = np.array([sum(len(part.ids) for part in row) for row in rows], np.int64)
    width = padding.target(int(lengths.max(initial=0)))
    shape = (len(rows), width)
    ids, type_ids = np.full(shape, padding.id, np.int64), np.full(shape, padding.type_id, np.int64)
    mask, sequence = np.zeros(shape, np.int64), np.full(shape, -1, np.int8)
    spans = np.zeros((*shape, 2), np.int64)
    for number, (row, length) in enumerate(zip(rows, lengths.tolist(), strict=True)):
        column = width - length if padding.direction == "left" else 0
        mask[number, column : column + length] = 1
        for part in row:
            place = (number, slice(column, column := column + len(part.ids)))
            ids[place] = part.ids
            type_ids[place] = part.type_id
            sequence[place] = part.sequence
            if part.spans is not None:
                spans[place] = part.spans
    with_spans = any(part.spans is not None for row in rows for part in row)
    return Inputs(
        ids=ids,
        attention_mask=mask,
        type_ids=type_ids,
        special_tokens_mask=(sequence < 0).astype(np.int64),
        lengths=lengths,
        document=np.array(documents, np.int64),
        sequence=sequence,
        spans=spans if with_spans else None,
    )


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
            # Byte-level tokens spell other white space as letters, so only the space is trimmed.
            spaces = " " if is_bytes and token_id not in added else _SPACES
            text = token.decode("utf-8", "replace")
            counts[token_id] = [len(text) - len(text.lstrip(spaces)),
                                len(text) - len(text.rstrip(spaces))]  # fmt: skip
        return counts
