"""Figures of each file of a training text: its chunks, its tokens, and its share of the merges.

Counting adds up the chunks of all files, so the figures come from a sample of each file, which the
trained tokenizer encodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from toksmith.corpus import FileRead
from toksmith.corpus.paths import ONE
from toksmith.engine.counting import ChunkCounter
from toksmith.errors import TrainingError
from toksmith.models import BPE, LongestMatch
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter, WhitespaceSplit
from toksmith.tokenizer import Tokenizer
from toksmith.tokenizer.training_record import SourceRecord
from toksmith.trainers.corpus import Corpus
from toksmith.trainers.word_counts import count_words


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
    records = [_record(file, tok, threads) for file in files]
    if not isinstance(pipeline.model, BPE) or any(record.tokens is None for record in records):
        return tuple(records)
    merges = [max(0, each.bytes - (each.tokens or 0)) * each.weight for each in records]
    total = sum(merges) or 1
    return tuple(
        replace(record, merge_share=number / total)
        for record, number in zip(records, merges, strict=True)
    )


def _record(file: FileRead, tok: Tokenizer, threads: int) -> SourceRecord:
    record = SourceRecord(
        path=str(file.path),
        size=file.size,
        sha256=None if file.hash is None else file.hash.hexdigest(),
        documents=file.documents,
        bytes=file.bytes,
        weight=file.weight / ONE,
    )
    if file.sample is None:
        return record
    documents = file.sample.documents()
    sampled = sum(map(len, documents))
    factor = file.bytes / sampled if sampled else 0.0
    chunks = _count_chunks(documents, tok.pipeline, threads)
    tokens = int(tok.count_batch(documents, threads=threads).sum())
    return replace(
        record, sampled=sampled, chunks=round(chunks * factor), tokens=round(tokens * factor)
    )


def _count_chunks(documents: Sequence[bytes], pipeline: Pipeline, threads: int) -> int:
    """Return the number of chunks of documents."""
    normalizer, splitter = pipeline.normalizer, pipeline.splitter
    if isinstance(pipeline.model, LongestMatch):
        return sum(len(text.decode("utf-8", "replace")) for text in documents)
    if any(isinstance(step, SentencePieceNormalizer) for step in normalizer):
        normalizer, splitter = (), WhitespaceSplit()
    if not normalizer and isinstance(splitter, PatternSplitter | None):
        counter = ChunkCounter(splitter, threads)
        counter.add_texts(documents)
        return int(counter.finish()[2].sum())
    with suppress(TrainingError):  # there are no words
        corpus = Corpus(texts=documents, threads=threads, progress=False)
        return int(count_words(corpus, normalizer, splitter).counts.sum())
    return 0
