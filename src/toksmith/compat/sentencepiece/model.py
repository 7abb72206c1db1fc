"""A SentencePiece model, loaded: texts to segmentations, and back."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from toksmith._base.arrays import IdArray
from toksmith._base.lazy import np, npt
from toksmith._base.records import replace
from toksmith._base.text import Text, utf8
from toksmith.compat.sentencepiece.failures import SentencePieceError
from toksmith.compat.sentencepiece.messages import message_classes
from toksmith.compat.sentencepiece.normalizing import (
    Normalized,
    normalize_text,
    normalize_with_origins,
)
from toksmith.compat.sentencepiece.segmentation import Segmentation
from toksmith.decoders import SentencePieceDecoder
from toksmith.errors import UnsupportedError
from toksmith.formats import sentencepiece
from toksmith.formats.sentencepiece_pipeline import protected_symbols
from toksmith.models import Pieces, PieceType, SentencePieceBPE, Unigram
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.pipeline import Pipeline
from toksmith.reference import Token, unigram, unigram_sampling
from toksmith.reference.sentencepiece_bpe import Merger
from toksmith.results import LocatedBatch
from toksmith.stages.charsmap import character_map
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.subword_sampling import sample_ways

UNKNOWN, CONTROL, UNUSED, BYTE = (
    int(kind) for kind in (PieceType.UNKNOWN, PieceType.CONTROL, PieceType.UNUSED, PieceType.BYTE)
)

_LONGEST_KEY = 400
"""The most bytes that the normalizer replaces as one."""


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

    @classmethod
    def of(cls, data: bytes) -> Model:
        """Return the model in the content of a file.

        Raises:
            FormatError, UnsupportedError: see :func:`toksmith.formats.sentencepiece.read`.
        """
        where = Path("model_proto")
        try:
            return cls(sentencepiece.parse(data, where))
        except UnsupportedError:
            message = message_classes()["ModelProto"].FromString(data)
            if message.trainer_spec.model_type != sentencepiece.WORD:
                raise
        message.trainer_spec.model_type = sentencepiece.BPE
        return WordModel(sentencepiece.parse(message.SerializeToString(), where))

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
        found: list[str] = self._string_array[batch.ids].tolist()
        rows = [found[start:end] for start, end in pairwise(batch.offsets.tolist())]
        odd = self._rows_with_unknown(batch.ids, batch.offsets)
        for row, each in zip(odd, self.segment([texts[i] for i in odd], threads), strict=True):
            rows[row] = [piece.decode("utf-8", "replace") for piece in each.pieces]
        return rows

    def encode_pieces(self, texts: Sequence[Text], threads: int | None) -> list[list[bytes]]:
        """Return the pieces of each text; an unknown one is the text that it covers."""
        batch = self.tokenizer.encode_batch(texts, threads=threads)
        found: list[bytes] = self._vocab_array[batch.ids].tolist()
        offsets = batch.offsets.tolist()
        rows = [found[start:end] for start, end in pairwise(offsets)]
        odd = self._rows_with_unknown(batch.ids, batch.offsets)
        for row, segmentation in zip(
            odd, self.segment([texts[i] for i in odd], threads), strict=True
        ):
            rows[row] = segmentation.pieces
        return rows

    def segment(self, texts: Sequence[Text], threads: int | None) -> list[Segmentation]:
        """Return the segmentation of each text."""
        batch = self.tokenizer._encoder.locate(texts, "text", threads)
        begins, ends, silent = (each.tolist() for each in self._surfaces(batch))
        ids: list[int] = batch.ids.tolist()
        pieces: list[bytes] = self._vocab_array[batch.ids].tolist()
        offsets: list[int] = batch.offsets.tolist()
        found = []
        for text, (start, end) in zip(texts, pairwise(offsets), strict=True):
            part = slice(start, end)
            found.append(
                Segmentation(
                    utf8(text), ids[part], pieces[part], begins[part], ends[part], silent[part]
                )
            )
        for row in self._rows_with_unknown(batch.ids, batch.offsets):
            found[row] = self._with_unknown(found[row])
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

    def _surfaces(self, batch: LocatedBatch) -> tuple[npt.NDArray[Any], ...]:
        """Return the places of the surfaces in their texts, and which pieces have none.

        The surface of a character that became bytes belongs to the last one.
        """
        begins, ends = batch.byte_spans.T.copy()
        silent = np.zeros(len(begins), np.bool_)
        values = self._bytes_of_pieces[batch.ids]
        if (values >= 0).any():
            is_later = (values & 0xC0 == 0x80) & (values >= 0)  # not the first of its character
            place = np.arange(len(values))
            first = np.maximum.accumulate(np.where(is_later, 0, place))
            begins = begins[first]
            silent[:-1] = is_later[1:] & (values[:-1] >= 0)
            ends = np.where(silent, begins, ends)
        return begins, ends, silent

    def _rows_with_unknown(self, ids: IdArray, offsets: npt.NDArray[np.int64]) -> list[int]:
        """Return the texts that hold an unknown piece."""
        if self.unk_id < 0:
            return []
        places = np.flatnonzero(ids == np.uint32(self.unk_id))
        rows: list[int] = np.unique(np.searchsorted(offsets, places, "right") - 1).tolist()
        return rows

    def _with_unknown(self, row: Segmentation) -> Segmentation:
        """Return a segmentation with its unknown pieces as the normalized text that they cover."""
        pieces = row.pieces[:]
        for index, token_id in enumerate(row.ids):
            if token_id == self.unk_id:
                covered = self._normalized_alone(row, index)
                if covered is None:
                    return row._replace(pieces=self._normalized_pieces(row))
                pieces[index] = covered
        return row._replace(pieces=pieces)

    def _normalized_alone(self, row: Segmentation, index: int) -> bytes | None:
        """Return the normalized text of a piece by its surface alone, ``None`` if that is unsure.

        If the normalizer replaces something by several characters, two pieces may share it.
        """
        surface = row.surface(index)
        is_alone = surface and not any(
            self._becomes_several(row.text[place : place + _LONGEST_KEY])
            for place in (row.begins[index], row.ends[index])
        )
        if not is_alone:
            return None
        found = self._normalized_surface(surface)
        return None if b" " in found else found

    @cached_property
    def _normalized_surface(self) -> Callable[[bytes], bytes]:
        plain = SentencePieceNormalizer(self.normalizer.charsmap, False, False, False)
        return lru_cache(4096)(lambda surface: normalize_text(plain, surface).encode())

    def _becomes_several(self, text: bytes) -> bool:
        """Return whether the normalizer makes several characters of the start of a text."""
        string = text.decode("utf-8", "surrogateescape")
        found = character_map(self.normalizer.charsmap).longest(string) if string else None
        return found is not None and len(found[1]) > 1

    def _normalized_pieces(self, row: Segmentation) -> list[bytes]:
        """Return the pieces of a segmentation, after normalizing its text once more."""
        normalized = normalize_text(self.normalizer, row.text).encode()
        found = self._bare._encoder.locate([normalized], "text", 1)
        return [
            normalized[start:end] if token_id == self.unk_id else piece
            for piece, token_id, (start, end) in zip(
                row.pieces, found.ids.tolist(), found.byte_spans.tolist(), strict=True
            )
        ]

    @cached_property
    def _bare(self) -> Tokenizer:
        """The model for texts that are normalized already."""
        step = SentencePieceNormalizer(
            b"", False, False, False, protected=protected_symbols(self._pieces)
        )
        return Tokenizer(replace(self.pipeline, normalizer=(step,)))

    # Other segmentations

    def normalize(self, text: Text) -> Normalized:
        """Return a text as the normalizer leaves it, and where its bytes come from."""
        return normalize_with_origins(self.normalizer, utf8(text))

    def nbest(self, text: Text, size: int) -> list[Segmentation]:
        """Return the best segmentations with their scores, the best first."""
        normalized = self.normalize(text)
        found = unigram_sampling.nbest(self._lattice("NBestEncode"), normalized.text, size)
        return [self.place(text, normalized, tokens, score) for tokens, score in found]

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


class WordModel(Model):
    """A model whose pieces are whole words; adjacent unknown words are one unknown piece.

    With byte fallback, an unknown word becomes its bytes. It runs in Python, one text after the
    other.
    """

    @cached_property
    def _words(self) -> dict[bytes, int]:
        return self._pieces.ids_of_types(PieceType.NORMAL, PieceType.USER_DEFINED)

    def encode_one(self, text: str, threads: int | None) -> list[int]:
        """Return the ids of a text."""
        return self.segment([text], threads)[0].ids

    def encode(self, texts: Sequence[Text], threads: int | None) -> list[list[int]]:
        """Return the ids of each text."""
        return [row.ids for row in self.segment(texts, threads)]

    def encode_arrays(
        self, texts: Sequence[Text], threads: int | None
    ) -> list[npt.NDArray[np.int32]]:
        """Return the ids of each text as arrays."""
        return [np.array(ids, np.int32) for ids in self.encode(texts, threads)]

    def encode_pieces(self, texts: Sequence[Text], threads: int | None) -> list[list[bytes]]:
        """Return the pieces of each text; an unknown one is the text that it covers."""
        return [row.pieces for row in self.segment(texts, threads)]

    def encode_strings(self, texts: Sequence[Text], threads: int | None) -> list[list[str]]:
        """Return the pieces of each text as text."""
        rows = self.encode_pieces(texts, threads)
        return [[piece.decode("utf-8", "replace") for piece in row] for row in rows]

    def segment(self, texts: Sequence[Text], threads: int | None) -> list[Segmentation]:
        """Return the segmentation of each text."""
        found = []
        for text in texts:
            normalized = self.normalize(text)
            row = self.place(text, normalized, self._tokens(normalized.text))
            found.append(self._spell_unknown(row) if self._pieces.byte_fallback else row)
        return found

    def _spell_unknown(self, row: Segmentation) -> Segmentation:
        """Return a segmentation with unknown words as bytes; the last one has the surface."""
        spelled = Segmentation(row.text, [], [], [], [], [])
        for index, (token_id, piece) in enumerate(zip(row.ids, row.pieces, strict=True)):
            begin, end = row.begins[index], row.ends[index]
            ids, pieces = [token_id], [piece]
            if token_id == self.unk_id:
                ids = [self._pieces.byte_ids[byte] for byte in piece]
                pieces = [self.vocab[byte_id] for byte_id in ids]
            before = len(ids) - 1
            spelled.ids.extend(ids)
            spelled.pieces.extend(pieces)
            spelled.begins.extend([begin] * len(ids))
            spelled.ends.extend([*[begin] * before, end])
            spelled.silent.extend([*[True] * before, row.silent[index]])
        return spelled

    def _tokens(self, text: bytes) -> list[Token]:
        tokens: list[Token] = []
        for match in _WORD.finditer(text):
            token_id, (start, end) = self._words.get(match[0], self.unk_id), match.span()
            fuses = token_id == self.unk_id and not self._pieces.byte_fallback
            if fuses and tokens and tokens[-1].id == self.unk_id:
                start = tokens.pop().start
            tokens.append(Token(token_id, start, end))
        return tokens

    def sample(self, text: Text, nbest_size: int, alpha: float, rng: Random) -> Segmentation:
        """Refuse: a text has one segmentation."""
        raise SentencePieceError("SampleEncode is not available for a word model")


_WORD = re.compile(rb"\xe2\x96\x81(?:(?!\xe2\x96\x81).)*|(?:(?!\xe2\x96\x81).)+", re.DOTALL)
"""A word: ▁ and all up to the next one."""
