"""Engines: they run a pipeline, in the compiled kernel or in plain Python.

Two environment variables choose, when a tokenizer is created:

- ``TOKSMITH_ENGINE``: ``kernel`` or ``reference``; default: the kernel, or the reference with a
  warning if no compiled module is installed;
- ``TOKSMITH_ISA``: ``scalar``, ``avx2``, ``avx512`` or ``neon``; default: the best of this machine.

Only this room imports the compiled module. Without it the reference engine still works: modules
that need the compiled module are imported where they are used.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from toksmith._base.arrays import Bounds, Continuing, IdArray
from toksmith._base.lazy import np, npt
from toksmith._base.records import replace
from toksmith._base.text import Text
from toksmith.engine.compiled import can_do_without
from toksmith.errors import EngineError, UnsupportedError
from toksmith.framing import AddedSearch
from toksmith.framing.added import NONE
from toksmith.models import BPE, LongestMatch, Model
from toksmith.pipeline import Pipeline
from toksmith.results import Batch, LocatedBatch
from toksmith.splitters import LeadingSpace, SplitterSequence

if TYPE_CHECKING:
    from toksmith.engine.stepwise import StepwiseEncoder


class Encoder(Protocol):
    """Encodes texts without special tokens.

    Texts are strings, or bytes of any kind. Surrogates in a string are replaced as by `text.utf8`.
    """

    def encode(self, text: Text, threads: int) -> IdArray:
        """Return the ids of a text."""

    def encode_list(self, text: Text, threads: int) -> list[int]:
        """Return the ids of a text as a list."""

    def encode_texts(self, texts: Sequence[Text], threads: int) -> Batch:
        """Return the ids of each text."""

    def encode_slices(self, text: Text, bounds: Bounds, threads: int) -> Batch:
        """Return the ids of each slice of a text, each as a separate document."""

    def encode_segments(
        self, text: Text, bounds: Bounds, threads: int, literals: frozenset[str] = NONE
    ) -> Batch:
        """Return the ids of each segment of one document, between its added tokens.

        Segments differ from documents if the pipeline treats the start of a document specially.

        ``literals``: the added tokens to find in the segments once these are normalized; empty if
        the pipeline has no normalizer.
        """

    def encode_with_spans(
        self,
        texts: Sequence[Text],
        threads: int,
        continuing: Continuing | None = None,
        literals: frozenset[str] = NONE,
    ) -> LocatedBatch:
        """Return the ids of each text, and the bytes and characters that each token covers.

        ``continuing``: whether each text is a later segment of its document, not its start;
        ``None`` if none is. ``literals``: as in :meth:`encode_segments`.
        """

    def encode_around(self, texts: Sequence[Text], threads: int, added: AddedSearch) -> Batch:
        """Return the ids of each text and of the added tokens in it."""

    def locate_around(
        self, texts: Sequence[Text], threads: int, added: AddedSearch
    ) -> LocatedBatch:
        """Return the same with spans, see :meth:`encode_with_spans`."""

    def count(self, text: Text, threads: int) -> int:
        """Return the number of tokens of a text."""

    def forget(self, cache_bytes: int | None = None) -> None:
        """Empty the caches, and set the limit of each if one is given."""


class IdDecoder(Protocol):
    """Turns ids into bytes, special tokens included; an unknown id is an UnknownTokenError."""

    def check(self, ids: IdArray, threads: int) -> bool:
        """Return whether all ids have bytes; a known id may have none."""

    def decode(self, ids: IdArray, threads: int) -> bytes:
        """Return the bytes of the ids."""

    def decode_text(self, ids: IdArray, errors: str, threads: int, before: bytes = b"") -> str:
        """Return the text of the bytes ``before`` and of the ids after them.

        ``errors``: as in bytes.decode.
        """


def compile(pipeline: Pipeline) -> Encoder:  # noqa: A001  # the usual word, as in re.compile
    """Return an encoder that runs this pipeline.

    Raises:
        EngineError: the environment names an engine or instruction set that does not exist here.
    """
    # Imports stand where they are used: a pipeline that runs in the kernel alone needs few.
    if _is_reference() or _is_python_only(pipeline.model):
        from toksmith.engine.stepwise import ReferenceEncoder

        return ReferenceEncoder(pipeline)
    if isinstance(pipeline.model, BPE):
        return _compile_bpe(pipeline, pipeline.model)
    from toksmith.engine.fused import fuse

    return fuse(pipeline)


def _compile_bpe(pipeline: Pipeline, model: BPE) -> Encoder:
    """Return an encoder of byte-level BPE: the kernel's own where it can run the other stages."""
    if model.missing_bytes:
        from toksmith.engine.missing_bytes import make_encoder

        return make_encoder(pipeline, compile)
    if _puts_space_first(pipeline):
        from toksmith.engine.leading import put_space_first

        return put_space_first(pipeline, compile)
    from toksmith.engine.kernel import KernelEncoder
    from toksmith.engine.split_tables import splitter_for

    try:
        chunks = KernelEncoder(model, splitter_for(model, pipeline.splitter))
    except UnsupportedError:
        from toksmith.engine.fused import fuse

        return fuse(pipeline)
    if not pipeline.normalizer:
        return chunks
    from toksmith.engine.normalized import NormalizedEncoder
    from toksmith.engine.stepwise import StepwiseEncoder
    from toksmith.fusion.text_maps import find_text_map

    stepwise = StepwiseEncoder(replace(pipeline, splitter=None), chunks)
    text_map = find_text_map(pipeline.normalizer)
    return NormalizedEncoder(text_map, chunks, stepwise) if text_map else stepwise


