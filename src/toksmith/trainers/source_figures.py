"""Figures of each file of a training text: its chunks, its tokens, and its share of the merges.

Counting adds up the chunks of all files, so the figures come from a sample of each file, which the
trained tokenizer encodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from toksmith._base.lazy import np, npt
from toksmith.corpus import FileRead
from toksmith.corpus.paths import ONE
from toksmith.engine.counting import ChunkCounter
from toksmith.engine.normalized import make_normalizer
from toksmith.models import BPE, LongestMatch, WordLevel
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.pipeline import Pipeline
from toksmith.splitters import Metaspace, PatternSplitter, WhitespaceSplit
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.training_record import SourceRecord

_BATCH = 1 << 20
"""The size of the samples that are encoded at a time in bytes; one may be longer."""
_IN_PYTHON = 1 << 18
"""The size in bytes of all samples for a tokenizer whose splitter or normalizer runs in Python."""
_ONE_WORD = WordLevel((b"<unk>",), 0)
"""A model that makes one token of each word."""


def source_records(
    files: Sequence[FileRead], pipeline: Pipeline, threads: int
) -> tuple[SourceRecord, ...]:
    """Return the records of the files of a training; waits for their hashes.

    Args:
        files: the files that were read.
        pipeline: the trained pipeline.
        threads: the number of threads.

    Raises:
        FormatError: a file can no longer be read.
    """
    tok = Tokenizer(pipeline)
    is_fast = isinstance(pipeline.model, WordLevel) or tok.engine.startswith("kernel")
    most = None if is_fast else _IN_PYTHON // max(1, len(files))
    records = [
        record for batch in _batches(files, most) for record in _records(batch, tok, threads)
    ]
    if not isinstance(pipeline.model, BPE) or any(record.tokens is None for record in records):
        return tuple(records)
    merges = [max(0, each.bytes - (each.tokens or 0)) * each.weight for each in records]
    total = sum(merges) or 1
    return tuple(
        replace(record, merge_share=number / total)
        for record, number in zip(records, merges, strict=True)
    )


_Sampled = tuple[FileRead, Sequence[bytes]]
"""A file and the documents of its sample."""


def _batches(files: Sequence[FileRead], most: int | None) -> Iterator[list[_Sampled]]:
    """Yield files with at most ``most`` bytes of each sample, but at least one document."""
    batch: list[_Sampled] = []
    size = 0
    for file in files:
        documents = file.sample.documents() if file.sample else ()
        if most is not None:
            documents = documents[:: 1 + sum(map(len, documents)) // (most + 1)]
        batch.append((file, documents))
        size += sum(map(len, documents))
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _records(batch: Sequence[_Sampled], tok: Tokenizer, threads: int) -> Iterator[SourceRecord]:
    texts = [text for _, documents in batch for text in documents]
    chunks = _chunks_of(texts, tok.pipeline, threads)
    if isinstance(tok.pipeline.model, WordLevel):
        tokens = chunks
    else:
        tokens = tok.count_batch(texts, threads=threads)
    figures = np.array([[*map(len, texts)], chunks, tokens], np.int64).reshape(3, -1)
    totals = np.concatenate([np.zeros((3, 1), np.int64), np.cumsum(figures, axis=1)], axis=1)
    start = 0
    for file, documents in batch:
        end = start + len(documents)
        sampled, found, encoded = (totals[:, end] - totals[:, start]).tolist()
        start = end
        factor = file.bytes / sampled if sampled else 0.0
        has_sample = file.sample is not None
        yield SourceRecord(
            path=str(file.path),
            size=file.size,
            sha256=None if file.hash is None else file.hash.hexdigest(),
            documents=file.documents,
            bytes=file.bytes,
            weight=file.weight / ONE,
            sampled=sampled,
            chunks=round(found * factor) if has_sample else None,
            tokens=round(encoded * factor) if has_sample else None,
        )


def _chunks_of(texts: Sequence[bytes], pipeline: Pipeline, threads: int) -> npt.NDArray[np.integer]:
    """Return the number of chunks of each document."""
    normalizer, splitter = pipeline.normalizer, pipeline.splitter
    if isinstance(pipeline.model, LongestMatch):
        return np.array([len(text.decode("utf-8", "replace")) for text in texts], np.int64)
    if any(isinstance(step, SentencePieceNormalizer) for step in normalizer):
        normalizer, splitter = (), WhitespaceSplit()
    if isinstance(splitter, PatternSplitter | None):
        if normalizer:
            texts = [*map(make_normalizer(normalizer), texts)]
        return ChunkCounter(splitter, threads).chunks_of(texts)
    if splitter == Metaspace() and not normalizer:
        return np.array([_count_marks(text) for text in texts], np.int64)
    words = Tokenizer(Pipeline(_ONE_WORD, splitter, normalizer=normalizer))
    return words.count_batch(texts, threads=threads)


_MARK = "▁".encode()


def _count_marks(text: bytes) -> int:
    """Return the number of words, each of which starts with a mark, as the first one does."""
    has_mark = not text or text.startswith((b" ", _MARK))
    return text.count(b" ") + text.count(_MARK) + (not has_mark)
