"""A call of a fast tokenizer: texts to transformers' ``BatchEncoding`` by toksmith's batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from toksmith.framing import Padding, Truncation
from toksmith.results import Inputs, RaggedInputs

if TYPE_CHECKING:
    from toksmith.compat.transformers.backend import Compiled
    from toksmith.tokenizer import Tokenizer
    from toksmith.tokenizer.encode import Special


class Call(NamedTuple):
    """The options of one call, as transformers has resolved them.

    Attributes:
        add_special_tokens: put the template's tokens around the texts.
        split_special_tokens: take special tokens in the text as text.
        is_pretokenized: texts are lists of words.
        truncation: arguments of ``enable_truncation``; ``None`` cuts nothing.
        padding: arguments of ``enable_padding``; ``None`` pads nothing.
        overflow: return what was cut off as further rows.
        fields: the fields to return, in transformers' order.
        tensors: whether they become tensors.
    """

    add_special_tokens: bool
    split_special_tokens: bool
    is_pretokenized: bool
    truncation: dict[str, Any] | None
    padding: dict[str, Any] | None
    overflow: bool
    fields: tuple[str, ...]
    tensors: bool

    def stock_options(self) -> dict[str, Any]:
        """Return the options that :meth:`Compiled.stock_encodings` takes."""
        return {
            "add_special_tokens": self.add_special_tokens,
            "split_special_tokens": self.split_special_tokens,
            "is_pretokenized": self.is_pretokenized,
            "truncation": self.truncation,
            "padding": self.padding,
        }


def encode(
    compiled: Compiled, texts: Sequence[Any], pairs: Sequence[Any] | None, call: Call
) -> tuple[dict[str, Any], Encodings]:
    """Return the fields of texts, and what the look-ups of a ``BatchEncoding`` need.

    Args:
        compiled: a tokenizer that toksmith runs.
        texts: strings, or lists of words.
        pairs: the second text of each, or ``None``.
        call: the options.

    Raises:
        OptionError: a text cannot be cut to the length.
    """
    tok = compiled.tokenizer
    assert tok is not None, "the caller has checked that there is one"
    documents: Sequence[int]
    lengths: Sequence[int]
    short = None
    if len(texts) == 1 and pairs is None and compiled.zero_types:
        short = _short(tok, texts[0], call)
    if short is not None:
        found = short
        documents, lengths = [0], [len(found["input_ids"][0])]
    elif call.padding is None:
        ragged = tok.prepare_ragged(texts, pairs, truncation=_cut(call), **_common(call))
        found = _ragged_fields(ragged, call)
        documents = ragged.document.tolist()
        lengths = (ragged.offsets[1:] - ragged.offsets[:-1]).tolist()
    else:
        rows = tok.prepare(
            texts, pairs, truncation=_cut(call), padding=_filling(call.padding), **_common(call)
        )
        found = _padded_fields(rows, call)
        documents, lengths = rows.document.tolist(), [rows.ids.shape[1]] * len(rows.ids)
    if call.overflow:
        found["overflow_to_sample_mapping"] = documents
    return found, Encodings(compiled, texts, pairs, call, documents, lengths)


def _short(tok: Tokenizer, text: Any, call: Call) -> dict[str, Any] | None:
    """Return the fields of one text that needs no row; ``None`` if it needs one."""
    plain = {"input_ids", "token_type_ids", "attention_mask", "length"}
    if call.padding or call.overflow or call.is_pretokenized or not plain.issuperset(call.fields):
        return None
    special: Special = "text" if call.split_special_tokens else "encode"
    ids = tok.encode(text, special=special, add_special_tokens=call.add_special_tokens)
    if call.truncation and len(ids) > call.truncation["max_length"]:
        return None
    values = {
        "input_ids": ids,
        "token_type_ids": [0] * len(ids),
        "attention_mask": [1] * len(ids),
        "length": len(ids),
    }
    return {field: [values[field]] for field in call.fields}


def _common(call: Call) -> dict[str, Any]:
    return {
        "special": "text" if call.split_special_tokens else "encode",
        "add_special_tokens": call.add_special_tokens,
        "overflow": call.overflow,
        "spans": "offset_mapping" in call.fields,
        "pre_split": call.is_pretokenized,
    }


def _cut(call: Call) -> Truncation | bool:
    return Truncation(**call.truncation) if call.truncation else False


def _filling(padding: dict[str, Any]) -> Padding:
    return Padding(
        length=padding["length"],
        direction=padding["direction"],
        multiple_of=padding["pad_to_multiple_of"],
        id=padding["pad_id"],
        type_id=padding["pad_type_id"],
        token=padding["pad_token"],
    )


def _ragged_fields(rows: RaggedInputs, call: Call) -> dict[str, Any]:
    """Return fields as lists of rows of different lengths."""
    sizes = (rows.offsets[1:] - rows.offsets[:-1]).tolist()
    found: dict[str, Any] = {}
    for field in call.fields:
        if field == "input_ids":
            found[field] = rows.lists(rows.ids)
        elif field == "token_type_ids":
            found[field] = rows.lists(rows.type_ids)
        elif field == "attention_mask":
            found[field] = [[1] * size for size in sizes]
        elif field == "special_tokens_mask":
            found[field] = rows.lists(rows.special_tokens_mask)
        elif field == "offset_mapping":
            found[field] = rows.span_lists()
        else:
            found[field] = sizes
    return found


def _padded_fields(rows: Inputs, call: Call) -> dict[str, Any]:
    """Return fields as arrays if they become tensors, else as lists of rows of one length."""
    arrays = {
        "input_ids": rows.ids,
        "token_type_ids": rows.type_ids,
        "attention_mask": rows.attention_mask,
        "special_tokens_mask": rows.special_tokens_mask,
        "offset_mapping": rows.spans,
    }
    found: dict[str, Any] = {}
    for field in call.fields:
        array = arrays.get(field)
        if array is None:
            found[field] = [rows.ids.shape[1]] * len(rows.ids)
        elif call.tensors:
            found[field] = array
        elif field == "offset_mapping":
            found[field] = [list(map(tuple, row)) for row in array.tolist()]
        else:
            found[field] = array.tolist()
    return found


class Encodings(Sequence[Any]):
    """The ``tokenizers.Encoding`` of each row, made when it is looked at.

    ``BatchEncoding`` needs them for ``char_to_token``, ``word_ids`` and the like only, so the
    stock tokenizer makes them, one text at a time.
    """

    def __init__(
        self,
        compiled: Compiled,
        texts: Sequence[Any],
        pairs: Sequence[Any] | None,
        call: Call,
        documents: Sequence[int],
        lengths: Sequence[int],
    ) -> None:
        self._compiled, self._texts, self._pairs, self._call = compiled, texts, pairs, call
        self._documents, self._lengths = documents, lengths
        self._made: dict[int, Any] = {}

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._documents)

    @overload
    def __getitem__(self, row: int) -> Any: ...
    @overload
    def __getitem__(self, row: slice) -> list[Any]: ...
    def __getitem__(self, row: int | slice) -> Any:
        """Return the encoding of a row, or a list of those of several."""
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        place = range(len(self))[row]
        if place not in self._made:
            self._make(self._documents[place])
        return self._made[place]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the encodings."""
        return (self[row] for row in range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (list, (list(self),))

    def _make(self, document: int) -> None:
        """Make the encodings of all rows of a text."""
        first = self._documents.index(document)
        options = self._call.stock_options()
        if options["padding"]:  # to the length of this call's rows, whatever was the longest
            size = int(self._lengths[first])
            options["padding"] = {**options["padding"], "length": size, "pad_to_multiple_of": None}
        pair = self._pairs[document] if self._pairs is not None else None
        found = self._compiled.stock_encodings(self._texts[document], pair, options)
        for offset, encoding in enumerate(found if self._call.overflow else found[:1]):
            self._made[first + offset] = encoding
