"""Normalized text: what the normalizer of a pipeline makes of a text, and where it comes from."""

from __future__ import annotations

from toksmith._base.arrays import SpanArray
from toksmith._base.lazy import np
from toksmith._base.text import Text, characters, without_surrogates
from toksmith.engine.stepwise import aligned_text, keeps_bytes, plain_text
from toksmith.pipeline import Pipeline
from toksmith.stages.normalize import normalize


def normalized_text(pipeline: Pipeline, text: Text) -> str:
    """Return the normalized text, with U+FFFD for each invalid byte that is left."""
    return without_surrogates(
        normalize(pipeline.normalizer, plain_text(text, keeps_bytes(pipeline)))
    )


def located_text(pipeline: Pipeline, text: Text) -> tuple[str, SpanArray]:
    """Return the normalized text, and the characters that each of its characters comes from."""
    found = normalize(pipeline.normalizer, aligned_text(text, keeps_bytes(pipeline)))
    places = np.array([found.starts, found.ends], np.int64).T
    return without_surrogates(found.text), characters(text, places)[1]
