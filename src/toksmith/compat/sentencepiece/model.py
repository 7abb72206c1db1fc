"""A SentencePiece model, loaded: texts to segmentations, and back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from random import Random
from time import monotonic
from typing import Any, TypeVar

from toksmith._base.arrays import IdArray, OffsetArray, SpanArray
from toksmith._base.lazy import np, npt
from toksmith._base.records import replace
from toksmith._base.text import Text, utf8
from toksmith.compat.sentencepiece.failures import SentencePieceError
from toksmith.compat.sentencepiece.normalized_text import (
    Normalized,
    normalize_with_origins,
)
from toksmith.compat.sentencepiece.segmentation import Segmentation
from toksmith.compat.sentencepiece.segmentation_batch import SegmentedTexts
from toksmith.compat.sentencepiece.settings import nbest_seconds
from toksmith.compat.sentencepiece.unknown_pieces import UnknownPieces
from toksmith.decoders import SentencePieceDecoder
from toksmith.formats import sentencepiece
from toksmith.models import Pieces, PieceType, SentencePieceBPE, Unigram
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.pipeline import Pipeline
from toksmith.reference import Token, unigram, unigram_sampling
from toksmith.reference.sentencepiece_bpe import Merger
from toksmith.results import Batch, LocatedBatch
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.subword_sampling import sample_ways

_Item = TypeVar("_Item")

UNKNOWN, CONTROL, UNUSED, BYTE = (
    int(kind) for kind in (PieceType.UNKNOWN, PieceType.CONTROL, PieceType.UNUSED, PieceType.BYTE)
)


class Model:
    """A model that runs.

    Args:
        pipeline: its stages, as :func:`toksmith.formats.sentencepiece.parse` returns them.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.tokenizer = Tokenizer(pipeline)
        self.vocab: tuple[bytes, ...] = pipeline.model.vocab
        self.types: list[int] = self._pieces.types.tolist()
        self.scores: list[float] = [
            -math.inf if score == sentencepiece.LEAST else score
            for score in self._pieces.scores.tolist()
        ]

    def with_types(self, types: Sequence[int]) -> Model:
        """Return a model whose pieces have other types."""
        model = replace(self._pieces, types=np.array(types, np.uint8))
        assert isinstance(model, Unigram | SentencePieceBPE)
        return type(self)(replace(self.pipeline, model=model))

    def with_normalizer(self, step: SentencePieceNormalizer) -> Model:
        """Return a model with another normalizer."""
        decoder = replace(
            self.decoder,
            add_dummy_prefix=step.add_dummy_prefix,
            remove_extra_whitespaces=step.remove_extra_whitespaces,
        )
        return type(self)(replace(self.pipeline, normalizer=(step,), decoder=(decoder,)))

    @property
    def _pieces(self) -> Pieces:
        model = self.pipeline.model
        assert isinstance(model, Pieces)
        return model

    @property
    def normalizer(self) -> SentencePieceNormalizer:
        """The normalizer."""
        (step,) = self.pipeline.normalizer
        assert isinstance(step, SentencePieceNormalizer)
        return step

    @property
    def decoder(self) -> SentencePieceDecoder:
        """The decoder."""
        (step,) = self.pipeline.decoder or ()
        assert isinstance(step, SentencePieceDecoder)
        return step

    @property
    def is_unigram(self) -> bool:
        """Whether the model scores segmentations."""
        return isinstance(self.pipeline.model, Unigram)

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each piece."""
        return self._pieces.ids

    @property
    def unk_id(self) -> int:
        """The id of the unknown piece."""
        found = self._pieces.unk_id
        return -1 if found is None else found

    @cached_property
    def strings(self) -> list[str]:
        """The pieces as text."""
        return [piece.decode("utf-8", "replace") for piece in self.vocab]

    @cached_property
    def strings_to_ids(self) -> dict[str, int]:
        """The id of each piece, by its text."""
        return {piece: token_id for token_id, piece in enumerate(self.strings)}

    # Encoding

    def encode_one(self, text: str, threads: int | None) -> list[int]:
        """Return the ids of a text."""
        return self.tokenizer.encode(text, threads=threads)

    def encode(self, texts: Sequence[Text], threads: int | None) -> list[list[int]]:
        """Return the ids of each text."""
        return self.tokenizer.encode_batch(texts, threads=threads).to_lists()

    def encode_arrays(
        self, texts: Sequence[Text], threads: int | None
    ) -> list[npt.NDArray[np.int32]]:
        """Return the ids of each text: parts of one int32 array, which cannot be written to."""
        batch = self.tokenizer.encode_batch(texts, threads=threads)
        ids = batch.ids.view(np.int32)
        ids.flags.writeable = False
        return [ids[start:end] for start, end in pairwise(batch.offsets.tolist())]

    def encode_strings(self, texts: Sequence[Text], threads: int | None) -> list[list[str]]:
        """Return the pieces of each text as text; see :meth:`encode_pieces`."""
        batch = self.tokenizer.encode_batch(texts, threads=threads)
        rows = _rows(self._string_array[batch.ids].tolist(), batch.offsets)
        for row, place, piece in self._unknown_in(texts, batch, threads):
            rows[row][place] = piece.decode("utf-8", "replace")
        return rows

    def encode_pieces(self, texts: Sequence[Text], threads: int | None) -> list[list[bytes]]:
        """Return the pieces of each text; an unknown one is the text that it covers."""
        batch = self.tokenizer.encode_batch(texts, threads=threads)
        rows = _rows(self._vocab_array[batch.ids].tolist(), batch.offsets)
        for row, place, piece in self._unknown_in(texts, batch, threads):
            rows[row][place] = piece
        return rows

    def _unknown_in(
        self, texts: Sequence[Text], batch: Batch, threads: int | None
    ) -> Iterator[tuple[int, int, bytes]]:
        """Yield the row of each unknown piece, its number in that row, and its spelling."""
        places = np.flatnonzero(batch.ids == np.uint32(self.unk_id))
        if not len(places):
            return
        rows = batch.offsets.searchsorted(places, "right") - 1
        odd = np.unique(rows).tolist()
        found = self._segmented([texts[row] for row in odd], threads)
        numbers = (places - batch.offsets[rows]).tolist()
        for row, number, place in zip(rows.tolist(), numbers, found.unknown, strict=True):
            yield row, number, found.pieces[place]

    def segment(self, texts: Sequence[Text], threads: int | None) -> list[Segmentation]:
        """Return the segmentation of each text."""
        return self._segmented(texts, threads).rows()

    def serialize(self, texts: Sequence[Text], threads: int | None) -> list[bytes]:
        """Return the message ``SentencePieceText`` of each text."""
        return self._segmented(texts, threads).serialize()

    def offset_mappings(
        self, texts: Sequence[str], threads: int | None
    ) -> list[dict[str, list[Any]]]:
        """Return the ids, the pieces and their places in characters of each text."""
        batch = self.tokenizer._encoder.locate(texts, "text", threads)
        found = self._with_surfaces(texts, batch)
        begins, ends, _ = self._surfaces(batch.ids, batch.spans)
        pieces: list[str] = self._string_array[batch.ids].tolist()
        for place in found.unknown:
            pieces[place] = found.pieces[place].decode("utf-8", "replace")
        places = list(zip(begins.tolist(), ends.tolist(), strict=True))
        return [
            {"ids": ids, "pieces": row, "offsets": offsets}
            for ids, row, offsets in zip(
                _rows(batch.ids.tolist(), batch.offsets),
                _rows(pieces, batch.offsets),
                _rows(places, batch.offsets),
                strict=True,
            )
        ]

    def _segmented(self, texts: Sequence[Text], threads: int | None) -> SegmentedTexts:
        return self._with_surfaces(texts, self.tokenizer._encoder.locate(texts, "text", threads))

    def _with_surfaces(self, texts: Sequence[Text], batch: LocatedBatch) -> SegmentedTexts:
        begins, ends, silent = self._surfaces(batch.ids, batch.byte_spans)
        found = SegmentedTexts(
            [utf8(text) for text in texts],
            batch.offsets,
            batch.ids,
            self._vocab_array[batch.ids].tolist(),
            begins,
            ends,
            silent,
            np.flatnonzero(batch.ids == np.uint32(self.unk_id)).tolist(),
        )
        self._unknown_pieces.spell(found)
        return found

    @cached_property
    def _vocab_array(self) -> npt.NDArray[np.object_]:
        return np.array(self.vocab, object)

    @cached_property
    def _string_array(self) -> npt.NDArray[np.object_]:
        return np.array(self.strings, object)

    @cached_property
    def _bytes_of_pieces(self) -> npt.NDArray[np.int64]:
        """The byte of each byte piece; -1 for the others."""
        values = np.full(len(self.vocab), -1)
        for token_id in self._pieces.of_type(PieceType.BYTE):
            values[token_id] = int(self.vocab[token_id][3:5], 16)
        return values

    def _surfaces(
        self, ids: IdArray, spans: SpanArray
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Return where surfaces begin and end, and which pieces have none.

        The surface of a character that became bytes belongs to the last one.
        """
        begins, ends = spans.T.copy()
        silent = np.zeros(len(begins), np.bool_)
        values = self._bytes_of_pieces[ids]
        if (values >= 0).any():
            is_later = (values & 0xC0 == 0x80) & (values >= 0)  # not the first of its character
            place = np.arange(len(values))
            first = np.maximum.accumulate(np.where(is_later, 0, place))
            begins = begins[first]
            silent[:-1] = is_later[1:] & (values[:-1] >= 0)
            ends = np.where(silent, begins, ends)
        return begins, ends, silent

    @cached_property
    def _unknown_pieces(self) -> UnknownPieces:
        return UnknownPieces(self.pipeline, self.normalizer)

    # Other segmentations

    def normalize(self, text: Text) -> Normalized:
        """Return a text as the normalizer leaves it, and where its bytes come from."""
        return normalize_with_origins(self.normalizer, utf8(text))

    def nbest(self, text: Text, size: int) -> list[Segmentation]:
        """Return the best segmentations with their scores, the best first."""
        normalized = self.normalize(text)
        lattice = self._lattice("NBestEncode")
        edges_to = unigram_sampling.incoming(lattice, normalized.text)
        limit = nbest_seconds()
        try:
            timed = _Timed(edges_to, monotonic() + limit) if limit and size > 1 else edges_to
            ways = unigram_sampling.paths_through(timed, size)
        except TimeoutError:
            ways = unigram_sampling.paths_through(edges_to, 1)
        return [
            self.place(
                text, normalized, unigram.tokens(lattice.model, normalized.text, path), score
            )
            for path, score in ways
        ]

    def sample(self, text: Text, nbest_size: int, alpha: float, rng: Random) -> Segmentation:
        """Return a random segmentation.

        Args:
            text: the text.
            nbest_size: draw from this many of the best segmentations; negative draws from all.
            alpha: the power of the probabilities; for BPE, the probability that a merge is skipped.
            rng: the source of randomness.
        """
        normalized = self.normalize(text)
        if isinstance(self.pipeline.model, SentencePieceBPE):
            tokens = self._drop_merges(normalized.text, alpha, rng)
        elif nbest_size in (0, 1):
            return self.segment([text], 1)[0]
        elif nbest_size < 0:
            tokens = unigram_sampling.sample(
                self._lattice("SampleEncode"), normalized.text, alpha, rng
            )
        else:
            lattice = self._lattice("SampleEncode")
            ways = unigram_sampling.nbest(lattice, normalized.text, nbest_size)
            weights = [np.exp(alpha * (score - ways[0][1])) for _, score in ways]
            (tokens,) = rng.choices([tokens for tokens, _ in ways], weights)
        return self.place(text, normalized, tokens)

    def _drop_merges(self, text: bytes, chance: float, rng: Random) -> list[Token]:
        return self._merger.encode(text, chance, rng)

    @cached_property
    def _merger(self) -> Merger:
        model = self.pipeline.model
        assert isinstance(model, SentencePieceBPE)
        return Merger(model)

    def _lattice(self, call: str) -> unigram.Lattice:
        if not self.is_unigram:
            raise SentencePieceError(
                f"{call} is not available for this model: only Unigram scores segmentations"
            )
        return self._unigram_lattice

    @cached_property
    def _unigram_lattice(self) -> unigram.Lattice:
        model = self.pipeline.model
        assert isinstance(model, Unigram)
        return unigram.Lattice(model)

    def place(
        self,
        text: Text,
        normalized: Normalized,
        tokens: Sequence[Token],
        score: float | None = None,
    ) -> Segmentation:
        """Return the segmentation of a text, of the tokens of its normalized form."""
        ids = [token.id for token in tokens]
        origins = normalized.origins
        pieces = [
            normalized.text[token.start : token.end] if token.id == self.unk_id
            else self.vocab[token.id]
            for token in tokens
        ]  # fmt: skip
        silent = [
            self.types[token.id] == BYTE and normalized.text[token.end : token.end + 1] >= b"\x80"
            and normalized.text[token.end : token.end + 1] < b"\xc0"
            for token in tokens
        ]  # fmt: skip
        begins = [origins[token.start] for token in tokens]
        ends = [
            begin if is_silent else origins[token.end]
            for token, begin, is_silent in zip(tokens, begins, silent, strict=True)
        ]
        if score is not None:
            score = float(np.float32(score))
        return Segmentation(utf8(text), ids, pieces, begins, ends, silent, score=score)

    def sample_with_scores(
        self,
        text: Text,
        count: int,
        alpha: float,
        are_distinct: bool,
        include_best: bool,
        rng: Random,
    ) -> list[Segmentation]:
        """Return random segmentations with scores.

        Args:
            text: the text.
            count: the number of segmentations.
            alpha: the power of the probabilities.
            are_distinct: whether the segmentations differ; their scores are then the logarithms of
                the probabilities that they are drawn, else of their probabilities.
            include_best: whether the best segmentation is first, with the score 0.
            rng: the source of randomness.
        """
        normalized = self.normalize(text)
        lattice = self._lattice("SampleEncodeAndScore")
        ways = sample_ways(
            unigram_sampling.incoming(lattice, normalized.text), count, alpha, rng,
            distinct=are_distinct, include_best=include_best,
        )  # fmt: skip
        return [
            self.place(
                text, normalized, unigram.tokens(lattice.model, normalized.text, path), score
            )
            for path, score in ways
        ]

    def entropy(self, text: Text, alpha: float) -> float:
        """Return the entropy of the segmentations of a text, in nats."""
        lattice = self._lattice("CalculateEntropy")
        edges_to = unigram_sampling.incoming(lattice, self.normalize(text).text)
        return unigram_sampling.entropy(edges_to, alpha)


class _Timed(dict[int, list[unigram.Edge]]):
    """The edges of a lattice; looking at them after a deadline raises TimeoutError."""

    def __init__(self, edges_to: Mapping[int, list[unigram.Edge]], deadline: float) -> None:
        super().__init__(edges_to)
        self._deadline = deadline

    def items(self) -> Iterator[tuple[int, list[unigram.Edge]]]:  # type: ignore[override]
        """Yield each place with the edges that end there."""
        for item in super().items():
            if monotonic() > self._deadline:
                raise TimeoutError
            yield item


def _rows(items: list[_Item], offsets: OffsetArray) -> list[list[_Item]]:
    return [items[start:end] for start, end in pairwise(offsets.tolist())]
