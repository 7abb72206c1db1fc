"""A pipeline whose normalizer and splitter run in the kernel too."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from toksmith import _kernel
from toksmith._base.arrays import IdArray, SpanArray
from toksmith._base.text import Text, without_surrogates
from toksmith.engine.stepwise import Bounds, StagedEncoder
from toksmith.framing.added import NONE
from toksmith.fusion.rules import OwnSpace, Staging
from toksmith.results import Batch, stack


class FusedEncoder:
    """A pipeline that the kernel runs with all its stages, chunk by cached chunk.

    Where neighbours have a say in how a text is rewritten, its spans come from the same stages one
    after the other, which keep the places of the original; so do ids where a chunk does not tell
    whether its space is the text's own.

    Args:
        model: the kernel's model.
        stages: what the kernel has to know of normalizer and splitter.
        staged: the same pipeline, stage after stage.
        instructions: the instruction set to run on.
    """

    def __init__(
        self, model: _kernel.Model, stages: Staging, staged: StagedEncoder, instructions: str
    ) -> None:
        self._staged = staged
        self._first_only = stages.first_only
        self._model = _kernel.FusedModel(
            model,
            stages.fill,
            stages.joined,
            stages.lead,
            stages.collapse,
            stages.trim,
            stages.origins,
            stages.fallback,
        )
        self._encoder = _kernel.Encoder(self._model, "model", instructions)

    def encode(self, text: Text, threads: int) -> IdArray:
        """Return the ids of a text."""
        try:
            return self._encoder.encode(text, threads)
        except OwnSpace:
            return self._staged.encode(text, threads)

    def encode_list(self, text: Text, threads: int) -> list[int]:
        """Return the ids of a text as a list."""
        try:
            return self._encoder.encode_list(text, threads)
        except OwnSpace:
            return self._staged.encode_list(text, threads)

    def encode_texts(self, texts: Sequence[Text], threads: int) -> Batch:
        """Return the ids of each text."""
        try:
            return Batch(*self._encoder.encode_texts(texts, threads))
        except OwnSpace:
            return stack([self.encode(text, threads) for text in texts])

    def encode_slices(self, text: Text, bounds: Bounds, threads: int) -> Batch:
        """Return the ids of each slice of a text as a document of its own."""
        try:
            return Batch(*self._encoder.encode_slices(text, bounds, threads))
        except OwnSpace:
            return self._staged.encode_slices(text, bounds, threads)

    def encode_segments(
        self, text: Text, bounds: Bounds, threads: int, literals: frozenset[str] = NONE
    ) -> Batch:
        """Return the ids of each segment of one document."""
        if literals:
            return self._staged.encode_segments(text, bounds, threads, literals)
        if not self._first_only:
            return self.encode_slices(text, bounds, threads)
        try:
            return Batch(*self._encoder.encode_segments(text, bounds, threads))
        except OwnSpace:
            return self._staged.encode_segments(text, bounds, threads)

    def encode_with_spans(
        self, text: Text, at_start: bool = True, literals: frozenset[str] = NONE
    ) -> tuple[IdArray, SpanArray]:
        """Return the ids, and the bytes of the text that each token stands for."""
        if not literals:
            with suppress(OwnSpace):
                starts = at_start or not self._first_only
                if found := self._model.encode_with_spans(text, starts):
                    ids, spans = found
                    return ids, spans.reshape(-1, 2)
        return self._staged.encode_with_spans(text, at_start, literals)

    def count(self, text: Text, threads: int) -> int:
        """Return how many ids a text has."""
        try:
            return self._encoder.count(text, threads)
        except OwnSpace:
            return self._staged.count(text, threads)

    def forget(self, cache_bytes: int | None = None) -> None:
        """Give the memory of caches back, and take at most so much for each from now on."""
        self._encoder.forget(cache_bytes)
        self._staged.forget(cache_bytes)


class FirstMarkEncoder(FusedEncoder):
    """A pipeline that marks the first piece of a document unless its first character was dropped.

    The kernel runs texts whose first character is kept, and the stages in Python the others.
    """

    def __init__(
        self, model: _kernel.Model, stages: Staging, staged: StagedEncoder, instructions: str
    ) -> None:
        super().__init__(model, stages, staged, instructions)
        assert stages.keeps_start is not None
        self._keeps_start = stages.keeps_start

    def _is_kept(self, text: Text) -> bool:
        if isinstance(text, str):
            return not text or self._keeps_start(text[0])
        first = bytes(memoryview(text)[:_LONGEST_CHARACTER]).decode("utf-8", "surrogateescape")
        return not first or self._keeps_start(without_surrogates(first[0]))

    def encode(self, text: Text, threads: int) -> IdArray:
        """Return the ids of a text."""
        if self._is_kept(text):
            return super().encode(text, threads)
        return self._staged.encode(text, threads)

    def encode_list(self, text: Text, threads: int) -> list[int]:
        """Return the ids of a text as a list."""
        if self._is_kept(text):
            return super().encode_list(text, threads)
        return self._staged.encode_list(text, threads)

    def encode_texts(self, texts: Sequence[Text], threads: int) -> Batch:
        """Return the ids of each text."""
        if all(map(self._is_kept, texts)):
            return super().encode_texts(texts, threads)
        return stack([self.encode(text, threads) for text in texts])

    def encode_slices(self, text: Text, bounds: Bounds, threads: int) -> Batch:
        """Return the ids of each slice of a text as a document of its own."""
        data = memoryview(text.encode() if isinstance(text, str) else text)
        if all(self._is_kept(data[start:end]) for start, end in bounds.tolist()):
            return super().encode_slices(data, bounds, threads)
        return stack([self.encode(data[start:end], threads) for start, end in bounds.tolist()])

    def encode_segments(
        self, text: Text, bounds: Bounds, threads: int, literals: frozenset[str] = NONE
    ) -> Batch:
        """Return the ids of each segment of one document."""
        if self._is_kept(text):
            return super().encode_segments(text, bounds, threads, literals)
        return self._staged.encode_segments(text, bounds, threads, literals)

    def encode_with_spans(
        self, text: Text, at_start: bool = True, literals: frozenset[str] = NONE
    ) -> tuple[IdArray, SpanArray]:
        """Return the ids, and the bytes of the text that each token stands for."""
        if not at_start or self._is_kept(text):
            return super().encode_with_spans(text, at_start, literals)
        return self._staged.encode_with_spans(text, at_start, literals)

    def count(self, text: Text, threads: int) -> int:
        """Return how many tokens a text has."""
        if self._is_kept(text):
            return super().count(text, threads)
        return self._staged.count(text, threads)


_LONGEST_CHARACTER = 4
"""The most bytes of a character in UTF-8."""