def step_by_step(pipeline: Pipeline) -> StepwiseEncoder:
    """Return an encoder that splits a text in Python, and runs the model in the kernel if it can.

    It tells the chunks of a text apart, which :func:`compile`'s encoders need not do.
    """
    from toksmith.engine.stepwise import ReferenceEncoder, StepwiseEncoder

    model = pipeline.model
    lacks_bytes = isinstance(model, BPE) and model.missing_bytes
    if lacks_bytes or _is_python_only(model) or _is_reference():
        return ReferenceEncoder(pipeline)
    from toksmith.engine.kernel import KernelEncoder

    return StepwiseEncoder(pipeline, KernelEncoder(model))


def first_with(texts: Sequence[Text], literals: frozenset[str]) -> int | None:
    """Return the index of the first text that holds one of the literals; ``None`` if none does."""
    from toksmith.engine import around

    return around.first_with(texts, literals)


def _is_python_only(model: Model) -> bool:
    """Return whether the kernel does not have a model: its longest match knows characters alone."""
    return isinstance(model, LongestMatch) and model.unit == "bytes"


def _puts_space_first(pipeline: Pipeline) -> bool:
    """Return whether no step is before the one that puts a space first."""
    splitter = pipeline.splitter
    if not isinstance(splitter, SplitterSequence) or pipeline.normalizer:
        return False
    return isinstance(splitter.steps[0], LeadingSpace)


def make_decoder(tokens: Sequence[bytes], known: npt.NDArray[np.bool_] | None = None) -> IdDecoder:
    """Return a decoder of a vocabulary.

    Args:
        tokens: the bytes of each id, ``b""`` if it has none.
        known: whether each id exists; default: the ids that have bytes.
    """
    if _chosen_engine() == "kernel":
        from toksmith.engine.kernel import KernelDecoder

        return KernelDecoder(tokens, known)
    from toksmith.engine.stepwise import ReferenceDecoder

    return ReferenceDecoder(tokens, known)


def _is_reference() -> bool:
    return _chosen_engine() == "reference"


def _chosen_engine() -> str:
    name = os.environ.get("TOKSMITH_ENGINE")
    if not name:  # empty is the same as unset
        return "reference" if can_do_without() else "kernel"
    if name not in ("kernel", "reference"):
        raise EngineError(f"TOKSMITH_ENGINE is {name!r}: use kernel or reference")
    return name
