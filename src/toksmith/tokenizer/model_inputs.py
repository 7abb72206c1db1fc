"""Model inputs from texts: encode, truncate, frame with the template, pad."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from toksmith._base.arrays import IdArray, OffsetArray, SpanArray
from toksmith._base.lazy import np
from toksmith._base.records import dataclass, replace
from toksmith._base.text import Text
from toksmith._base.threads import batch_threads
from toksmith._base.visible import count_of
from toksmith.engine.columns import column_of, rows_of
from toksmith.engine.list_columns import WordColumn, words_of
from toksmith.engine.rows import RowTable, Shape, SpanTrim
from toksmith.errors import OptionError
from toksmith.framing import Framing, Padding, Settings, Template, TextPart, Truncation
from toksmith.framing.layout import RowLayout
from toksmith.results import Batch, Inputs, RaggedInputs, make_later
from toksmith.tokenizer.encode import Special, TextEncoder
from toksmith.tokenizer.rows import Trimmer

_Inputs = TypeVar("_Inputs", Inputs, RaggedInputs)


class Column(NamedTuple):
    """The tokens of the first texts of all documents, or of the second texts.

    Attributes:
        ids: uint32, shape ``(tokens,)``.
        offsets: int64, shape ``(documents + 1,)``.
        spans: int64, shape ``(tokens, 2)``; ``None`` if they are not wanted.
        words: uint32, shape ``(tokens,)``: the index of each token's word, if texts are pre-split.
    """

    ids: IdArray
    offsets: OffsetArray
    spans: SpanArray | None = None
    words: IdArray | None = None


@dataclass(frozen=True)
class Preparation:
    """The settings of :meth:`Tokenizer.prepare`, without padding."""

    truncation: Truncation | None
    special: Special
    add_special_tokens: bool
    overflow: bool
    spans: bool
    threads: int | None
    pre_split: bool = False

    def rows(
        self,
        encoder: TextEncoder,
        framing: Framing,
        trim: Trimmer,
        texts: Iterable[Text] | Iterable[Sequence[Text]],
        pairs: Iterable[Text] | Iterable[Sequence[Text]] | None,
    ) -> PreparedRows:
        """Return the rows of texts.

        Args:
            encoder: encodes the texts.
            framing: its template goes around the texts.
            trim: trims the spans.
            texts: the texts; lists of words if they are pre-split.
            pairs: the second text of each, or ``None``.

        Raises:
            OptionError: texts and pairs are no lists of equal length, or cannot be truncated to
                the maximum length.
        """
        given = columns_of("prepare", texts, pairs, self.pre_split)
        columns = [self._column(encoder, column, place) for place, column in enumerate(given)]
        layout = layout_of(
            framing.template,
            pairs is not None,
            self.add_special_tokens,
            self.truncation,
            self.overflow,
        )
        table = RowTable(
            layout,
            [each.offsets for each in columns],
            batch_threads(self.threads, given[0]),
            encoder.row_memory,
        )
        return PreparedRows(table, layout, columns, trim.in_rows if self.spans else None)

    def _column(self, encoder: TextEncoder, column: Sequence[Any], place: int) -> Column:
        name = ("texts", "pairs")[place]
        if not self.pre_split:
            return self._encode(encoder, column, name)
        words, bounds = all_words(column)
        found = self._encode(encoder, words, f"the words of {name}")
        numbers = np.arange(len(words)) - np.repeat(bounds[:-1], np.diff(bounds))
        return found._replace(
            offsets=found.offsets[bounds],
            words=np.repeat(numbers, np.diff(found.offsets)).astype(np.uint32),
        )

    def _encode(self, encoder: TextEncoder, texts: Sequence[Text], name: str) -> Column:
        if self.spans:
            located = encoder.locate(texts, self.special, self.threads, name)
            return Column(located.ids, located.offsets, located.spans)
        batch = encoder.encode_batch(texts, self.special, self.threads, name)
        return Column(batch.ids, batch.offsets)


def all_words(column: Sequence[Any]) -> tuple[Sequence[Text], OffsetArray]:
    """Return the words of all pre-split texts, and the bounds of each text among them."""
    if isinstance(column, WordColumn):
        return column.words, column.bounds
    bounds = np.zeros(len(column) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, column), np.int64, len(column)), out=bounds[1:])
    return [word for text in column for word in text], bounds


def layout_of(
    template: Template,
    is_pair: bool,
    add_special_tokens: bool,
    truncation: Truncation | None = None,
    overflow: bool = False,
) -> RowLayout:
    """Return the layout of the rows that a template makes.

    Args:
        template: the template.
        is_pair: whether rows have two texts.
        add_special_tokens: whether they have the template's tokens.
        truncation: how texts are cut.
        overflow: whether tokens that are cut off form further rows.
    """
    parts = template.pair if is_pair else template.single
    if not add_special_tokens:
        parts = tuple(part for part in parts if isinstance(part, TextPart))
    return RowLayout(parts, truncation, overflow)


@dataclass(frozen=True)
class PreparedRows:
    """Texts that are encoded and cut into rows; arrays are made of them.

    Attributes:
        table: the rows.
        layout: their parts.
        columns: the tokens of the first texts, and of the second ones.
        trim: how spans are trimmed.
    """

    table: RowTable
    layout: RowLayout
    columns: Sequence[Column]
    trim: SpanTrim | None

    def padded(self, padding: Padding) -> Inputs:
        """Return the rows padded to one length.

        Raises:
            OptionError: a row is longer than a fixed length.
        """
        width = padding.target(self.table.longest)
        shape = Shape(width, padding.direction == "left")
        inputs = Inputs(
            ids=self._ids(shape, padding.id or 0),
            attention_mask=self._attention(shape),
            type_ids=self._type_ids(shape, padding.type_id),
            special_tokens_mask=np.zeros(0, np.int64),
            lengths=np.diff(self.table.starts),
            document=self.table.documents,
            sequence=np.zeros(0, np.int8),
            spans=self._spans(shape),
            words=self._words(shape),
        )
        return self._with_rare_arrays(inputs, shape)

    def ragged(self) -> RaggedInputs:
        """Return the rows one after the other."""
        shape = Shape()
        inputs = RaggedInputs(
            ids=self._ids(shape, 0, np.uint32),
            offsets=self.table.starts,
            type_ids=self._type_ids(shape, 0),
            special_tokens_mask=np.zeros(0, np.int64),
            document=self.table.documents,
            sequence=np.zeros(0, np.int8),
            spans=self._spans(shape),
            words=self._words(shape),
        )
        return self._with_rare_arrays(inputs, shape)

    def _with_rare_arrays(self, inputs: _Inputs, shape: Shape) -> _Inputs:
        """Return inputs whose arrays that few models read are made at their first use."""
        return make_later(
            inputs,
            special_tokens_mask=lambda: self._special(shape),
            sequence=lambda: self._sequence(shape),
        )

    def batch(self) -> Batch:
        """Return the ids alone."""
        return Batch(self._ids(Shape(), 0, np.uint32), self.table.starts)

    def _ids(
        self, shape: Shape, padding: int, dtype: type[np.int64 | np.uint32] | None = None
    ) -> Any:
        return self.table.numbers(
            [each.ids for each in self.columns], shape, padding=padding, dtype=dtype
        )

    def _attention(self, shape: Shape) -> OffsetArray:
        return self.table.of_parts([1] * len(self.layout.parts), shape, padding=0)

    def _type_ids(self, shape: Shape, padding: int) -> OffsetArray:
        kinds = [part.type_id for part in self.layout.parts]
        return self.table.of_parts(kinds, shape, padding=padding)

    def _special(self, shape: Shape) -> OffsetArray:
        kinds = [int(text < 0) for text in self.layout.sequence]
        return self.table.of_parts(kinds, shape, padding=1)

    def _sequence(self, shape: Shape) -> Any:
        return self.table.of_parts(self.layout.sequence, shape, padding=-1, dtype=np.int8)

    def _spans(self, shape: Shape) -> SpanArray | None:
        spans = [each.spans for each in self.columns if each.spans is not None]
        if not spans:
            return None
        return self.table.spans(spans, [each.ids for each in self.columns], shape, self.trim)

    def _words(self, shape: Shape) -> OffsetArray | None:
        words = [each.words for each in self.columns if each.words is not None]
        if not words:
            return None
        none = [-1] * len(self.layout.parts)
        return self.table.numbers(words, shape, padding=-1, of_template=none)


_FOR_ONE = {"encode_batch": "encode", "count_batch": "count", "encodings": "encoding"}


def columns_of(
    call: str, texts: Iterable[Any], pairs: Iterable[Any] | None, pre_split: bool = False
) -> list[Sequence[Any]]:
    """Return the texts, and the second texts if there are pairs, as sequences.

    Args:
        call: the name of the calling method, for messages.
        texts: the texts.
        pairs: the second text of each, or ``None``.
        pre_split: whether each text is a list of words.

    Raises:
        OptionError: an argument is no list of texts, or their lengths differ.
    """
    columns: list[Sequence[Any]] = []
    arguments = {"texts": texts} if pairs is None else {"texts": texts, "pairs": pairs}
    for name, given in arguments.items():
        refused = isinstance(given, Text | Mapping)
        column: Any = None
        if not refused:
            column = _column_of_words(given, name) if pre_split else column_of(given, name)
        if refused or (column is None and not isinstance(given, Iterable)):
            also = " as pairs" if name == "pairs" else ""
            one = _FOR_ONE.get(call)
            raise OptionError(
                f"{call} takes a list of texts{also}, not {type(given).__name__}; "
                f"{f'for one text there is {one}' if one else 'for one text, give [text]'}"
            )
        if column is None:
            column = given if isinstance(given, list) else list(given)
        columns.append(_words(column, name) if pre_split else column)
    if len(columns[0]) != len(columns[-1]):
        raise OptionError(
            f"texts and pairs differ in number ({count_of(len(columns[0]), 'text')}, "
            f"{count_of(len(columns[1]), 'pair')}): give one pair for each text"
        )
    return columns


def _column_of_words(given: object, name: str) -> WordColumn | list[Any] | None:
    found = words_of(given, name)
    return rows_of(given) if found is None else found


def _words(column: Sequence[Any], name: str) -> Sequence[Any]:
    """Return pre-split texts as lists."""
    if isinstance(column, WordColumn):
        return column
    for place, words in enumerate(column):
        if isinstance(words, Text | Mapping) or not isinstance(words, Iterable):
            raise OptionError(
                f"{name}[{place}] is {words!r:.40}: with pre_split=True each text is a list of "
                f"words, not {type(words).__name__}"
            )
    return [
        words if isinstance(words, list) else _list_of_words(words, f"{name}[{place}]")
        for place, words in enumerate(column)
    ]


def _list_of_words(words: Iterable[Text], name: str) -> list[Text]:
    column = column_of(words, name)
    return list(words if column is None else column)


_STRATEGIES = ("longest_first", "only_first", "only_second")

Cut: TypeAlias = (
    Truncation | bool | Literal["longest_first", "only_first", "only_second", "do_not_truncate"]
)
Fill: TypeAlias = Padding | int | bool | Literal["longest", "max_length", "do_not_pad"]


@dataclass(frozen=True)
class KnownLengths:
    """What the tokenizer knows of padding and lengths beside its framing.

    Attributes:
        pad_id: the id of the padding token; ``None`` if the tokenizer has none.
        side: the end at which rows are padded.
        cut_side: the end at which texts are cut.
        limit: the most tokens that the model takes; ``None`` if it is not known.
    """

    pad_id: int | None
    side: Literal["left", "right"]
    cut_side: Literal["left", "right"]
    limit: int | None


def known_lengths(framing: Framing, settings: Settings, pad_id: int | None) -> KnownLengths:
    """Return what a framing and the settings of a model folder say.

    Args:
        framing: its padding takes precedence.
        settings: those of the model folder.
        pad_id: the id of the tokenizer's padding token.
    """
    if framing.padding is not None:
        pad_id = framing.padding.id
    elif pad_id is None:
        pad_id = framing.pad_id
    sides = settings.padding_side or "right", settings.truncation_side or "right"
    return KnownLengths(pad_id, *sides, settings.model_max_length)


def resolve_lengths(
    framing: Framing,
    known: KnownLengths,
    truncation: Cut | None,
    padding: Fill | None,
    max_length: int | None,
    stride: int | None,
) -> tuple[Truncation | None, Padding, bool]:
    """Return the truncation, the padding, and whether rows must have equal lengths without padding.

    Arguments of the caller override the settings of the framing.

    Raises:
        OptionError: an argument has a wrong value, or needs ``max_length=``.
    """
    cut = _cut(framing, known, truncation, max_length)
    fill = replace(framing.padding or Padding(direction=known.side), id=known.pad_id or 0)
    if max_length is not None and fill.length is not None:
        fill = replace(fill, length=max_length)
    if stride is not None:
        if cut is None:
            raise OptionError(
                "stride= is the overlap of the rows of one text, and needs max_length="
            )
        cut = replace(cut, stride=stride)
    if isinstance(padding, Padding):
        return cut, padding if padding.id is not None else replace(padding, id=fill.id), False
    if padding is True or padding == "longest":
        return cut, replace(fill, length=None), False
    if padding is False or padding == "do_not_pad":
        return cut, replace(fill, length=None, multiple_of=None), True
    if padding == "max_length":
        longest = max_length if max_length is not None else cut.max_length if cut else known.limit
        if longest is None:
            raise OptionError('padding="max_length" needs max_length=')
        return cut, replace(fill, length=longest), False
    if isinstance(padding, str):
        raise OptionError(
            f'padding is {padding!r:.80}: use a length, "longest" (or True), "max_length", False '
            "or a Padding"
        )
    if padding is not None:
        fill = replace(fill, length=padding)
    return cut, fill, False


def _cut(
    framing: Framing, known: KnownLengths, truncation: Cut | None, max_length: int | None
) -> Truncation | None:
    if truncation is False or truncation == "do_not_truncate":
        return None
    if isinstance(truncation, Truncation):
        cut: Truncation | None = truncation
    elif truncation is None or truncation is True or truncation in _STRATEGIES:
        cut = framing.truncation
    else:
        raise OptionError(
            f"truncation is {truncation!r:.80}: use True, False, a strategy "
            f"({', '.join(_STRATEGIES)}) or a Truncation"
        )
    if max_length is not None:
        cut = cut or Truncation(max_length, direction=known.cut_side)
        cut = replace(cut, max_length=max_length)
    if truncation in (True, *_STRATEGIES) and not isinstance(truncation, Truncation):
        if cut is None and known.limit is not None:
            cut = Truncation(known.limit, direction=known.cut_side)
        if cut is None:
            raise OptionError(f"truncation={truncation!r} needs max_length=")
        if isinstance(truncation, str):
            cut = replace(cut, strategy=truncation)
    return cut
