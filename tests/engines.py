"""Both engines behind one call, so that one test runs on both."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

import toksmith
from tests.kits.bpe import BYTES
from toksmith._base.arrays import IdArray
from toksmith._base.text import utf8
from toksmith.engine import Encoder, make_decoder
from toksmith.engine import compile as compiled
from toksmith.engine.stepwise import ReferenceDecoder, ReferenceEncoder
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.reference.bpe_training import training_steps
from toksmith.results import LocatedBatch
from toksmith.splitters import splitter
from toksmith.stages.split_patterns import chunk_spans

ENGINES = ("reference", "kernel")


def encoder(engine: str, pipeline: Pipeline) -> Encoder:
    """Return the engine's encoder of a pipeline."""
    return ReferenceEncoder(pipeline) if engine == "reference" else compiled(pipeline)


def assert_same_places(found: LocatedBatch, expected: LocatedBatch) -> None:
    """Assert that two batches have the same ids and spans, text by text."""
    assert len(found) == len(expected)
    for text, (start, end) in enumerate(pairwise(expected.offsets.tolist())):
        for name in ("ids", "byte_spans", "spans"):
            ours, theirs = (getattr(each, name) for each in (found, expected))
            ours, theirs = ours[found.offsets[text] : found.offsets[text + 1]], theirs[start:end]
            if not np.array_equal(ours, theirs):  # lists show how they differ, but are slow
                assert ours.tolist() == theirs.tolist(), (text, name)


def decode(engine: str, pipeline: Pipeline, ids: IdArray) -> bytes:
    """Return the bytes that the engine makes of ids."""
    make = ReferenceDecoder if engine == "reference" else make_decoder
    return make(pipeline.model.vocab).decode(ids, 1)


def train(
    engine: str, texts: Iterable[str | bytes], vocab_size: int, split: str | None, **options: Any
) -> Pipeline:
    """Return the pipeline that the engine learns."""
    if engine == "kernel":
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "the text ran out")  # small texts run out of pairs
            trained = toksmith.train(texts=texts, vocab_size=vocab_size, split=split, **options)
        return trained.pipeline
    return reference_pipeline(reference_steps(texts, vocab_size, split, **options), split)


def reference_steps(
    texts: Iterable[str | bytes], vocab_size: int, split: str | None, **options: Any
) -> list[tuple[tuple[int, int], int, int, bytes]]:
    """Return the steps of the reference: pair, count, new id, bytes."""
    counts: Counter[bytes] = Counter()
    for text in map(utf8, texts):
        counts.update(text[start:end] for start, end in chunk_spans(splitter(split), text))
    steps = training_steps(counts, vocab_size, **options)
    return [(step.pair, step.count, step.new, step.token) for step in steps]


def reference_pipeline(
    steps: list[tuple[tuple[int, int], int, int, bytes]], split: str | None
) -> Pipeline:
    vocab = list(BYTES) + [token for *_, token in steps]
    return Pipeline(BPE(tuple(vocab), [[*pair, new] for pair, _, new, _ in steps]), splitter(split))
