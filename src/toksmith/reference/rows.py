"""Rows of model inputs, one token at a time: the oracle of the kernel's ``Rows``.

A row is a list of its parts, and a part is a range of the tokens of all texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from toksmith._base.arrays import IdArray, OffsetArray, SpanArray
from toksmith._base.lazy import np, npt
from toksmith.errors import OptionError
from toksmith.framing import Truncation
from toksmith.framing.layout import RowLayout


class Rows:
    """The rows of texts, or of pairs of texts.

    Args:
        layout: the parts of a row, and how texts are cut.
        offsets: for one or two texts of each document, the index of the first token of each
            document among all tokens; then their number.

    Raises:
        OptionError: a text cannot be cut to the maximum length.
    """

    def __init__(self, layout: RowLayout, offsets: Sequence[OffsetArray]) -> None:
        self._sequence = layout.sequence
        self._rows: list[list[range]] = []
        documents = []
        bounds = [list(zip(each.tolist(), each[1:].tolist(), strict=False)) for each in offsets]
        for document, texts in enumerate(zip(*bounds, strict=True)):
            for row in self._cut(document, [range(*text) for text in texts], layout):
                self._rows.append([range(1) if i < 0 else row[i] for i in layout.sequence])
                documents.append(document)
        lengths = [sum(map(len, row)) for row in self._rows]
        self.documents = np.array(documents, np.int64)
        self.starts = np.cumsum([0, *lengths], dtype=np.int64)
        self.longest = max(lengths, default=0)

    @staticmethod
    def _cut(document: int, texts: Sequence[range], layout: RowLayout) -> list[list[range]]:
        if layout.truncation is None:
            return [list(texts)]
        try:
            return cut(texts, layout.truncation, layout.added, layout.overflow)
        except OptionError as wrong:
            raise OptionError(f"text {document}: {wrong}") from None

    def __len__(self) -> int:
        return len(self._rows)

    def gather(
        self,
        out: npt.NDArray[np.integer],
        items: Sequence[IdArray],
        values: Sequence[int],
        padding: int,
        width: int | None,
        pads_left: bool,
    ) -> None:
        """Fill an array with one number for each token.

        Args:
            out: one dimension: the rows end to end.
            items: the numbers of the tokens of each text.
            values: the number of each part that is the template's token.
            padding: the number of padding.
            width: the length that rows are padded to; ``None`` for no padding.
            pads_left: whether padding goes before a row.
        """
        out[:] = [
            padding if part is None
            else values[part] if self._sequence[part] < 0
            else items[self._sequence[part]][place]
            for part, place, _ in self._tokens(width, pads_left)
        ]  # fmt: skip

    def fill(
        self,
        out: npt.NDArray[np.integer],
        values: Sequence[int],
        padding: int,
        width: int | None,
        pads_left: bool,
    ) -> None:
        """Fill an array with the number of its part for each token; see :meth:`gather`."""
        out[:] = [
            padding if part is None else values[part]
            for part, _, _ in self._tokens(width, pads_left)
        ]

    def gather_spans(
        self,
        out: SpanArray,
        spans: Sequence[SpanArray],
        trim: Callable[[int, int, bool], tuple[int, int]] | None,
        width: int | None,
        pads_left: bool,
    ) -> None:
        """Fill an array with the span of each token; ``0, 0`` for the template and for padding.

        Args:
            out: shape ``(tokens, 2)``.
            spans: the spans of the tokens of each text.
            trim: returns the span of a token, given the text, the token's index, and whether it is
                the first one of its part; ``None``: spans are kept.
            width: as in :meth:`gather`, also the next one.
            pads_left: whether padding goes before a row.
        """
        out[:] = 0
        for at, (part, place, is_first) in enumerate(self._tokens(width, pads_left)):
            if part is not None and (text := self._sequence[part]) >= 0:
                out[at] = trim(text, place, is_first) if trim else spans[text][place]

    def _tokens(self, width: int | None, pads_left: bool) -> Iterator[tuple[int | None, int, bool]]:
        """Yield the part, the index and whether it is the part's first, of each token.

        The part of padding is ``None``.
        """
        for row in self._rows:
            tokens: list[tuple[int | None, int, bool]] = [
                (part, place, place == places.start)
                for part, places in enumerate(row)
                for place in places
            ]
            gap: list[tuple[int | None, int, bool]] = [(None, 0, False)] * (
                0 if width is None else width - len(tokens)
            )
            yield from (*gap, *tokens) if pads_left else (*tokens, *gap)


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
    texts: Sequence[range], truncation: Truncation, added: int, overflow: bool
) -> list[list[range]]:
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

    Example:
        >>> cut([range(7, 12)], Truncation(4), 1, overflow=True)
        [[range(7, 10)], [range(10, 12)]]
    """
    rows: list[list[range]] = [[]]
    lengths = list(map(len, texts))
    for text, room in zip(texts, share_room(lengths, truncation, added), strict=True):
        length = len(text)
        stride = truncation.stride if overflow else 0
        if stride >= room < length and overflow:
            raise OptionError(
                f"a row has room for {room} tokens of a text, but the stride is {stride}: use less"
            )
        found = windows(length, room, stride, truncation.direction) if room else [(0, 0)]
        first, *others = (text[start:end] for start, end in (found if overflow else found[:1]))
        rows = [
            [*rows[0], first],
            *([*row, each] for row in rows[1:] for each in (first, *others)),
            *([*rows[0], each] for each in others),
        ]
    return rows
