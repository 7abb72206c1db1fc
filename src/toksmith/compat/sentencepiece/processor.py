"""``SentencePieceProcessor``: encodes and decodes with a SentencePiece model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, TypeVar

from toksmith._base.arrays import IdArray
from toksmith._base.lazy import np
from toksmith._base.records import replace
from toksmith._base.text import Text, utf8
from toksmith._base.threads import thread_count
from toksmith.compat.sentencepiece.decoding import BatchDecoder, decode_pieces
from toksmith.compat.sentencepiece.failures import (
    PieceIndexError,
    PieceTypeError,
    SentencePieceError,
)
from toksmith.compat.sentencepiece.forms import (
    FORMS,
    Marks,
    OutType,
    form_name,
    message_of,
    normalized_form,
    offset_mapping,
)
from toksmith.compat.sentencepiece.immutable import ImmutableNBestSentencePieceText
from toksmith.compat.sentencepiece.messages import message_classes
from toksmith.compat.sentencepiece.model import BYTE, CONTROL, UNKNOWN, UNUSED, Model
from toksmith.compat.sentencepiece.randomness import RANDOM
from toksmith.compat.sentencepiece.reading import read_file, serialized_bytes, set_switches
from toksmith.compat.sentencepiece.segmentation import Segmentation, serialize_all
from toksmith.errors import FormatError, UnsupportedError
from toksmith.models import PieceType

_Found = TypeVar("_Found")

_FEW = 256
"""Up to this many ids, decoding in Python is faster than with NumPy."""

MOST_SAMPLED = 512
"""The largest ``nbest_size`` of samples."""


class SentencePieceProcessor:
    """A SentencePiece model that encodes and decodes; its options are defaults of later calls.

    Args:
        model_file: a ``.model`` file.
        model_proto: the content of one, instead of a file.
        out_type: the form of results: ``int`` (ids, the default), ``str`` or ``bytes`` (pieces),
            ``"proto"``, ``"serialized_proto"``, ``"immutable_proto"``, ``"numpy"`` or
            ``"offset_mapping"``.
        add_bos: put the piece ``<s>`` before the ids or pieces of a text.
        add_eos: put ``</s>`` after them.
        reverse: reverse them first.
        emit_unk_piece: spell an unknown piece ``<unk>``, not as the text that it covers.
        enable_sampling: draw a random segmentation.
        nbest_size: draw from this many of the best segmentations; -1 draws from all.
        alpha: the power of the probabilities; for BPE, the probability that a merge is skipped.
        num_threads: the number of threads of batches; -1 for the cores this process may use.
        return_type: another name of ``out_type``.

    Raises:
        RuntimeError, ValueError: the model is damaged or not supported, or options are wrong.
        OSError: there is no such file.
    """

    def __init__(
        self,
        model_file: str | os.PathLike[str] | None = None,
        model_proto: Any = None,
        out_type: OutType | None = None,
        add_bos: bool = False,
        add_eos: bool = False,
        reverse: bool = False,
        emit_unk_piece: bool = False,
        enable_sampling: bool = False,
        nbest_size: int = -1,
        alpha: float = 0.1,
        num_threads: int = -1,
        return_type: OutType | None = None,
    ) -> None:
        self._out_type: OutType = int
        self._out_type = self._form(out_type, return_type)
        self._add_bos = add_bos
        self._add_eos = add_eos
        self._reverse = reverse
        self._emit_unk_piece = emit_unk_piece
        self._enable_sampling = enable_sampling
        self._nbest_size = nbest_size
        self._alpha = alpha
        self._num_threads = num_threads
        self._encode_extra: list[str] = []
        self._decode_extra: list[str] = []
        self._data = b""
        self._loaded: Model | None = None
        self._batch_decoder: BatchDecoder | None = None
        if model_file or model_proto:
            self.load(model_file, model_proto)

    # Loading

    @classmethod
    def from_file(
        cls, model_file: str | os.PathLike[str], **options: Any
    ) -> SentencePieceProcessor:
        """Return a processor of a ``.model`` file.

        Args:
            model_file: the file.
            options: those of the class.
        """
        processor = cls(**_without_model("from_file", options))
        processor.load_from_file(model_file)
        return processor

    @classmethod
    def from_proto(cls, model_proto: Any, **options: Any) -> SentencePieceProcessor:
        """Return a processor of the content of a ``.model`` file, or of a message ``ModelProto``.

        Args:
            model_proto: bytes, or the message.
            options: those of the class.
        """
        processor = cls(**_without_model("from_proto", options))
        processor.load_from_serialized_proto(model_proto)
        return processor

    def load(
        self, model_file: str | os.PathLike[str] | None = None, model_proto: Any = None
    ) -> bool:
        """Load a model: a file, or the content of one.

        Args:
            model_file: the file.
            model_proto: bytes, or a message ``ModelProto``.
        """
        if model_file and model_proto:
            raise SentencePieceError("model_file and model_proto are both given: use one of them")
        if model_proto:
            return self.load_from_serialized_proto(model_proto)
        if not model_file:
            raise SentencePieceError("there is no model: give model_file or model_proto")
        return self.load_from_file(model_file)

    def load_from_file(self, model_file: str | os.PathLike[str]) -> bool:
        """Load a ``.model`` file."""
        return self.load_from_serialized_proto(read_file(model_file))

    def load_from_serialized_proto(self, serialized: Any) -> bool:
        """Load the content of a ``.model`` file, or a message ``ModelProto``."""
        data = serialized_bytes(serialized)
        self._set_model(_checked(lambda: Model.of(data)))
        self._data = data
        return True

    def serialized_model_proto(self) -> bytes:
        """Return the content of the model's file; ``b""`` before a model is loaded."""
        return self._data

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ("_loaded", "_batch_decoder")
        }

    def __setstate__(self, state: Any) -> None:
        SentencePieceProcessor.__init__(self)
        if isinstance(state, bytes):  # as SentencePiece pickles
            state = {"_data": state}
        vars(self).update(state)
        if self._data:
            self.load_from_serialized_proto(self._data)

    def _set_model(self, model: Model) -> None:
        self._loaded, self._batch_decoder = model, None

    @property
    def _model(self) -> Model:
        if self._loaded is None:
            raise SentencePieceError("no model is loaded: call load() first")
        return self._loaded

    # Encoding

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
        samples = self._enable_sampling if enable_sampling is None else enable_sampling
        size = self._nbest_size if nbest_size is None else nbest_size
        power = self._alpha if alpha is None else alpha
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
        _check_texts(texts)
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
        if form is int:
            return [marks.of_ids(row.ids) for row in rows]
        if form == "numpy":
            return [marks.of_ids(row.ids, True) for row in rows]
        if form is str or form is bytes:
            return [marks.of_pieces(row.pieces, form is bytes) for row in rows]
        if form == "offset_mapping":
            if return_bytes is None:
                return_bytes = bool(texts) and isinstance(texts[0], bytes)
            return [offset_mapping(row, return_bytes) for row in rows]
        return [message_of(row, form) for row in rows]

    def encode_as_ids(self, input: Any, **options: Any) -> Any:
        """Return :meth:`encode` with ``out_type=int``."""
        return self.encode(input, int, **options)

    def encode_as_pieces(self, input: Any, **options: Any) -> Any:
        """Return :meth:`encode` with ``out_type=str``."""
        return self.encode(input, str, **options)

    def encode_as_numpy(self, input: Any, **options: Any) -> Any:
        """Return :meth:`encode` with ``out_type="numpy"``."""
        return self.encode(input, "numpy", **options)

    def encode_as_proto(self, input: Any, **options: Any) -> Any:
        """Return :meth:`encode` with ``out_type="proto"``."""
        return self.encode(input, "proto", **options)

    def encode_as_serialized_proto(self, input: Any, **options: Any) -> Any:
        """Return :meth:`encode` with ``out_type="serialized_proto"``."""
        return self.encode(input, "serialized_proto", **options)

    def encode_as_immutable_proto(self, input: Any, **options: Any) -> Any:
        """Return :meth:`encode` with ``out_type="immutable_proto"``."""
        return self.encode(input, "immutable_proto", **options)

    def encode_as_offset_mapping(self, input: Any, **options: Any) -> Any:
        """Return :meth:`encode` with ``out_type="offset_mapping"``."""
        return self.encode(input, "offset_mapping", **options)

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

    def parallel_encode_as_ids(self, input: Any, **options: Any) -> Any:
        """Return :meth:`parallel_encode` with ``out_type=int``."""
        return self.parallel_encode(input, out_type=int, **options)

    def parallel_encode_as_pieces(self, input: Any, **options: Any) -> Any:
        """Return :meth:`parallel_encode` with ``out_type=str``."""
        return self.parallel_encode(input, out_type=str, **options)

    def parallel_encode_as_numpy(self, input: Any, **options: Any) -> Any:
        """Return :meth:`parallel_encode` with ``out_type="numpy"``."""
        return self.parallel_encode(input, out_type="numpy", **options)

    def parallel_encode_as_proto(self, input: Any, **options: Any) -> Any:
        """Return :meth:`parallel_encode` with ``out_type="proto"``."""
        return self.parallel_encode(input, out_type="proto", **options)

    # Other segmentations

    def sample_encode_as_ids(
        self,
        input: Any,
        nbest_size: int | None = None,
        alpha: float | None = None,
        **options: Any,
    ) -> Any:
        """Return the ids of random segmentations; see :meth:`encode`."""
        return self._sampled(input, int, nbest_size, alpha, options)

    def sample_encode_as_pieces(
        self,
        input: Any,
        nbest_size: int | None = None,
        alpha: float | None = None,
        **options: Any,
    ) -> Any:
        """Return the pieces of random segmentations; see :meth:`encode`."""
        return self._sampled(input, str, nbest_size, alpha, options)

    def sample_encode_as_numpy(
        self,
        input: Any,
        nbest_size: int | None = None,
        alpha: float | None = None,
        **options: Any,
    ) -> Any:
        """Return the ids of random segmentations as arrays; see :meth:`encode`."""
        return self._sampled(input, "numpy", nbest_size, alpha, options)

    def sample_encode_as_proto(
        self,
        input: Any,
        nbest_size: int | None = None,
        alpha: float | None = None,
        **options: Any,
    ) -> Any:
        """Return random segmentations as messages; see :meth:`encode`."""
        return self._sampled(input, "proto", nbest_size, alpha, options)

    def sample_encode_as_serialized_proto(
        self,
        input: Any,
        nbest_size: int | None = None,
        alpha: float | None = None,
        **options: Any,
    ) -> Any:
        """Return random segmentations as serialized messages; see :meth:`encode`."""
        return self._sampled(input, "serialized_proto", nbest_size, alpha, options)

    def sample_encode_as_immutable_proto(
        self,
        input: Any,
        nbest_size: int | None = None,
        alpha: float | None = None,
        **options: Any,
    ) -> Any:
        """Return random segmentations as read-only messages; see :meth:`encode`."""
        return self._sampled(input, "immutable_proto", nbest_size, alpha, options)

    def _sampled(
        self,
        input: Any,
        form: OutType,
        nbest_size: int | None,
        alpha: float | None,
        options: dict[str, Any],
    ) -> Any:
        return self.encode(
            input, form, nbest_size=nbest_size, alpha=alpha, enable_sampling=True, **options
        )

    def nbest_encode(
        self,
        input: Any,
        out_type: OutType | None = None,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        nbest_size: int | None = None,
        return_type: OutType | None = None,
    ) -> Any:
        """Return the best segmentations of a text, or of each of a list of texts, the best first.

        Args:
            input: a text, or a list of texts.
            out_type: see :meth:`encode`, as for the other options. Messages are one
                ``NBestSentencePieceText`` a text, with scores.
            add_bos: see :meth:`encode`.
            add_eos: see :meth:`encode`.
            reverse: see :meth:`encode`.
            emit_unk_piece: see :meth:`encode`.
            nbest_size: the number of segmentations.
            return_type: see :meth:`encode`.
        """
        form = self._form(out_type, return_type)
        marks = self._marks(form, add_bos, add_eos, reverse, emit_unk_piece)
        size = max(self._nbest_size if nbest_size is None else nbest_size, 1)
        return self._for_each(
            input, lambda text: self._several(self._model.nbest(text, size), form, marks)
        )

    def nbest_encode_as_ids(
        self,
        input: Any,
        nbest_size: int | None = None,
        **options: Any,
    ) -> Any:
        """Return :meth:`nbest_encode` with ``out_type=int``."""
        return self.nbest_encode(input, int, nbest_size=nbest_size, **options)

    def nbest_encode_as_pieces(
        self,
        input: Any,
        nbest_size: int | None = None,
        **options: Any,
    ) -> Any:
        """Return :meth:`nbest_encode` with ``out_type=str``."""
        return self.nbest_encode(input, str, nbest_size=nbest_size, **options)

    def nbest_encode_as_numpy(
        self,
        input: Any,
        nbest_size: int | None = None,
        **options: Any,
    ) -> Any:
        """Return :meth:`nbest_encode` with ``out_type="numpy"``."""
        return self.nbest_encode(input, "numpy", nbest_size=nbest_size, **options)

    def nbest_encode_as_proto(
        self,
        input: Any,
        nbest_size: int | None = None,
        **options: Any,
    ) -> Any:
        """Return :meth:`nbest_encode` with ``out_type="proto"``."""
        return self.nbest_encode(input, "proto", nbest_size=nbest_size, **options)

    def nbest_encode_as_serialized_proto(
        self,
        input: Any,
        nbest_size: int | None = None,
        **options: Any,
    ) -> Any:
        """Return :meth:`nbest_encode` with ``out_type="serialized_proto"``."""
        return self.nbest_encode(input, "serialized_proto", nbest_size=nbest_size, **options)

    def nbest_encode_as_immutable_proto(
        self,
        input: Any,
        nbest_size: int | None = None,
        **options: Any,
    ) -> Any:
        """Return :meth:`nbest_encode` with ``out_type="immutable_proto"``."""
        return self.nbest_encode(input, "immutable_proto", nbest_size=nbest_size, **options)

    def sample_encode_and_score(
        self,
        input: Any,
        out_type: OutType | None = None,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        num_samples: int | None = None,
        alpha: float | None = None,
        wor: bool | None = None,
        include_best: bool | None = None,
        return_type: OutType | None = None,
    ) -> Any:
        """Return random segmentations of a text, or of each of a list of texts, with scores.

        Args:
            input: a text, or a list of texts.
            out_type: see :meth:`encode`. Ids and pieces are pairs of a segmentation and its score;
                messages are one ``NBestSentencePieceText`` a text.
            add_bos: see :meth:`encode`.
            add_eos: see :meth:`encode`.
            reverse: see :meth:`encode`.
            emit_unk_piece: see :meth:`encode`.
            num_samples: the number of segmentations; 1 by default.
            alpha: the power of the probabilities; 1 by default.
            wor: whether the segmentations differ (sampling without replacement); the score is then
                the logarithm of the probability that a segmentation is among the samples, else
                that of its probability.
            include_best: with ``wor``: whether the best segmentation always comes first, with the
                score 0.
            return_type: see :meth:`encode`.
        """
        form = self._form(out_type, return_type)
        marks = self._marks(form, add_bos, add_eos, reverse, emit_unk_piece)
        count = 1 if num_samples is None else num_samples
        power = 1.0 if alpha is None else alpha
        if count <= 0:
            raise SentencePieceError(f"num_samples is {count}: use a positive number")
        if include_best and not wor:
            raise SentencePieceError(
                "include_best is set without wor: only samples that differ can leave it out"
            )

        def of_text(text: Text) -> Any:
            rows = self._model.sample_with_scores(
                text, count, power, bool(wor), bool(include_best), RANDOM
            )
            found = self._several(rows, form, marks)
            if not isinstance(found, list):
                return found
            return [(each, row.score) for each, row in zip(found, rows, strict=True)]

        return self._for_each(input, of_text)

    def sample_encode_and_score_as_ids(
        self,
        input: Any,
        num_samples: int | None = None,
        alpha: float | None = None,
        **options: Any,
    ) -> Any:
        """Return :meth:`sample_encode_and_score` with ``out_type=int``."""
        return self._scored(input, int, num_samples, alpha, options)

    def sample_encode_and_score_as_pieces(
        self,
        input: Any,
        num_samples: int | None = None,
        alpha: float | None = None,
        **options: Any,
    ) -> Any:
        """Return :meth:`sample_encode_and_score` with ``out_type=str``."""
        return self._scored(input, str, num_samples, alpha, options)

    def sample_encode_and_score_as_serialized_proto(
        self,
        input: Any,
        num_samples: int | None = None,
        alpha: float | None = None,
        **options: Any,
    ) -> Any:
        """Return :meth:`sample_encode_and_score` with ``out_type="serialized_proto"``."""
        return self._scored(input, "serialized_proto", num_samples, alpha, options)

    def sample_encode_and_score_as_immutable_proto(
        self,
        input: Any,
        num_samples: int | None = None,
        alpha: float | None = None,
        **options: Any,
    ) -> Any:
        """Return :meth:`sample_encode_and_score` with ``out_type="immutable_proto"``."""
        return self._scored(input, "immutable_proto", num_samples, alpha, options)

    def _scored(
        self,
        input: Any,
        form: OutType,
        num_samples: int | None,
        alpha: float | None,
        options: dict[str, Any],
    ) -> Any:
        return self.sample_encode_and_score(
            input, form, num_samples=num_samples, alpha=alpha, **options
        )

    def calculate_entropy(
        self,
        input: Any,
        alpha: float,
        num_threads: int | None = None,
    ) -> Any:
        """Return the entropy, in nats, of the segmentations of a text, or of each of a list.

        Args:
            input: a text, or a list of texts.
            alpha: the power of the probabilities.
            num_threads: it changes nothing.
        """
        self._threads(num_threads, None)
        return self._for_each(input, lambda text: self._model.entropy(text, alpha))

    def _several(self, rows: Sequence[Segmentation], form: OutType, marks: Marks) -> Any:
        """Return several segmentations of one text in the form that is wanted."""
        rows = [self._with_extra(row, self._encode_extra) for row in rows]
        if form is int:
            return [marks.of_ids(row.ids) for row in rows]
        if form == "numpy":
            return [marks.of_ids(row.ids, True) for row in rows]
        if form is str or form is bytes:
            return [marks.of_pieces(row.pieces, form is bytes) for row in rows]
        if form == "immutable_proto":
            return ImmutableNBestSentencePieceText(rows)
        if form == "offset_mapping":
            raise SentencePieceError("offset_mapping is for one segmentation: use another out_type")
        data = serialize_all(rows)
        if form == "serialized_proto":
            return data
        return message_classes()["NBestSentencePieceText"].FromString(data)

    def _for_each(self, input: Any, run: Callable[[Text], _Found]) -> _Found | list[_Found]:
        """Return the result for a text, or for each of a list of texts."""
        if isinstance(input, list):
            _check_texts(input)
            return [run(text) for text in input]
        _check_texts([input])
        return run(input)

    # Decoding

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
            out_type: ``str`` (the default), ``bytes``, ``"proto"``, ``"serialized_proto"``,
                ``"immutable_proto"`` or ``"offset_mapping"``.
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
        found = self._decoded(rows, form, threads, bool(return_bytes))
        return found if is_batch else found[0]

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
        if self._batch_decoder is None:
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
        if not self._decode_extra and form in (str, bytes):
            known = [self._ids_of(row) for row in rows]
            if not any(row is None for row in known) and not model.decoder.charsmap:
                return self._decoded_at_once(rows, known, form, threads)
        found: list[Any] = []
        for row in rows:
            pieces = [self._piece_of(each) for each in row]
            if self._decode_extra:
                marked = Segmentation(
                    b"", [self.piece_to_id(piece) for piece in pieces], pieces,
                    [0] * len(pieces), [0] * len(pieces), [True] * len(pieces),
                )  # fmt: skip
                pieces = self._with_extra(marked, self._decode_extra).pieces
            segmentation = decode_pieces(model, pieces)
            if form is bytes:
                found.append(segmentation.text)
            elif form is str:
                found.append(segmentation.text.decode("utf-8", "replace"))
            elif form == "offset_mapping":
                in_bytes = return_bytes or (len(row) > 0 and isinstance(row[0], bytes))
                found.append(offset_mapping(segmentation, in_bytes, with_text=True))
            else:
                found.append(message_of(segmentation, form))
        return found

    def _decoded_at_once(
        self,
        rows: Sequence[Sequence[Any]],
        known: Sequence[IdArray | None],
        form: OutType,
        threads: int | None,
    ) -> list[Any]:
        """Return the texts of rows whose pieces are all known."""
        held = [ids for ids in known if ids is not None]
        ends = [*accumulate(map(len, held))]
        ids = np.concatenate([np.zeros(0, np.uint32), *held])
        texts = self._decoder.decode(ids, ends, thread_count(threads, ids.nbytes))
        found: list[Any] = []
        for row, text in zip(rows, texts, strict=True):
            if text is None:
                data = decode_pieces(self._model, [self._piece_of(each) for each in row]).text
                found.append(data if form is bytes else data.decode("utf-8", "replace"))
            else:
                found.append(text.encode() if form is bytes else text)
        return found

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

    def decode_ids(self, input: Any, out_type: OutType | None = None, **options: Any) -> Any:
        """Return :meth:`decode`."""
        return self.decode(input, out_type, **options)

    def decode_pieces(self, input: Any, out_type: OutType | None = None, **options: Any) -> Any:
        """Return :meth:`decode`."""
        return self.decode(input, out_type, **options)

    def decode_ids_as_proto(self, input: Any, **options: Any) -> Any:
        """Return :meth:`decode` with ``out_type="proto"``."""
        return self.decode(input, "proto", **options)

    def decode_ids_as_serialized_proto(self, input: Any, **options: Any) -> Any:
        """Return :meth:`decode` with ``out_type="serialized_proto"``."""
        return self.decode(input, options.pop("out_type", "serialized_proto"), **options)

    def decode_ids_as_immutable_proto(self, input: Any, **options: Any) -> Any:
        """Return :meth:`decode` with ``out_type="immutable_proto"``."""
        return self.decode(input, options.pop("out_type", "immutable_proto"), **options)

    # The vocabulary

    def piece_size(self) -> int:
        """Return the number of pieces; 0 before a model is loaded."""
        return len(self._loaded.vocab) if self._loaded else 0

    vocab_size = get_piece_size = GetPieceSize = piece_size

    def __len__(self) -> int:
        return self.piece_size()

    def __getitem__(self, piece: Any) -> Any:
        return self.piece_to_id(piece)

    def piece_to_id(self, piece: Any) -> Any:
        """Return the id of a piece, or of each of several; that of ``<unk>`` if there is none."""
        model = self._model
        if isinstance(piece, str | bytes):
            return model.ids.get(utf8(piece), max(model.unk_id, 0))
        if not isinstance(piece, list | tuple):
            raise PieceTypeError(f"{piece!r:.40} is no piece: use a str, or a list of them")
        for each in piece:
            if not isinstance(each, str | bytes):
                raise PieceTypeError(f"{each!r:.40} is no piece: use a str")
        return [self.piece_to_id(each) for each in piece]

    def id_to_piece(self, id: Any) -> Any:
        """Return the piece of an id, or of each of several."""
        return self._look_up(id, lambda token_id: self._model.strings[token_id])

    def get_score(self, id: Any) -> Any:
        """Return the score of an id, or of each of several."""
        return self._look_up(id, lambda token_id: self._model.scores[token_id])

    def is_unknown(self, id: Any) -> Any:
        """Return whether an id is the unknown piece, or of each of several."""
        return self._look_up(id, lambda token_id: self._model.types[token_id] == UNKNOWN)

    def is_control(self, id: Any) -> Any:
        """Return whether an id is a control piece such as ``<s>``, or of each of several."""
        return self._look_up(id, lambda token_id: self._model.types[token_id] == CONTROL)

    def is_unused(self, id: Any) -> Any:
        """Return whether an id is a piece that text never becomes, or of each of several."""
        return self._look_up(id, lambda token_id: self._model.types[token_id] == UNUSED)

    def is_byte(self, id: Any) -> Any:
        """Return whether an id is a byte piece such as ``<0x0A>``, or of each of several."""
        return self._look_up(id, lambda token_id: self._model.types[token_id] == BYTE)

    def _look_up(self, ids: Any, find: Callable[[int], _Found]) -> _Found | list[_Found]:
        if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
            return find(self._checked_id(ids))
        return [find(self._checked_id(each)) for each in ids]

    def _checked_id(self, token_id: Any) -> int:
        try:
            found: int = token_id.__index__()
        except AttributeError:
            raise PieceTypeError(f"{token_id!r:.40} is no id: use a whole number") from None
        if not 0 <= found < self.piece_size():
            raise PieceIndexError(
                f"id {found} is no piece: ids go from 0 to {self.piece_size() - 1}"
            )
        return found

    def unk_id(self) -> int:
        """Return the id of the unknown piece; -1 if there is none."""
        return self._model.unk_id

    def bos_id(self) -> int:
        """Return the id of the piece before a text; -1 if there is none."""
        return self._role("bos_id")

    def eos_id(self) -> int:
        """Return the id of the piece after a text; -1 if there is none."""
        return self._role("eos_id")

    def pad_id(self) -> int:
        """Return the id of padding; -1 if there is none."""
        return self._role("pad_id")

    def _role(self, name: str) -> int:
        found: int | None = getattr(self._model.pipeline.model, name)
        return -1 if found is None else found

    def set_vocabulary(self, valid_vocab: Iterable[str]) -> bool:
        """Let text become these pieces and single characters alone.

        Args:
            valid_vocab: the pieces.
        """
        model = self._model
        wanted = {utf8(piece) for piece in valid_vocab}
        kept = {*map(int, (PieceType.CONTROL, PieceType.UNKNOWN, PieceType.USER_DEFINED)), BYTE}
        self._retype(
            [
                kind if kind in kept
                else int(PieceType.NORMAL) if piece in wanted or len(text) == 1
                else UNUSED
                for piece, text, kind in zip(model.vocab, model.strings, model.types, strict=True)
            ]
        )  # fmt: skip
        return True

    def reset_vocabulary(self) -> bool:
        """Let text become all pieces again."""
        self._retype(
            [int(PieceType.NORMAL) if kind == UNUSED else kind for kind in self._model.types]
        )
        return True

    def load_vocabulary(self, filename: str | os.PathLike[str], threshold: int) -> bool:
        """Call :meth:`set_vocabulary` with the pieces of a file.

        Args:
            filename: lines of a piece, a tab and its frequency.
            threshold: the least frequency; without one, a piece counts as 1.
        """
        pieces = []
        for line in read_file(filename).decode().splitlines():
            piece, _, count = line.partition("\t")
            if int(count.partition("\t")[0] or 1) >= threshold:
                pieces.append(piece)
        return self.set_vocabulary(pieces)

    def _retype(self, types: list[int]) -> None:
        message = message_classes()["ModelProto"].FromString(self._data)
        for piece, kind in zip(message.pieces, types, strict=True):
            if piece.type != kind:
                piece.type = kind
        self._set_model(self._model.with_types(types))
        self._data = message.SerializeToString(deterministic=True)

    # Normalization

    def normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """Return a text as the model sees it, or each of a list of texts.

        Args:
            input: a text, or a list of texts.
            with_offsets: return pairs: the text, and the place in the original of each of its
                characters (of each byte, for bytes), with that of its end.
        """
        return self._for_each(
            input, lambda text: normalized_form(self._model.normalize(text), text, with_offsets)
        )

    def override_normalizer_spec(self, **switches: Any) -> bool:
        """Change the normalizer.

        Args:
            switches: ``add_dummy_prefix``, ``remove_extra_whitespaces``, ``escape_whitespaces``.
        """
        message = message_classes()["ModelProto"].FromString(self._data)
        set_switches(message.normalizer_spec, switches)
        spec = message.normalizer_spec
        step = replace(
            self._model.normalizer,
            add_dummy_prefix=spec.add_dummy_prefix,
            remove_extra_whitespaces=spec.remove_extra_whitespaces,
            escape_whitespaces=spec.escape_whitespaces,
        )
        self._set_model(self._model.with_normalizer(step))
        self._data = message.SerializeToString(deterministic=True)
        return True

    # Options

    def set_encode_extra_options(self, extra_option: str) -> bool:
        """Set what is done to the pieces of each text, before the options of the call.

        Args:
            extra_option: ``bos``, ``eos``, ``reverse`` and ``unk``, joined by colons.
        """
        self._encode_extra = self._extra(extra_option)
        return True

    def set_decode_extra_options(self, extra_option: str) -> bool:
        """Set what is done to pieces before they are decoded; see the one for encoding."""
        self._decode_extra = self._extra(extra_option)
        return True

    def _extra(self, written: str) -> list[str]:
        options = written.split(":") if written else []
        for option in options:
            if option not in ("bos", "eos", "reverse", "unk", "unk_piece"):
                raise SentencePieceError(
                    f"unknown option {option!r:.40}: use bos, eos, reverse or unk"
                )
            if option in ("bos", "eos"):
                self._mark_id(option)
        return options

    def _with_extra(self, row: Segmentation, options: Sequence[str]) -> Segmentation:
        for option in options:
            if option == "reverse":
                row = row.reverse()
            elif option in ("unk", "unk_piece"):
                row = row.spell(self._model.unk_id, self._model.vocab[self._model.unk_id])
            else:
                token_id = self._mark_id(option)
                row = row.mark(token_id, self._model.vocab[token_id], at_start=option == "bos")
        return row

    def _mark_id(self, name: str) -> int:
        token_id = self._role(f"{name}_id")
        if token_id < 0:
            raise SentencePieceError(f"the model has no {name} piece: leave add_{name} out")
        return token_id

    def _marks(
        self,
        form: OutType,
        add_bos: bool | None,
        add_eos: bool | None,
        reverse: bool | None,
        emit_unk_piece: bool | None,
    ) -> Marks:
        """Return the options that change ids and pieces; messages refuse them."""
        bos = self._add_bos if add_bos is None else add_bos
        eos = self._add_eos if add_eos is None else add_eos
        backwards = self._reverse if reverse is None else reverse
        unk = self._emit_unk_piece if emit_unk_piece is None else emit_unk_piece
        if form not in (int, str, bytes, "numpy") and (bos or eos or backwards or unk):
            raise SentencePieceError(
                f"add_bos, add_eos, reverse and emit_unk_piece do not apply to {form_name(form)}: "
                "leave them out, or use ids or pieces"
            )
        return Marks(
            self._model,
            self._mark_id("bos") if bos else None,
            self._mark_id("eos") if eos else None,
            bool(backwards),
            bool(unk),
        )

    def _form(
        self, out_type: OutType | None, return_type: OutType | None, default: OutType | None = None
    ) -> OutType:
        if out_type is not None and return_type is not None:
            raise SentencePieceError(
                "out_type and return_type are both given: they are the same option"
            )
        form = return_type if out_type is None else out_type
        if form is None:
            return self._out_type if default is None else default
        if form not in FORMS:
            raise SentencePieceError(
                f"unknown out_type {form_name(form)}: use int, str, bytes, or one of "
                f"{', '.join(repr(each) for each in FORMS[3:])}"
            )
        return form

    @staticmethod
    def _check_return_bytes(form: OutType, return_bytes: bool | None) -> None:
        if return_bytes is not None and form != "offset_mapping":
            raise SentencePieceError(
                f"return_bytes is for out_type='offset_mapping', not {form_name(form)}"
            )

    def _threads(self, num_threads: int | None, pool: ThreadPool | None) -> int | None:
        if pool is not None:
            return pool.num_threads()
        count = self._num_threads if num_threads is None else num_threads
        if not isinstance(count, int):
            raise PieceTypeError(f"num_threads is {count!r:.40}: use a whole number")
        return None if count < 0 else max(count, 1)

    # SentencePiece's other names
    Load, LoadFromFile, LoadFromSerializedProto = load, load_from_file, load_from_serialized_proto
    Encode, Tokenize, tokenize = encode, encode, encode
    EncodeAsIds, EncodeAsPieces, EncodeAsNumpy = encode_as_ids, encode_as_pieces, encode_as_numpy
    EncodeAsProto, EncodeAsSerializedProto = encode_as_proto, encode_as_serialized_proto
    EncodeAsImmutableProto = encode_as_immutable_proto
    EncodeAsOffsetMapping = encode_as_offset_mapping
    ParallelEncode, ParallelEncodeAsIds = parallel_encode, parallel_encode_as_ids
    ParallelEncodeAsPieces = parallel_encode_as_pieces
    ParallelEncodeAsNumpy = parallel_encode_as_numpy
    ParallelEncodeAsProto = parallel_encode_as_proto
    SampleEncodeAsIds, SampleEncodeAsPieces = sample_encode_as_ids, sample_encode_as_pieces
    SampleEncodeAsNumpy, SampleEncodeAsProto = sample_encode_as_numpy, sample_encode_as_proto
    SampleEncodeAsSerializedProto = sample_encode_as_serialized_proto
    SampleEncodeAsImmutableProto = sample_encode_as_immutable_proto
    NBestEncode, NBestEncodeAsIds = nbest_encode, nbest_encode_as_ids
    NBestEncodeAsPieces, NBestEncodeAsNumpy = nbest_encode_as_pieces, nbest_encode_as_numpy
    NBestEncodeAsProto = nbest_encode_as_proto
    NBestEncodeAsSerializedProto = nbest_encode_as_serialized_proto
    NBestEncodeAsImmutableProto = nbest_encode_as_immutable_proto
    SampleEncodeAndScore = sample_encode_and_score
    SampleEncodeAndScoreAsIds = sample_encode_and_score_as_ids
    SampleEncodeAndScoreAsPieces = sample_encode_and_score_as_pieces
    SampleEncodeAndScoreAsSerializedProto = sample_encode_and_score_as_serialized_proto
    SampleEncodeAndScoreAsImmutableProto = sample_encode_and_score_as_immutable_proto
    CalculateEntropy = calculate_entropy
    Decode, Detokenize, detokenize = decode, decode, decode
    DecodeIds, DecodePieces = decode_ids, decode_pieces
    DecodeIdsAsProto, DecodePiecesAsProto = decode_ids_as_proto, decode_ids_as_proto
    decode_pieces_as_proto = decode_ids_as_proto
    DecodeIdsAsSerializedProto = decode_ids_as_serialized_proto
    DecodePiecesAsSerializedProto = decode_ids_as_serialized_proto
    decode_pieces_as_serialized_proto = decode_ids_as_serialized_proto
    DecodeIdsAsImmutableProto = decode_ids_as_immutable_proto
    DecodePiecesAsImmutableProto = decode_ids_as_immutable_proto
    decode_pieces_as_immutable_proto = decode_ids_as_immutable_proto
    PieceToId, IdToPiece, GetScore = piece_to_id, id_to_piece, get_score
    IsUnknown, IsControl, IsUnused, IsByte = is_unknown, is_control, is_unused, is_byte
    SetVocabulary, ResetVocabulary = set_vocabulary, reset_vocabulary
    LoadVocabulary = load_vocabulary
    Normalize, OverrideNormalizerSpec = normalize, override_normalizer_spec
    SetEncodeExtraOptions = set_encode_extra_options
    SetDecodeExtraOptions = set_decode_extra_options


