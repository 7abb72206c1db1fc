"""The forms of results: ids, pieces, messages and places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from toksmith._base.lazy import np
from toksmith._base.text import Text, utf8
from toksmith.compat.sentencepiece.failures import PieceTypeError
from toksmith.compat.sentencepiece.immutable import ImmutableSentencePieceText
from toksmith.compat.sentencepiece.messages import message_classes
from toksmith.compat.sentencepiece.model import Model
from toksmith.compat.sentencepiece.normalized_text import Normalized
from toksmith.compat.sentencepiece.segmentation import Segmentation

OutType: TypeAlias = "type[int] | type[str] | type[bytes] | str"
"""The form of results: ``int``, ``str``, ``bytes`` or one of :data:`FORMS`."""

FORMS = (
    int, str, bytes, "proto", "serialized_proto", "immutable_proto", "numpy", "offset_mapping",
)  # fmt: skip


def message_of(row: Segmentation, form: OutType) -> Any:
    """Return a segmentation as a message of some form."""
    if form == "immutable_proto":
        return ImmutableSentencePieceText(row)
    data = row.serialize()
    return data if form == "serialized_proto" else parse_messages([data])[0]


def parse_messages(messages: Sequence[bytes]) -> list[Any]:
    """Return serialized messages ``SentencePieceText`` as messages."""
    return [*map(message_classes()["SentencePieceText"].FromString, messages)]


def normalized_form(found: Normalized, text: Text, with_offsets: bool | None) -> Any:
    """Return a normalized text of the type of the original, with offsets if they are wanted."""
    if isinstance(text, str):
        string, offsets = found.in_characters(utf8(text)) if with_offsets else (None, None)
        return (string, offsets) if with_offsets else found.text.decode()
    return (found.text, found.origins) if with_offsets else found.text


def form_name(form: Any) -> str:
    """Return the name of a form for a message."""
    return form.__name__ if isinstance(form, type) else repr(form)


class Marks:
    """What is done to the ids or pieces of a text: reversed first, then marked at both ends."""

    def __init__(
        self, model: Model, bos: int | None, eos: int | None, reverse: bool, emit_unk: bool
    ) -> None:
        self._model = model
        self._bos = [] if bos is None else [bos]
        self._eos = [] if eos is None else [eos]
        self._reverse = reverse
        self.spells_unknown = emit_unk
        self.is_plain = not (self._bos or self._eos or reverse)

    def of_rows(self, rows: Sequence[Segmentation], form: OutType) -> list[Any] | None:
        """Return the ids or pieces of segmentations with marks; ``None`` for another form."""
        if form is int or form == "numpy":
            return [self.of_ids(row.ids, form == "numpy") for row in rows]
        if form is str or form is bytes:
            return [self.of_pieces(row.pieces, form is bytes) for row in rows]
        return None

    def of_ids(self, ids: list[int], as_array: bool = False) -> Any:
        """Return the ids of a text with its marks."""
        if not self.is_plain:
            ids = [*self._bos, *(reversed(ids) if self._reverse else ids), *self._eos]
        if not as_array:
            return ids
        array = np.array(ids, np.int32)
        array.flags.writeable = False
        return array

    def of_pieces(self, pieces: Sequence[bytes], as_bytes: bool) -> list[Any]:
        """Return the pieces of a text with its marks, as bytes or text."""
        if self.spells_unknown:
            known, unk = self._model.ids, self._model.vocab[self._model.unk_id]
            pieces = [piece if piece in known else unk for piece in pieces]
        if self._reverse:
            pieces = pieces[::-1]
        vocab = self._model.vocab
        if not self.is_plain:
            pieces = [
                *(vocab[i] for i in self._bos), *pieces, *(vocab[i] for i in self._eos)
            ]  # fmt: skip
        return list(pieces) if as_bytes else [piece.decode("utf-8", "replace") for piece in pieces]


_SUFFIXES: dict[Any, str] = {int: "ids", str: "pieces"}


def with_form(
    method: str, form: OutType, positional: Sequence[str] = (), **fixed: Any
) -> Callable[..., Any]:
    """Return a method that calls another one with a form of results.

    Args:
        method: the name of the other method.
        form: its ``out_type``.
        positional: the names of its options that may follow the input without a name.
        fixed: options that it always gets.
    """

    def call(self: Any, input: Any, *args: Any, **options: Any) -> Any:
        if len(args) > len(positional):
            raise PieceTypeError(
                f"{len(args)} arguments follow the input, but only {len(positional)} may: name the "
                "others"
            )
        named = dict(zip(positional, args, strict=False))
        return getattr(self, method)(input, **{"out_type": form, **fixed, **named, **options})

    call.__name__ = f"{method}_as_{_SUFFIXES.get(form, form)}"
    call.__doc__ = f"Return :meth:`{method}` with ``out_type={form_name(form)}``."
    return call
