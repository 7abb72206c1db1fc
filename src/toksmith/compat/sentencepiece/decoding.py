"""Decoding: ids and pieces to texts, in every form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain
from typing import Any

from toksmith._base.arrays import IdArray
from toksmith._base.lazy import np
from toksmith._base.text import utf8
from toksmith._base.threads import thread_count
from toksmith.compat.sentencepiece.failures import PieceTypeError, SentencePieceError
from toksmith.compat.sentencepiece.forms import (
    OutType,
    form_name,
    message_of,
    with_form,
)
from toksmith.compat.sentencepiece.options import ThreadPool
from toksmith.compat.sentencepiece.piece_text import BatchDecoder, text_of_pieces
from toksmith.compat.sentencepiece.segmentation import Segmentation
from toksmith.compat.sentencepiece.vocabulary import Vocabulary
from toksmith.engine import portable

_FEW = 256
"""Up to this many ids, decoding in Python is faster than with NumPy."""


class Decoding(Vocabulary):
    """The calls that decode."""

    _batch_decoder: BatchDecoder | None = None

    def decode(
        self,
        input: Any,
        out_type: OutType | None = None,
        num_threads: int | None = None,
        thread_pool: ThreadPool | None = None,
        return_type: OutType | None = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """Return the text of ids or pieces, or a list of texts for a list of lists.

        Args:
            input: an id, a piece, a list (or array) of either, or a list of these. A piece that is
                not in the vocabulary is kept as it is.
            out_type: ``str`` (the default; bytes for pieces that are bytes), ``bytes``,
                ``"proto"``, ``"serialized_proto"``, ``"immutable_proto"`` or ``"offset_mapping"``.
            num_threads: see :meth:`encode`.
            thread_pool: see :meth:`encode`.
            return_type: another name of ``out_type``.
            return_bytes: with ``"offset_mapping"``: text and pieces as bytes, places in bytes.

        Raises:
            IndexError: no piece has one of the ids.
        """
        form = self._form(out_type, return_type, default=str)
        self._check_return_bytes(form, return_bytes)
        if form is int or form == "numpy":
            raise SentencePieceError(
                f"out_type is {form_name(form)}, which is no form of a text: use str or bytes"
            )
        threads = self._threads(num_threads, thread_pool)
        if form is str and type(input) is list and 0 < len(input) < _FEW:
            text = self._decoded_alone(input)
            if text is not None:
                return text
        rows, is_batch = _rows_of(input)
        if form is str and len(rows[0]) and isinstance(rows[0][0], bytes):
            form = bytes
        found = self._decoded(rows, form, threads, bool(return_bytes))
        return found if is_batch else found[0]

    Decode = Detokenize = detokenize = decode
    decode_ids = DecodeIds = decode_pieces = DecodePieces = decode

    decode_ids_as_proto = with_form("decode", "proto")
    DecodeIdsAsProto = decode_ids_as_proto
    decode_pieces_as_proto = DecodePiecesAsProto = decode_ids_as_proto
    decode_ids_as_serialized_proto = with_form("decode", "serialized_proto")
    DecodeIdsAsSerializedProto = decode_ids_as_serialized_proto
    decode_pieces_as_serialized_proto = DecodePiecesAsSerializedProto = (
        decode_ids_as_serialized_proto
    )
    decode_ids_as_immutable_proto = with_form("decode", "immutable_proto")
    DecodeIdsAsImmutableProto = decode_ids_as_immutable_proto
    decode_pieces_as_immutable_proto = DecodePiecesAsImmutableProto = decode_ids_as_immutable_proto

    def _decoded_alone(self, row: list[Any]) -> str | None:
        """Return the text of a short row of known pieces; ``None`` for all else."""
        model = self._model
        if self._decode_extra or model.decoder.charsmap:
            return None
        if type(row[0]) is str:
            row = [model.strings_to_ids.get(piece) for piece in row]
        if not all(type(each) is int and each >= 0 for each in row):
            return None
        try:
            return self._decoder.decode_few(row)
        except IndexError:  # an id that is no piece
            return None

    @property
    def _decoder(self) -> BatchDecoder:
        if self._batch_decoder is None or self._batch_decoder.model is not self._model:
            self._batch_decoder = BatchDecoder(self._model)
        return self._batch_decoder

    def _decoded(
        self,
        rows: Sequence[Sequence[Any]],
        form: OutType,
        threads: int | None,
        return_bytes: bool,
    ) -> list[Any]:
        model = self._model
        if not self._decode_extra and form in (str, bytes) and not model.decoder.charsmap:
            ids = self._joined_ids(rows)
            if ids is not None:
                return self._decoded_at_once(rows, ids, form, threads)
        _check_kinds(rows)
        found: list[Any] = []
        for row in rows:
            pieces = [self._piece_of(each) for each in row]
            if self._decode_extra:
                marked = Segmentation(
                    b"", [self.piece_to_id(piece) for piece in pieces], pieces,
                    [0] * len(pieces), [0] * len(pieces), [True] * len(pieces),
                )  # fmt: skip
                pieces = self._with_extra(marked, self._decode_extra).pieces
            segmentation = text_of_pieces(model, pieces)
            if form is bytes:
                found.append(segmentation.text)
            elif form is str:
                found.append(segmentation.text.decode("utf-8", "replace"))
            elif form == "offset_mapping":
                in_bytes = return_bytes or (len(row) > 0 and isinstance(row[0], bytes))
                text = (
                    segmentation.text if in_bytes else segmentation.text.decode("utf-8", "replace")
                )
                found.append({"text": text, **segmentation.offset_mapping(in_bytes)})
            else:
                found.append(message_of(segmentation, form))
        return found

    def _decoded_at_once(
        self,
        rows: Sequence[Sequence[Any]],
        ids: IdArray,
        form: OutType,
        threads: int | None,
    ) -> list[Any]:
        """Return the texts of rows whose pieces are all known."""
        ends = [*accumulate(map(len, rows))]
        texts = self._decoder.decode(ids, ends, thread_count(threads, ids.nbytes))
        found: list[Any] = []
        for row, text in zip(rows, texts, strict=True):
            if text is None:
                data = text_of_pieces(self._model, [self._piece_of(each) for each in row]).text
                found.append(data if form is bytes else data.decode("utf-8", "replace"))
            else:
                found.append(text.encode() if form is bytes else text)
        return found

    def _joined_ids(self, rows: Sequence[Sequence[Any]]) -> IdArray | None:
        """Return the ids of all rows; ``None`` if one of their pieces is not known."""
        if all(type(row) is list for row in rows):
            ids = portable.to_array([*chain.from_iterable(rows)])
            if ids is not None:
                if len(ids):
                    self._checked_id(ids.max())
                return ids
        _check_kinds(rows)
        known = [self._ids_of(row) for row in rows]
        held = [ids for ids in known if ids is not None]
        return None if len(held) < len(known) else np.concatenate([np.zeros(0, np.uint32), *held])

    def _ids_of(self, row: Sequence[Any]) -> IdArray | None:
        """Return the ids of a row of ids or pieces; ``None`` if one of its pieces is not known."""
        if len(row) and isinstance(row[0], str | bytes):
            ids = [self._model.ids.get(utf8(piece)) for piece in row]
            return None if None in ids else np.array(ids, np.uint32)
        try:
            array = np.asarray(row) if len(row) or hasattr(row, "dtype") else np.zeros(0, np.int64)
        except (ValueError, OverflowError):
            array = np.zeros(1, object)
        if array.dtype.kind not in "iu" or array.ndim != 1:
            if hasattr(row, "dtype"):
                raise PieceTypeError(f"ids are whole numbers, not {row.dtype}: use integers")
            return np.array([self._checked_id(token_id) for token_id in row], np.uint32)
        if len(array) and not 0 <= (least := array.min()) <= (most := array.max()) < len(self):
            self._checked_id(least if least < 0 else most)
        return array.astype(np.uint32)

    def _piece_of(self, item: Any) -> bytes:
        if isinstance(item, str | bytes):
            return utf8(item)
        return self._model.vocab[self._checked_id(item)]


def _check_kinds(rows: Sequence[Sequence[Any]]) -> None:
    """Raise PieceTypeError if there are both ids and pieces."""
    kinds = set()
    for row in rows:
        if not hasattr(row, "__len__") or isinstance(row, str | bytes | Mapping):
            raise PieceTypeError(f"{row!r:.40} is no list of ids or pieces")
        if hasattr(row, "dtype") and row.dtype.kind in "iu":
            kinds.add(False)
        else:
            kinds |= {isinstance(each, str | bytes) for each in row}
    if len(kinds) > 1:
        raise PieceTypeError("there are both ids and pieces: use lists of one of them")


def _rows_of(given: Any) -> tuple[Sequence[Sequence[Any]], bool]:
    """Return the lists of ids or pieces to decode, and whether there are several."""
    if given is None or (isinstance(given, str | bytes) and not given):
        return [[]], False
    if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__len__"):
        return [[given]], False
    if hasattr(given, "ndim"):
        return (given, True) if given.ndim > 1 else ([given], False)
    is_batch = (
        len(given) > 0 and hasattr(given[0], "__len__") and not isinstance(given[0], str | bytes)
    )
    return (given, True) if is_batch else ([given], False)
