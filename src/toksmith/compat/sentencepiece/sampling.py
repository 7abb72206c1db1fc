"""Several segmentations of a text: the best ones, random ones with scores, their entropy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from toksmith._base.text import Text
from toksmith.compat.sentencepiece.failures import SentencePieceError
from toksmith.compat.sentencepiece.forms import Marks, OutType, with_form
from toksmith.compat.sentencepiece.immutable import ImmutableNBestSentencePieceText
from toksmith.compat.sentencepiece.messages import message_classes
from toksmith.compat.sentencepiece.options import ModelWithOptions, check_count
from toksmith.compat.sentencepiece.segmentation import Segmentation, serialize_all
from toksmith.compat.sentencepiece.settings import RANDOM

_best = partial(with_form, "nbest_encode", positional=("nbest_size",))
_scored = partial(with_form, "sample_encode_and_score", positional=("num_samples", "alpha"))


class Sampling(ModelWithOptions):
    """The calls that return several segmentations of a text."""

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
        size = self._nbest_size if nbest_size is None else check_count("nbest_size", nbest_size)
        size = max(size, 1)
        return self._for_each(
            input, lambda text: self._several(self._model.nbest(text, size), form, marks)
        )

    NBestEncode = nbest_encode

    nbest_encode_as_ids = _best(int)
    NBestEncodeAsIds = nbest_encode_as_ids
    nbest_encode_as_pieces = _best(str)
    NBestEncodeAsPieces = nbest_encode_as_pieces
    nbest_encode_as_numpy = _best("numpy")
    NBestEncodeAsNumpy = nbest_encode_as_numpy
    nbest_encode_as_proto = _best("proto")
    NBestEncodeAsProto = nbest_encode_as_proto
    nbest_encode_as_serialized_proto = _best("serialized_proto")
    NBestEncodeAsSerializedProto = nbest_encode_as_serialized_proto
    nbest_encode_as_immutable_proto = _best("immutable_proto")
    NBestEncodeAsImmutableProto = nbest_encode_as_immutable_proto

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

    SampleEncodeAndScore = sample_encode_and_score

    sample_encode_and_score_as_ids = _scored(int)
    SampleEncodeAndScoreAsIds = sample_encode_and_score_as_ids
    sample_encode_and_score_as_pieces = _scored(str)
    SampleEncodeAndScoreAsPieces = sample_encode_and_score_as_pieces
    sample_encode_and_score_as_serialized_proto = _scored("serialized_proto")
    SampleEncodeAndScoreAsSerializedProto = sample_encode_and_score_as_serialized_proto
    sample_encode_and_score_as_immutable_proto = _scored("immutable_proto")
    SampleEncodeAndScoreAsImmutableProto = sample_encode_and_score_as_immutable_proto

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

    CalculateEntropy = calculate_entropy

    def _several(self, rows: Sequence[Segmentation], form: OutType, marks: Marks) -> Any:
        """Return several segmentations of one text in the form that is wanted."""
        rows = [self._with_extra(row, self._encode_extra) for row in rows]
        found = marks.of_rows(rows, form)
        if found is not None:
            return found
        if form == "immutable_proto":
            return ImmutableNBestSentencePieceText(rows)
        if form == "offset_mapping":
            raise SentencePieceError("offset_mapping is for one segmentation: use another out_type")
        data = serialize_all(rows)
        if form == "serialized_proto":
            return data
        return message_classes()["NBestSentencePieceText"].FromString(data)
