"""Model inputs from texts: encode, truncate, frame with the template, pad."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from toksmith._base.records import dataclass, replace
from toksmith._base.text import Text
from toksmith._base.visible import count_of
from toksmith.errors import OptionError
from toksmith.framing import Framing, Padding, Settings, Truncation
from toksmith.results import Inputs
from toksmith.tokenizer.encode import Special, TextEncoder, each_located
from toksmith.tokenizer.rows import RowPart, Trimmer, cut, frame, pad


@dataclass(frozen=True)
class Preparation:
    """The settings of :meth:`Tokenizer.prepare`."""

    truncation: Truncation | None
    padding: Padding
    special: Special
    add_special_tokens: bool
    overflow: bool
    spans: bool
    threads: int | None
    must_fit: bool = False

    def inputs(
        self,
        encoder: TextEncoder,
        framing: Framing,
        trim: Trimmer,
        texts: Iterable[Text],
        pairs: Iterable[Text] | None,
    ) -> Inputs:
        """Return the model inputs of texts.

        Args:
            encoder: encodes the texts.
            framing: its template goes around the texts.
            trim: trims the spans.
            texts: the texts.
            pairs: the second text of each, or ``None``.

        Raises:
            OptionError: texts and pairs are no lists of equal length, or cannot be truncated to
                the maximum length.
        """
        given = columns_of("prepare", texts, pairs)
        added = framing.template.added(pairs is not None) if self.add_special_tokens else 0
        rows: list[list[RowPart]] = []
        documents: list[int] = []
        columns = [self._encode(encoder, column, place) for place, column in enumerate(given)]
        for document, parts in enumerate(zip(*columns, strict=True)):
            try:
                pieces = self._cut(parts, added)
            except OptionError as wrong:
                raise OptionError(f"text {document}: {wrong}") from None
            for row in pieces:
                trimmed = [trim(part) for part in row]
                rows.append(frame(framing.template, trimmed, self.add_special_tokens))
                documents.append(document)
        if self.must_fit and len({sum(len(part.ids) for part in row) for row in rows}) > 1:
            raise OptionError(
                "padding=False, but the rows have different lengths: pad them, or use "
                "encode_batch, which returns ids without padding"
            )
        return pad(rows, documents, self.padding)

    def _cut(self, parts: Sequence[RowPart], added: int) -> list[list[RowPart]]:
        if self.truncation is None:
            return [list(parts)]
        return cut(parts, self.truncation, added, self.overflow)

    def _encode(
        self, encoder: TextEncoder, texts: Sequence[Text], sequence: int
    ) -> Iterable[RowPart]:
        name = ("texts", "pairs")[sequence]
        if self.spans:
            located = encoder.locate(texts, self.special, self.threads, name)
            return (each.row_part(sequence) for each in each_located(texts, located))
        found = encoder.encode_batch(texts, self.special, self.threads, name)
        return (RowPart(ids, sequence, sequence) for ids in found)


_FOR_ONE = {"encode_batch": "encode", "count_batch": "count", "encodings": "encoding"}


def columns_of(
    call: str, texts: Iterable[Text], pairs: Iterable[Text] | None
) -> list[Sequence[Text]]:
    """Return the texts, and the second texts if there are pairs, as lists.

    Args:
        call: the name of the calling method, for messages.
        texts: the texts.
        pairs: the second text of each, or ``None``.

    Raises:
        OptionError: an argument is no list of texts, or their lengths differ.
    """
    columns: list[Sequence[Text]] = []
    for name, given in (("texts", texts), ("pairs", pairs)):
        if given is None and name == "pairs":
            continue
        if isinstance(given, Text | Mapping) or not isinstance(given, Iterable):
            also = " as pairs" if name == "pairs" else ""
            one = _FOR_ONE.get(call)
            raise OptionError(
                f"{call} takes a list of texts{also}, not {type(given).__name__}; "
                f"{f'for one text there is {one}' if one else 'for one text, give [text]'}"
            )
        columns.append(given if isinstance(given, list) else list(given))
    if len(columns[0]) != len(columns[-1]):
        raise OptionError(
            f"texts and pairs differ in number ({count_of(len(columns[0]), 'text')}, "
            f"{count_of(len(columns[1]), 'pair')}): give one pair for each text"
        )
    return columns


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
