"""Rows of model inputs: the kernel cuts texts into rows and fills arrays with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from toksmith._base.arrays import IdArray, OffsetArray, SpanArray
from toksmith._base.lazy import np, npt
from toksmith.engine.compiled import _kernel, is_missing
from toksmith.engine.row_memory import RowMemory
from toksmith.errors import OptionError
from toksmith.framing.layout import RowLayout
from toksmith.reference import rows as reference


class Shape(NamedTuple):
    """How rows lie in an array.

    Attributes:
        width: the length that rows are padded to; ``None``: rows lie end to end, unpadded.
        pads_left: whether padding goes before a row.
    """

    width: int | None = None
    pads_left: bool = False


class SpanTrim(NamedTuple):
    """How white space is taken off spans.

    Attributes:
        spaces: uint32, shape ``(ids, 2)``: the spaces at the start and the end of each token.
        keeps_first: whether the first token of a text keeps the space before it.
    """

    spaces: npt.NDArray[np.uint32]
    keeps_first: bool


class RowTable:
    """The rows of texts, or of pairs of texts.

    Args:
        layout: the parts of a row, and how texts are cut.
        offsets: for one or two texts of each document, int64 of shape ``(documents + 1,)``: the
            index of the first token of each document among all tokens; then their number.
        threads: the number of threads that fill arrays.
        memory: what makes the arrays.

    Attributes:
        starts: int64, shape ``(rows + 1,)``: the index of the first token of each row among those
            of all rows; then their number.
        documents: int64, shape ``(rows,)``: the document of each row.
        longest: the length of the longest row.

    Raises:
        OptionError: a text cannot be cut to the maximum length.

    Example:
        >>> from toksmith.framing import TextPart, TokenPart
        >>> layout = RowLayout((TokenPart(101), TextPart("A")))
        >>> table = RowTable(layout, [np.array([0, 2, 3])])
        >>> table.numbers([np.array([7, 8, 9], np.uint32)], Shape(3), padding=0).tolist()
        [[101, 7, 8], [101, 9, 0]]
    """

    def __init__(
        self,
        layout: RowLayout,
        offsets: Sequence[OffsetArray],
        threads: int = 1,
        memory: RowMemory | None = None,
    ) -> None:
        self._threads = threads
        self._memory = memory or RowMemory()
        self._values = [getattr(part, "id", 0) for part in layout.parts]
        self._kernel: _kernel.Rows | None = None
        self._reference: reference.Rows | None = None
        self.starts: OffsetArray
        self.documents: OffsetArray
        self.longest: int
        if not is_missing:
            self._kernel = found = _kernel_rows(layout, offsets)
            self.starts, self.documents = found.starts(), found.documents()
            self.longest = found.longest
        else:
            self._reference = rows = reference.Rows(layout, offsets)
            self.starts, self.documents, self.longest = rows.starts, rows.documents, rows.longest

    def __len__(self) -> int:
        return len(self.documents)

    def numbers(
        self,
        items: Sequence[IdArray],
        shape: Shape,
        *,
        padding: int,
        of_template: Sequence[int] | None = None,
        dtype: type[np.int64 | np.uint32] | None = None,
    ) -> npt.NDArray[np.int64]:
        """Return one number for each token.

        Args:
            items: uint32, the numbers of the tokens of each text.
            shape: how rows lie in the array.
            padding: the number of padding.
            of_template: the number of each part; that of a text is not used. Default: its id.
            dtype: default: int64.
        """
        out = self._empty(shape, dtype or np.int64)
        values = self._values if of_template is None else of_template
        flat = out.reshape(-1)
        if self._reference is not None:
            self._reference.gather(flat, items, values, padding, *shape)
        if self._kernel is None:
            return out
        first, second = _pair([np.ascontiguousarray(each, np.uint32) for each in items])
        numbers = np.array(values, np.int64)
        self._kernel.gather(flat, first, second, numbers, padding, *shape, self._threads)
        return out

    def of_parts(
        self,
        values: Sequence[int],
        shape: Shape,
        *,
        padding: int,
        dtype: type[np.int64 | np.int8] | None = None,
    ) -> npt.NDArray[np.int64]:
        """Return the number of its part for each token.

        Args:
            values: the number of each part.
            shape: how rows lie in the array.
            padding: the number of padding.
            dtype: default: int64.
        """
        if not padding and not any(values):
            return np.zeros(self._dimensions(shape), dtype or np.int64)
        out = self._empty(shape, dtype or np.int64)
        flat = out.reshape(-1)
        if self._reference is not None:
            self._reference.fill(flat, values, padding, *shape)
        if self._kernel is not None:
            numbers = np.array(values, np.int64)
            self._kernel.fill(flat, numbers, padding, *shape, self._threads)
        return out

    def spans(
        self,
        spans: Sequence[SpanArray],
        ids: Sequence[IdArray],
        shape: Shape,
        trim: SpanTrim | None,
    ) -> SpanArray:
        """Return the span of each token; ``0, 0`` for the template and for padding.

        Args:
            spans: int64, shape ``(tokens, 2)``: the spans of the tokens of each text.
            ids: their ids.
            shape: how rows lie in the array.
            trim: how white space is taken off; ``None``: it is not.
        """
        out = self._memory.empty((*self._dimensions(shape), 2), np.int64)
        if self._reference is not None:
            how = None if trim is None else _trimmer(spans, ids, trim)
            self._reference.gather_spans(out.reshape(-1, 2), spans, how, *shape)
        if self._kernel is None:
            return out
        first, second = _pair([np.ascontiguousarray(each).reshape(-1) for each in spans])
        first_ids, second_ids = _pair([np.ascontiguousarray(each) for each in ids])
        self._kernel.gather_spans(
            *(out.reshape(-1), first, second, first_ids, second_ids),
            *(None if trim is None else trim.spaces.reshape(-1), bool(trim and trim.keeps_first)),
            *shape,
            self._threads,
        )
        return out

    def _dimensions(self, shape: Shape) -> tuple[int, ...]:
        return (int(self.starts[-1]),) if shape.width is None else (len(self), shape.width)

    def _empty(self, shape: Shape, dtype: type[np.generic]) -> npt.NDArray[np.int64]:
        return self._memory.empty(self._dimensions(shape), dtype)


def _kernel_rows(layout: RowLayout, offsets: Sequence[OffsetArray]) -> _kernel.Rows:
    truncation = layout.truncation
    first, second = _pair(offsets)
    try:
        return _kernel.Rows(
            first,
            second,
            list(layout.sequence),
            None if truncation is None else truncation.max_length,
            0 if truncation is None or not layout.overflow else truncation.stride,
            "longest_first" if truncation is None else truncation.strategy,
            truncation is not None and truncation.direction == "left",
            layout.overflow,
        )
    except IndexError as found:  # of the text that cannot be cut: the reference says why
        document = int(str(found))
        ends = [each[document : document + 2] for each in offsets]
        texts = [range(int(start), int(end)) for start, end in ends]
        assert truncation is not None
        try:
            reference.cut(texts, truncation, layout.added, layout.overflow)
        except OptionError as wrong:
            raise OptionError(f"text {document}: {wrong}") from None
        raise


_Item = TypeVar("_Item")


def _pair(arrays: Sequence[_Item]) -> tuple[_Item, _Item | None]:
    return arrays[0], arrays[1] if len(arrays) > 1 else None


def _trimmer(
    spans: Sequence[SpanArray], ids: Sequence[IdArray], trim: SpanTrim
) -> Callable[[int, int, bool], tuple[int, int]]:
    """Return a function of a text, a token and whether it is the first of its part."""

    def trimmed(text: int, token: int, is_first: bool) -> tuple[int, int]:
        start, end = spans[text][token].tolist()
        before, after = trim.spaces[ids[text][token]].tolist()
        if not (trim.keeps_first and (is_first or start == 0)):
            start = min(start + before, end)
        return start, max(end - after, start) if end >= after else end

    return trimmed
