"""Encoding: the best segmentation of texts, or random ones, in every form."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from toksmith._base.text import Text
from toksmith.compat.sentencepiece.failures import SentencePieceError
from toksmith.compat.sentencepiece.forms import (
    Marks,
    OutType,
    message_of,
    parse_messages,
    with_form,
)
from toksmith.compat.sentencepiece.options import (
    ModelWithOptions,
    ThreadPool,
    check_count,
    check_number,
    check_texts,
)
from toksmith.compat.sentencepiece.segmentation import Segmentation
from toksmith.compat.sentencepiece.settings import RANDOM

MOST_SAMPLED = 512
"""The largest ``nbest_size`` of samples."""

_sampled = partial(with_form, "encode", positional=("nbest_size", "alpha"), enable_sampling=True)


class Encoding(ModelWithOptions):
    """The calls that encode."""

    def encode(
        self,
        input: Any,
        out_type: OutType | None = None,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        enable_sampling: bool | None = None,
        nbest_size: int | None = None,
        alpha: float | None = None,
        num_threads: int | None = None,
        thread_pool: ThreadPool | None = None,
        return_type: OutType | None = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """Return the ids, pieces or segmentation of a text, or a list of them for a list of texts.

        Args:
            input: a text (str or UTF-8), or a list of texts.
            out_type: see the class, as for the options up to ``num_threads``.
            add_bos: see the class.
            add_eos: see the class.
            reverse: see the class.
            emit_unk_piece: see the class.
            enable_sampling: see the class.
            nbest_size: see the class.
            alpha: see the class.
            num_threads: see the class.
            thread_pool: its number of threads takes the place of ``num_threads``.
            return_type: another name of ``out_type``.
            return_bytes: with ``"offset_mapping"``: pieces as bytes, and places in bytes. Default:
                as the type of the text.
        """
        form = self._form(out_type, return_type)
        self._check_return_bytes(form, return_bytes)
        marks = self._marks(form, add_bos, add_eos, reverse, emit_unk_piece)
        threads = self._threads(num_threads, thread_pool)
        samples = self._enable_sampling
        if enable_sampling is not None:
            samples = bool(check_number("enable_sampling", enable_sampling))
        size = self._nbest_size if nbest_size is None else check_count("nbest_size", nbest_size)
        power = self._alpha if alpha is None else check_number("alpha", alpha)
        if samples and (size in (None, 0, 1) or power is None):
            raise SentencePieceError(
                f"nbest_size is {size} and alpha is {power}, but enable_sampling is set: use an "
                "nbest_size of -1 (all segmentations) or more than 1, and a number as alpha"
            )
        model = self._model
        if type(input) is str and not samples and (form is int or form is str):
            found = self._encoded_alone(input, form, marks, threads)
            if found is not None:
                return found
        texts = input if isinstance(input, list) else [input]
        check_texts(texts)
        if samples:
            self._check_sampling(size)
            rows = [model.sample(text, size, power, RANDOM) for text in texts]
            found = self._rendered(rows, form, marks, texts, return_bytes)
        else:
            found = self._encoded(texts, form, marks, threads, return_bytes)
        return found if isinstance(input, list) else found[0]

    def _encoded_alone(
        self, text: str, form: OutType, marks: Marks, threads: int | None
    ) -> list[Any] | None:
        """Return the ids or pieces of a text; ``None`` where they need the places of pieces."""
        model = self._model
        if self._encode_extra:
            return None
        ids = model.encode_one(text, threads)
        if form is int:
            found: list[Any] = marks.of_ids(ids)
            return found
        if model.unk_id in ids:
            return None
        strings = model.strings
        return [strings[token_id] for token_id in marks.of_ids(ids)]

    def _encoded(
        self,
        texts: Sequence[Text],
        form: OutType,
        marks: Marks,
        threads: int | None,
        return_bytes: bool | None,
    ) -> list[Any]:
        """Return the results for texts; ids and pieces alone need no places."""
        model = self._model
        if not self._encode_extra and (form == "proto" or form == "serialized_proto"):
            data = model.serialize(texts, threads)
            return data if form == "serialized_proto" else parse_messages(data)
        if not self._encode_extra and form == "offset_mapping" and not return_bytes:
            strings = [text for text in texts if isinstance(text, str)]
            if len(strings) == len(texts):
                return model.offset_mappings(strings, threads)
        if self._encode_extra or form not in (int, str, bytes, "numpy"):
            rows = model.segment(texts, threads)
            return self._rendered(rows, form, marks, texts, return_bytes)
        if form == "numpy":
            arrays: list[Any] = model.encode_arrays(texts, threads)
            return (
                arrays if marks.is_plain else [marks.of_ids(ids.tolist(), True) for ids in arrays]
            )
        if form is int:
            ids = model.encode(texts, threads)
            return ids if marks.is_plain else [marks.of_ids(row) for row in ids]
        if form is str and marks.is_plain and not marks.spells_unknown:
            return model.encode_strings(texts, threads)
        pieces = model.encode_pieces(texts, threads)
        return [marks.of_pieces(row, form is bytes) for row in pieces]

    def _check_sampling(self, size: int) -> None:
        if size > MOST_SAMPLED:
            raise SentencePieceError(f"nbest_size is {size}: use {MOST_SAMPLED} or less")

    def _rendered(
        self,
        rows: Sequence[Segmentation],
        form: OutType,
        marks: Marks,
        texts: Sequence[Text],
        return_bytes: bool | None,
    ) -> list[Any]:
        """Return segmentations in the form that is wanted."""
        rows = [self._with_extra(row, self._encode_extra) for row in rows]
        found = marks.of_rows(rows, form)
        if found is not None:
            return found
        if form == "offset_mapping":
            if return_bytes is None:
                return_bytes = bool(texts) and isinstance(texts[0], bytes)
            return [row.offset_mapping(return_bytes) for row in rows]
        return [message_of(row, form) for row in rows]

    Encode = Tokenize = tokenize = encode

    encode_as_ids = with_form("encode", int)
    EncodeAsIds = encode_as_ids
    encode_as_pieces = with_form("encode", str)
    EncodeAsPieces = encode_as_pieces
    encode_as_numpy = with_form("encode", "numpy")
    EncodeAsNumpy = encode_as_numpy
    encode_as_proto = with_form("encode", "proto")
    EncodeAsProto = encode_as_proto
    encode_as_serialized_proto = with_form("encode", "serialized_proto")
    EncodeAsSerializedProto = encode_as_serialized_proto
    encode_as_immutable_proto = with_form("encode", "immutable_proto")
    EncodeAsImmutableProto = encode_as_immutable_proto
    encode_as_offset_mapping = with_form("encode", "offset_mapping")
    EncodeAsOffsetMapping = encode_as_offset_mapping
    sample_encode_as_ids = _sampled(int)
    SampleEncodeAsIds = sample_encode_as_ids
    sample_encode_as_pieces = _sampled(str)
    SampleEncodeAsPieces = sample_encode_as_pieces
    sample_encode_as_numpy = _sampled("numpy")
    SampleEncodeAsNumpy = sample_encode_as_numpy
    sample_encode_as_proto = _sampled("proto")
    SampleEncodeAsProto = sample_encode_as_proto
    sample_encode_as_serialized_proto = _sampled("serialized_proto")
    SampleEncodeAsSerializedProto = sample_encode_as_serialized_proto
    sample_encode_as_immutable_proto = _sampled("immutable_proto")
    SampleEncodeAsImmutableProto = sample_encode_as_immutable_proto

    def parallel_encode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        chunk_len: int | None = None,
        num_threads: int | None = None,
        thread_pool: ThreadPool | None = None,
        return_type: OutType | None = None,
        out_type: OutType | None = None,
    ) -> Any:
        """Return :meth:`encode`, which uses several threads for a long text anyway.

        Args:
            input: a text, or a list of texts.
            add_bos: see :meth:`encode`, as for the other options.
            add_eos: see :meth:`encode`.
            reverse: see :meth:`encode`.
            emit_unk_piece: see :meth:`encode`.
            chunk_len: SentencePiece's size of a part, a positive number; it changes no result.
            num_threads: see :meth:`encode`.
            thread_pool: see :meth:`encode`.
            return_type: see :meth:`encode`.
            out_type: see :meth:`encode`.
        """
        if not isinstance(chunk_len, int) or chunk_len <= 0:
            raise SentencePieceError(f"chunk_len is {chunk_len!r:.40}: use a positive number")
        return self.encode(
            input,
            out_type,
            add_bos,
            add_eos,
            reverse,
            emit_unk_piece,
            enable_sampling=False,
            num_threads=num_threads,
            thread_pool=thread_pool,
            return_type=return_type,
        )

    ParallelEncode = parallel_encode

    parallel_encode_as_ids = with_form("parallel_encode", int)
    ParallelEncodeAsIds = parallel_encode_as_ids
    parallel_encode_as_pieces = with_form("parallel_encode", str)
    ParallelEncodeAsPieces = parallel_encode_as_pieces
    parallel_encode_as_numpy = with_form("parallel_encode", "numpy")
    ParallelEncodeAsNumpy = parallel_encode_as_numpy
    parallel_encode_as_proto = with_form("parallel_encode", "proto")
    ParallelEncodeAsProto = parallel_encode_as_proto