class ThreadPool:
    """A number of threads, for the argument ``thread_pool`` of calls.

    Args:
        num_threads: the number; negative for the cores of this machine.
    """

    def __init__(self, num_threads: int) -> None:
        self._count = max(num_threads if num_threads >= 0 else os.cpu_count() or 1, 1)

    def num_threads(self) -> int:
        """Return the number of threads."""
        return self._count


def _checked(read: Callable[[], _Found]) -> _Found:
    try:
        return read()
    except (FormatError, UnsupportedError) as wrong:
        raise SentencePieceError(str(wrong)) from wrong


def _without_model(call: str, options: dict[str, Any]) -> dict[str, Any]:
    if {"model_file", "model_proto"} & options.keys():
        raise SentencePieceError(
            f"{call} takes the model first: leave model_file and model_proto out"
        )
    return options


def _check_texts(texts: Sequence[Any]) -> None:
    for text in texts:
        if not isinstance(text, str | bytes):
            raise PieceTypeError(f"{text!r:.40} is no text: use a str, or UTF-8 bytes")


def _rows_of(given: Any) -> tuple[Sequence[Sequence[Any]], bool]:
    """Return the lists of ids or pieces to decode, and whether there are several."""
    if given is None or (isinstance(given, str | bytes) and not given):
        return [[]], False
    if isinstance(given, str | bytes) or not hasattr(given, "__len__"):
        return [[given]], False
    if hasattr(given, "ndim"):
        return (given, True) if given.ndim > 1 else ([given], False)
    is_batch = (
        len(given) > 0 and hasattr(given[0], "__len__") and not isinstance(given[0], str | bytes)
    )
    return (given, True) if is_batch else ([given], False)
