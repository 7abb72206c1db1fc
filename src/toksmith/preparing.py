"""From texts to model inputs: encode, cut, frame, fill."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from toksmith.encoding import Special, TextEncoder
from toksmith.errors import OptionError
from toksmith.framing import Framing, Padding, Truncation
from toksmith.offsets import Trimmer
from toksmith.rows import Stretch, cut, filled, framed
from toksmith.text import Text
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
        for each in (texts, texts if pairs is None else pairs):
            if isinstance(each, Text) or not isinstance(each, Iterable):
                raise OptionError("prepare takes a list of texts; of one text, give [text]")
        given = [list(texts)] if pairs is None else [list(texts), list(pairs)]
        if len(given[0]) != len(given[-1]):
            raise OptionError(f"there are {len(given[0])} texts, but {len(given[1])} pairs")
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
        if self.spans:
            return (encoder.located(text, self.special).stretch(sequence) for text in texts)
        found = encoder.encode_batch(texts, self.special, self.threads)
        return (Stretch(ids, sequence, sequence) for ids in found)


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
