"""Runs byte-level BPE in which some bytes have no id, such as those of Falcon and StarCoder.

The kernel needs an id for every byte. It gets the vocabulary with further ids for the missing
bytes; no merge uses these. A text whose ids include one of them is encoded again, step by step:
chunks that hold a missing byte by the reference, all others by the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from toksmith._base.arrays import Bounds, Continuing, IdArray, SpanArray
from toksmith._base.lazy import np
from toksmith._base.records import replace
from toksmith._base.text import Text
from toksmith.engine.kernel import KernelEncoder
from toksmith.engine.stepwise import ReferenceChunks, StepwiseEncoder
from toksmith.framing import AddedSearch
from toksmith.framing.added import NONE
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.results import Batch, LocatedBatch, concat_located, stack

if TYPE_CHECKING:
    from toksmith.engine import Encoder


def make_encoder(pipeline: Pipeline, compile_all: Callable[[Pipeline], Encoder]) -> Encoder:
    """Return an encoder of a pipeline whose model lacks bytes.

    Args:
        pipeline: the pipeline.
        compile_all: compiles a pipeline whose model has all bytes.
    """
    model = pipeline.model
    assert isinstance(model, BPE)
    ids = [token.id for token in pipeline.framing.added_tokens]
    limit = max([len(model.vocab), *(token_id + 1 for token_id in ids)])
    vocab = (*model.vocab, *[b""] * (limit - len(model.vocab)))
    full = BPE(
        (*vocab, *(bytes([byte]) for byte in model.missing_bytes)),
        model.merges,
        model.whole_chunk_first,
    )
    chunks = _Chunks(KernelEncoder(full), model, limit)
    return MissingBytesEncoder(
        compile_all(replace(pipeline, model=full)),
        StepwiseEncoder(pipeline, chunks),
        limit,
    )


class MissingBytesEncoder:
    """An ``engine.Encoder`` that encodes again, by ``exact``, what has ids from ``limit`` on."""

    def __init__(self, fast: Encoder, exact: StepwiseEncoder, limit: int) -> None:
        self._fast = fast
        self._exact = exact
        self._limit = limit

    def encode(self, text: Text, threads: int) -> IdArray:
        """Return the ids of a text."""
        ids = self._fast.encode(text, threads)
        return ids if self._is_exact(ids) else self._exact.encode(text, threads)

    def encode_list(self, text: Text, threads: int) -> list[int]:
        """Return the ids of a text as a list."""
        ids = self._fast.encode_list(text, threads)
        if max(ids, default=0) < self._limit:
            return ids
        return self._exact.encode_list(text, threads)

    def encode_texts(self, texts: Sequence[Text], threads: int) -> Batch:
        """Return the ids of each text."""
        batch = self._fast.encode_texts(texts, threads)
        return _replace_rows(
            batch, self._limit, lambda row: self._exact.encode(texts[row], threads)
        )

    def encode_slices(self, text: Text, bounds: Bounds, threads: int) -> Batch:
        """Return the ids of each slice of a text, each as a separate document."""
        batch = self._fast.encode_slices(text, bounds, threads)

        def again(row: int) -> IdArray:
            return self._exact.encode_slices(text, bounds[row : row + 1], threads).ids

        return _replace_rows(batch, self._limit, again)

    def encode_segments(
        self, text: Text, bounds: Bounds, threads: int, literals: frozenset[str] = NONE
    ) -> Batch:
        """Return the ids of each segment of one document, between its added tokens."""
        batch = self._fast.encode_segments(text, bounds, threads, literals)

        def again(row: int) -> IdArray:
            return self._exact.encode_segments(text, bounds[row : row + 1], threads, literals).ids

        return _replace_rows(batch, self._limit, again)

    def encode_with_spans(
        self,
        texts: Sequence[Text],
        threads: int,
        continuing: Continuing | None = None,
        literals: frozenset[str] = NONE,
    ) -> LocatedBatch:
        """Return the ids of each text, and the bytes and characters that each token covers."""

        def locate(row: int, encoder: Encoder) -> LocatedBatch:
            flags = None if continuing is None else continuing[row : row + 1]
            return encoder.encode_with_spans(texts[row : row + 1], threads, flags, literals)

        found = self._fast.encode_with_spans(texts, threads, continuing, literals)
        return self._located(texts, found, locate)

    def _located(
        self,
        texts: Sequence[Text],
        found: LocatedBatch,
        locate: Callable[[int, Encoder], LocatedBatch],
    ) -> LocatedBatch:
        """Return a batch in which texts with missing bytes are located again."""
        if self._is_exact(found.ids):
            return found
        rows = np.searchsorted(found.offsets, np.flatnonzero(found.ids >= self._limit), "right") - 1
        wrong = set(rows.tolist())
        parts = [
            locate(row, self._exact if row in wrong else self._fast) for row in range(len(texts))
        ]
        return concat_located(parts)

    def encode_around(self, texts: Sequence[Text], threads: int, added: AddedSearch) -> Batch:
        """Return the ids of each text and of the added tokens in it."""
        batch = self._fast.encode_around(texts, threads, added)

        def again(row: int) -> IdArray:
            return self._exact.encode_around(texts[row : row + 1], threads, added).ids

        return _replace_rows(batch, self._limit, again)

    def locate_around(
        self, texts: Sequence[Text], threads: int, added: AddedSearch
    ) -> LocatedBatch:
        """Return the same with the bytes and characters that each token covers."""
        return self._located(
            texts,
            self._fast.locate_around(texts, threads, added),
            lambda row, encoder: encoder.locate_around(texts[row : row + 1], threads, added),
        )

    def count(self, text: Text, threads: int) -> int:
        """Return the number of tokens of a text."""
        return len(self.encode(text, threads))

    def forget(self, cache_bytes: int | None = None) -> None:
        """Empty the caches, and set the limit of each if one is given."""
        self._fast.forget(cache_bytes)
        self._exact.forget(cache_bytes)

    def _is_exact(self, ids: IdArray) -> bool:
        """Return whether all ids are of the vocabulary, so that no missing byte occurred."""
        return bool(ids.max(initial=0) < self._limit)


class _Chunks:
    """Runs the model on chunks: in the kernel, or by the reference where a byte is missing."""

    def __init__(self, kernel: KernelEncoder, model: BPE, limit: int) -> None:
        self._kernel = kernel
        self._reference = ReferenceChunks(model)
        self._limit = limit

    def encode_chunks(self, data: bytes, bounds: Bounds, threads: int) -> Batch:
        """Return the ids of each chunk ``data[start:end]``."""

        def again(row: int) -> IdArray:
            return self._reference.encode_chunks(data, bounds[row : row + 1]).ids

        return _replace_rows(self._kernel.encode_chunks(data, bounds, threads), self._limit, again)

    def encode_chunks_with_spans(self, data: bytes, bounds: Bounds) -> tuple[Batch, SpanArray]:
        """Return the ids of each chunk, and the bytes of ``data`` that each token covers."""
        return self._reference.encode_chunks_with_spans(data, bounds)

    def forget(self, cache_bytes: int | None = None) -> None:
        """Empty the caches, and set the limit of each if one is given."""
        self._kernel.forget(cache_bytes)
        self._reference.forget(cache_bytes)


def _replace_rows(batch: Batch, limit: int, again: Callable[[int], IdArray]) -> Batch:
    """Return a batch in which rows with ids from ``limit`` on are made again."""
    places = np.flatnonzero(batch.ids >= limit)
    if not len(places):
        return batch
    wrong = set((np.searchsorted(batch.offsets, places, "right") - 1).tolist())
    return stack([again(row) if row in wrong else ids for row, ids in enumerate(batch)])
