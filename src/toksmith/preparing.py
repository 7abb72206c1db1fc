"""From texts to model inputs: encode, cut, frame, fill."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from toksmith.encoding import Special, TextEncoder
from toksmith.errors import OptionError
from toksmith.framing import Framing, Padding, Truncation
from toksmith.offsets import Trimmer
from toksmith.rows import Stretch, cut, filled, framed
from toksmith.text import Text, check_texts
from toksmith.types import Inputs


@dataclass(frozen=True)
class Preparation:
    """How texts become model inputs; see :meth:`Tokenizer.prepare`."""

    truncation: Truncation | None
    padding: Padding
    special: Special
    add_special_tokens: bool
    overflow: bool
    spans: bool
    threads: int | None

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
            encoder: what encodes them.
            framing: what stands around them.
            trim: what trims their spans.
            texts: the texts.
            pairs: the second text of each, or none.

        Raises:
            OptionError: they are no lists of equal length, or cannot be made to fit.
        """
        given = columns_of("prepare", texts, pairs)
        added = framing.template.added(pairs is not None) if self.add_special_tokens else 0
        rows: list[list[Stretch]] = []
        documents: list[int] = []
        columns = [self._encoded(encoder, column, place) for place, column in enumerate(given)]
        for document, parts in enumerate(zip(*columns, strict=True)):
            try:
                pieces = self._cut(parts, added)
            except OptionError as wrong:
                raise OptionError(f"text {document}: {wrong}") from None
            for row in pieces:
                trimmed = [trim(part) for part in row]
                rows.append(framed(framing.template, trimmed, self.add_special_tokens))
                documents.append(document)
        return filled(rows, documents, self.padding)

    def _cut(self, parts: Sequence[Stretch], added: int) -> list[list[Stretch]]:
        if self.truncation is None:
            return [list(parts)]
        return cut(parts, self.truncation, added, self.overflow)

    def _encoded(
        self, encoder: TextEncoder, texts: Sequence[Text], sequence: int
    ) -> Iterable[Stretch]:
        name = ("texts", "pairs")[sequence]
        if self.spans:
            check_texts(texts, name)
            return (encoder.located(text, self.special).stretch(sequence) for text in texts)
        found = encoder.encode_batch(texts, self.special, self.threads, name)
        return (Stretch(ids, sequence, sequence) for ids in found)


_FOR_ONE = {"encode_batch": "encode", "count_batch": "count", "encodings": "encoding"}


def columns_of(
    call: str, texts: Iterable[Text], pairs: Iterable[Text] | None
) -> list[Sequence[Text]]:
    """Return the texts, and the second text of each where there are pairs, as lists.

    Args:
        call: the name of the method that takes them, for messages.
        texts: the texts.
        pairs: the second text of each, or nothing.

    Raises:
        OptionError: one of them is no list of texts, or their lengths differ.
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
        raise OptionError(f"there are {len(columns[0])} texts, but {len(columns[1])} pairs")
    return columns


def lengths(
    framing: Framing,
    truncation: Truncation | None,
    padding: Padding | int | str | None,
    max_length: int | None,
    stride: int | None,
) -> tuple[Truncation | None, Padding]:
    """Return how to cut and to fill: what the caller says, and the framing where it does not.

    Raises:
        OptionError: ``padding`` is nothing that can be filled to, or a stride is given and nothing
            is cut.
    """
    truncation = truncation or framing.truncation
    fill = framing.padding or Padding()
    if max_length is not None:
        truncation = replace(truncation or Truncation(max_length), max_length=max_length)
        if fill.length is not None:
            fill = replace(fill, length=max_length)
    if stride is not None:
        if truncation is None:
            raise OptionError("a stride is what rows of one text share: give a max_length too")
        truncation = replace(truncation, stride=stride)
    if isinstance(padding, Padding):
        fill = padding
    elif padding == "longest":
        fill = replace(fill, length=None)
    elif isinstance(padding, str):
        raise OptionError(f'padding is {padding!r}: use a length, "longest" or a Padding')
    elif padding is not None:
        fill = replace(fill, length=padding)
    return truncation, fill
