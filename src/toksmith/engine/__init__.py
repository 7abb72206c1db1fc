"""From a pipeline to something that runs it; an importer of the compiled module.

Two engines answer to the same calls: the kernel, and the reference in plain Python. Two
environment variables choose, when a tokenizer is made:

- ``TOKSMITH_ENGINE``: ``kernel`` (default) or ``reference``;
- ``TOKSMITH_ISA``: ``scalar``, ``avx2`` or ``avx512``; without it, the best of this machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Protocol, TypeAlias

from toksmith import _kernel
from toksmith._base.arrays import IdArray, SpanArray
from toksmith._base.checks import assert_never
from toksmith._base.lazy import np, npt
from toksmith._base.text import Text, decode_utf8, utf8
from toksmith.errors import EngineError, UnknownTokenError
from toksmith.framing.added import NONE
from toksmith.models import (
    BPE,
    CharacterBPE,
    LongestMatch,
    Model,
    SentencePieceBPE,
    Unigram,
    WordLevel,
    WordPiece,
)
from toksmith.pipeline import Pipeline
from toksmith.results import Batch
from toksmith.splitters import PatternSplitter

Bounds: TypeAlias = "npt.NDArray[np.int64]"
"""Slices of a text: int64, shape ``(n, 2)``, start and end in bytes, in order."""

CACHE_BYTES: int = _kernel.CACHE_BYTES
"""The most memory that a cache of chunks takes, in bytes, unless it is set."""


class Encoder(Protocol):
    """What an engine does for a tokenizer; special tokens are none of its business.

    Texts are strings, or bytes of any kind. Surrogates in a string are replaced as by `text.utf8`.
    """

    def encode(self, text: Text, threads: int) -> IdArray:
        """Return the ids of a text."""

    def encode_list(self, text: Text, threads: int) -> list[int]:
        """Return the ids of a text as a list."""

    def encode_texts(self, texts: Sequence[Text], threads: int) -> Batch:
        """Return the ids of each text."""

    def encode_slices(self, text: Text, bounds: Bounds, threads: int) -> Batch:
        """Return the ids of each slice of a text as a document of its own."""

    def encode_segments(
        self, text: Text, bounds: Bounds, threads: int, literals: frozenset[str] = NONE
    ) -> Batch:
        """Return the ids of each segment of one document, between its added tokens.

        They differ from documents where only the start of a document is special.

        ``literals``: the added tokens to be found in the segments once they are normalized; there
        are none where the pipeline has no normalizer.
        """

    def encode_with_spans(
        self, text: Text, at_start: bool = True, literals: frozenset[str] = NONE
    ) -> tuple[IdArray, SpanArray]:
        """Return the ids, and the bytes of the text that each token stands for.

        ``at_start``: whether the text is the start of its document, and not a later segment;
        ``literals``: as for segments.
        """

    def count(self, text: Text, threads: int) -> int:
        """Return how many ids a text has."""

    def forget(self, cache_bytes: int | None = None) -> None:
        """Give the memory of caches back, and take at most so much for each from now on."""


class Decoder(Protocol):
    """Ids back to bytes, special tokens included; UnknownTokenError names an id that has none."""

    def check(self, ids: IdArray, threads: int) -> bool:
        """Return whether each of the ids has bytes; known ones may have none."""

    def decode(self, ids: IdArray, threads: int) -> bytes:
        """Return the bytes of the ids."""

    def decode_text(self, ids: IdArray, errors: str, threads: int, before: bytes = b"") -> str:
        """Return the text of the bytes of the ids, behind others; ``errors`` as in bytes.decode."""


def compile(pipeline: Pipeline) -> Encoder:  # noqa: A001  # the usual word, as in re.compile
    """Return what runs this pipeline.

    Raises:
        EngineError: the environment asks for an engine or instruction set that is not there.
    """
    by_reference = _engine() == "reference"
    model, splitter = pipeline.model, pipeline.splitter
    family = splitter.family if isinstance(splitter, PatternSplitter) else None
    chunks = None
    if isinstance(model, BPE) and (family or splitter is None) and not by_reference:
        chunks = KernelEncoder(model, family.name if family else "none")
        if not pipeline.normalizer:
            return chunks
    # Only pipelines that are run in Python, all or in part, wait for this to be imported.
    from toksmith.engine.fused import FirstMarkEncoder, FusedEncoder
    from toksmith.engine.stepwise import ReferenceEncoder, StagedEncoder
    from toksmith.fusion.rules import staging

    if by_reference or (isinstance(model, LongestMatch) and model.unit == "bytes"):
        return ReferenceEncoder(pipeline)  # the kernel's longest match knows characters alone
    if chunks:
        return StagedEncoder(replace(pipeline, splitter=None), chunks)
    kernel = _kernel_model(model)
    staged = StagedEncoder(pipeline, KernelEncoder(model, "none", kernel))
    stages = staging(pipeline)
    if not stages:
        return staged
    fused = FusedEncoder if stages.keeps_start is None else FirstMarkEncoder
    return fused(kernel, stages, staged, instruction_set())


def decoder(tokens: Sequence[bytes], known: npt.NDArray[np.bool_] | None = None) -> Decoder:
    """Return what decodes a vocabulary.

    Args:
        tokens: the bytes of each id, ``b""`` where there are none.
        known: which ids there are; without it, those that have bytes.
    """
    if _engine() == "kernel":
        return KernelDecoder(tokens, known)
    from toksmith.engine.stepwise import ReferenceDecoder

    return ReferenceDecoder(tokens, known)


def instruction_set() -> str:
    """Return the instruction set that a tokenizer made now would run on.

    Raises:
        EngineError: ``TOKSMITH_ISA`` names one that is unknown, or that this machine lacks.
    """
    try:
        return _kernel.instruction_set(os.environ.get("TOKSMITH_ISA", ""))
    except ValueError as wrong:
        raise EngineError(f"TOKSMITH_ISA: {wrong}") from None


def first_invalid(text: Text, start: int, end: int) -> int:
    r"""Return the first byte from a place on that is invalid UTF-8, or the end.

    Args:
        text: the bytes.
        start: the place.
        end: where to stop.

    Raises:
        EngineError: ``TOKSMITH_ISA`` names an instruction set that is not there.

    Example:
        >>> first_invalid("né".encode() + b"\xff", 0, 4)
        3
    """
    return _kernel.first_invalid(text, start, end, instruction_set())


def recover_merges(vocab: Sequence[bytes]) -> npt.NDArray[np.uint32]:
    """Return the merges of a vocabulary whose ids are its ranks, as tiktoken's are.

    The merge of a token is the pair that its bytes come down to with all other tokens. A token
    that does not come down to a pair has none: only a look-up of the whole chunk finds it.

    Args:
        vocab: the bytes of each id, ``b""`` where there is none; every single byte has an id.

    Returns:
        uint32, shape ``(n, 3)``: left id, right id, resulting id, in rank order.
    """
    return _kernel.recover_merges(tuple(vocab)).reshape(-1, 3)


def read_ranks(data: bytes, most: int) -> tuple[bytes, ...] | None:
    """Return the tokens of a ``.tiktoken`` file by rank, ``b""`` where there is none.

    Returns:
        ``None`` where something is wrong with it: a line, a token or a rank that stands twice, or a
        rank above ``most``.
    """
    return _kernel.read_ranks(data, most)


class KernelEncoder:
    """A model behind one of the kernel's own splitters."""

    def __init__(self, model: Model, family: str, kernel: _kernel.Model | None = None) -> None:
        self._encoder = _kernel.Encoder(kernel or _kernel_model(model), family, instruction_set())
        self._vocab = model.vocab
        self._text_model = not isinstance(model, BPE)
        # The kernel's own, with nothing in between.
        self.encode = self._encoder.encode
        self.encode_list = self._encoder.encode_list
        self.count = self._encoder.count

    @cached_property
    def _lengths(self) -> npt.NDArray[np.int64]:
        return np.fromiter(map(len, self._vocab), np.int64, len(self._vocab))

    def encode_texts(self, texts: Sequence[Text], threads: int) -> Batch:
        """Return the ids of each text."""
        return Batch(*self._encoder.encode_texts(texts, threads))

    def encode_slices(self, text: Text, bounds: Bounds, threads: int) -> Batch:
        """Return the ids of each slice of a text as a document of its own."""
        return Batch(*self._encoder.encode_slices(text, bounds, threads))

    def encode_segments(
        self, text: Text, bounds: Bounds, threads: int, literals: frozenset[str] = NONE
    ) -> Batch:
        """Return the ids of each segment of one document."""
        return self.encode_slices(text, bounds, threads)

    def encode_with_spans(
        self, text: Text, at_start: bool = True, literals: frozenset[str] = NONE
    ) -> tuple[IdArray, SpanArray]:
        """Return the ids, and the bytes of the text that each token stands for."""
        ids = self._encoder.encode(text, 1)
        return ids, self._side_by_side(ids)

    def encode_chunks(self, data: bytes, bounds: Bounds, threads: int) -> Batch:
        """Return the ids of each chunk ``data[start:end]``."""
        return self.encode_slices(data, bounds, threads)

    def encode_chunks_with_spans(self, data: bytes, bounds: Bounds) -> tuple[Batch, SpanArray]:
        """Return the ids of each chunk, and the bytes of ``data`` that each token stands for."""
        if not self._text_model:
            batch = self.encode_slices(data, bounds, 1)
            return batch, self._side_by_side(batch.ids)
        ids, offsets, spans = self._encoder.encode_chunks_with_spans(data, bounds)
        return Batch(ids, offsets), spans.reshape(-1, 2)

    def _side_by_side(self, ids: IdArray) -> SpanArray:
        """Return the spans of tokens of bytes, which stand for these bytes."""
        lengths = self._lengths[ids]
        spans = np.empty((len(ids), 2), np.int64)
        np.cumsum(lengths, out=spans[:, 1])
        np.subtract(spans[:, 1], lengths, out=spans[:, 0])
        return spans

    def forget(self, cache_bytes: int | None = None) -> None:
        """Give the memory of caches back, and take at most so much for each from now on."""
        self._encoder.forget(cache_bytes)


class KernelDecoder:
    """The kernel's table of token bytes."""

    def __init__(self, tokens: Sequence[bytes], known: npt.NDArray[np.bool_] | None = None) -> None:
        flags = None if known is None else known.astype(np.uint8)
        self._decoder = _kernel.Decoder(tuple(tokens), flags)

    def check(self, ids: IdArray, threads: int) -> bool:
        """Return whether each of the ids has bytes; known ones may have none."""
        with _unknown_tokens():
            return self._decoder.check(ids, threads)

    def decode(self, ids: IdArray, threads: int) -> bytes:
        """Return the bytes of the ids."""
        with _unknown_tokens():
            return self._decoder.decode(ids, threads)

    def decode_text(self, ids: IdArray, errors: str, threads: int, before: bytes = b"") -> str:
        """Return the text of the bytes of the ids, behind others."""
        with _unknown_tokens():
            try:
                return self._decoder.decode_text(ids, "strict", threads, before)
            except UnicodeDecodeError as invalid:
                if errors == "strict":
                    raise
                data = invalid.object
        return decode_utf8(data, errors)


@contextmanager
def _unknown_tokens() -> Iterator[None]:
    try:
        yield
    except IndexError as unknown:
        raise UnknownTokenError(str(unknown)) from None


class ChunkCounter:
    """Counts the distinct chunks of documents; they are told apart by where they were first seen.

    Args:
        splitter: as in a pipeline.
        threads: how many threads count.
    """

    def __init__(self, splitter: PatternSplitter | None, threads: int) -> None:
        self._family = "none" if splitter is None else splitter.family and splitter.family.name
        self._splitter = splitter
        self._threads = threads
        self._counter = _kernel.ChunkCounter(self._family or "none", instruction_set())

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count documents."""
        if self._family:
            self._counter.add_texts(texts, self._threads)
            return
        for text in texts:
            data = utf8(text)
            self._add_matches(data)

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count slices of a text as documents."""
        if self._family:
            self._counter.add_slices(text, bounds, self._threads)
            return
        view = memoryview(text.encode() if isinstance(text, str) else text)
        for start, end in bounds.tolist():
            self._add_matches(bytes(view[start:end]))

    def add_counted(
        self, chunks: bytes, ends: npt.NDArray[np.uint64], counts: npt.NDArray[np.uint64]
    ) -> None:
        """Count chunks that were counted before: end to end, their ends, and their counts."""
        starts = np.concatenate([np.zeros(1, np.uint64), ends])[:-1]
        bounds = np.stack([starts, ends], axis=1).astype(np.int64)
        self._counter.add_chunks(chunks, bounds, counts)

    def cut(self, text: Text, start: int, end: int) -> int:
        """Return the first byte from start on where a document may be cut between chunks.

        Args:
            text: the text that holds the document.
            start: where to look from, in bytes.
            end: the document's end, which is the answer where there is no such place.
        """
        return _kernel.safe_cut(text, self._family, start, end) if self._family else end

    def spill_to(self, descriptor: int, memory: int) -> None:
        """From now on, write to a file what does not go into so many bytes of memory.

        What goes wrong with the file is an OSError.
        """
        self._counter.limit(memory, descriptor)

    def weigh(self, weight: int) -> None:
        """From now on, let each chunk count so often; only after :meth:`spill_to`."""
        self._counter.weigh(weight)

    @property
    def spilled(self) -> int:
        """How many bytes were written to the file."""
        return self._counter.spilled

    def merge(
        self, min_count: int, unit: int, memory: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Make one of equal chunks in the file, where there are any; to be called once, at the end.

        Args:
            min_count: chunks that are rarer are left out.
            unit: counts are rounded to it, half up, and divided by it.
            memory: about how many bytes this may take.

        Returns:
            How many distinct chunks, and bytes of them, stand in the text 0, 1, 2 … times; the last
            of all that stand there so often or more often. Empty where nothing was spilled.
        """
        return self._counter.merge(min_count, unit, memory)

    def finish(self) -> tuple[bytes, npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Return all chunks end to end, where each ends, and how often each was seen."""
        return self._counter.merged() if self.spilled else self._counter.finish()

    def _add_matches(self, data: bytes) -> None:
        from toksmith.stages.split_patterns import chunk_spans

        bounds = np.array(chunk_spans(self._splitter, data), np.int64).reshape(-1, 2)
        self._counter.add_chunks(data, bounds, np.ones(len(bounds), np.uint64))


def _engine() -> str:
    name = os.environ.get("TOKSMITH_ENGINE") or "kernel"  # empty is as good as unset
    if name not in ("kernel", "reference"):
        raise EngineError(f"TOKSMITH_ENGINE is {name!r}: use kernel or reference")
    return name


def _kernel_model(model: Model) -> _kernel.Model:
    match model:
        case BPE():
            merges = None if model.by_ranks else model.merges
            return _kernel.BpeModel(model.vocab, merges, model.whole_chunk_first)
        case CharacterBPE():
            return _make_character_bpe(model)
        case SentencePieceBPE():
            scores = model.scores.astype(np.float32)
            return _kernel.SentencePieceModel(
                model.vocab, scores, model.types, model.unk_id, model.byte_fallback
            )
        case Unigram():
            return _make_unigram(model)
        case WordPiece():
            limit = min(model.max_characters, 2**62)  # no chunk is longer
            return _kernel.wordpiece_model(model.vocab, model.unk_id, model.prefix, limit)
        case WordLevel():
            return _kernel.WordLevelModel(model.vocab, model.unk_id)
        case LongestMatch():
            return _kernel.LongestMatchModel(model.vocab, model.unk_id, model.fuse_unk)
        case _:
            assert_never(model)


def _make_character_bpe(model: CharacterBPE) -> _kernel.Model:
    return _kernel.CharacterModel(
        model.vocab,
        model.merges,
        model.unk_id,
        model.fuse_unk,
        model.byte_fallback,
        model.continuing_prefix,
        model.word_suffix,
        model.whole_chunk_first,
    )


def _make_unigram(model: Unigram) -> _kernel.Model:
    return _kernel.unigram_model(
        model.vocab,
        model.scores,
        model.types,
        model.unk_id,
        model.byte_fallback,
        model.fuse_unk,
        model.single,
    )
