"""Encoding with normalizer, splitter and model fused in the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import ParamSpec, TypeVar

from toksmith import _kernel
from toksmith._base.arrays import Bounds, Continuing
from toksmith._base.text import Text, without_surrogates
from toksmith.engine.stepwise import StepwiseEncoder
from toksmith.framing.added import NONE
from toksmith.fusion.rules import AmbiguousSpace, FusionRules
from toksmith.results import Batch, LocatedBatch, concat_located, stack

_Arguments = ParamSpec("_Arguments")
_Found = TypeVar("_Found")


class FusedEncoder:
    """Runs normalizer, splitter and model in the kernel, one cached chunk at a time.

    Chunks that a normalizer rewrites across character boundaries run through the stages in Python
    once, and are cached. Whole texts fall back to the step-by-step encoder in three cases: chunks
    whose leading space may be the text's own or the one that the normalizer added; if only the
    first piece of a document is marked, texts whose first character the normalizer drops; and, if
    spans are wanted, texts whose first character a compiled map may drop, because ``tokenizers``
    then shifts the origins of all characters after it.

    Args:
        model: the kernel's model.
        rules: the facts about normalizer and splitter that the kernel needs.
        stepwise: the encoder that runs the same pipeline step by step.
        instructions: the instruction set to run on.
    """

    def __init__(
        self,
        model: _kernel.Model,
        rules: FusionRules,
        stepwise: StepwiseEncoder,
        instructions: str,
    ) -> None:
        self._stepwise = stepwise
        self._first_only = rules.first_only
        self._keeps_start = rules.keeps_start
        self._model = _kernel.FusedModel(
            model,
            rules.describe_block,
            rules.joined,
            rules.lead,
            rules.collapse,
            rules.trim,
            rules.origins,
            rules.run_stages,
            rules.locate_stages,
        )
        self._instructions = instructions
        self._cache_bytes: int | None = None  # the default
        self._encoder = encoder = _kernel.Encoder(
            self._model, _kernel.Splitter("model"), instructions
        )
        self.encode = _with_fallback(self._checked(encoder.encode), stepwise.encode)
        self.encode_list = _with_fallback(self._checked(encoder.encode_list), stepwise.encode_list)
        self.count = _with_fallback(self._checked(encoder.count), stepwise.count)
        self.encode_texts = _with_fallback(self._encode_texts, self._encode_each)
        self.encode_slices = _with_fallback(self._encode_slices, self._encode_each_slice)
        self._encode_fused_segments = _with_fallback(
            self._encode_segments, stepwise.encode_segments
        )

    def encode_segments(
        self, text: Text, bounds: Bounds, threads: int, literals: frozenset[str] = NONE
    ) -> Batch:
        """Return the ids of each segment of one document."""
        if literals:
            return self._stepwise.encode_segments(text, bounds, threads, literals)
        if not self._first_only:
            return self.encode_slices(text, bounds, threads)
        return self._encode_fused_segments(text, bounds, threads)

    def forget(self, cache_bytes: int | None = None) -> None:
        """Empty the caches, and set the limit of each if one is given."""
        self._encoder.forget(cache_bytes)
        if cache_bytes is not None:
            self._cache_bytes = cache_bytes
        self.__dict__.pop("_locator", None)
        self._stepwise.forget(cache_bytes)

    def _check_start(self, text: Text) -> None:
        """Raise AmbiguousSpace if the kernel cannot mark the first piece of this text."""
        if self._keeps_start is None:
            return
        if isinstance(text, str):
            first = text[:1]
        else:
            head = bytes(memoryview(text)[:_LONGEST_CHARACTER])
            first = without_surrogates(head.decode("utf-8", "surrogateescape")[:1])
        if first and not self._keeps_start(first):
            raise AmbiguousSpace

    def _checked(self, run: Callable[[Text, int], _Found]) -> Callable[[Text, int], _Found]:
        """Return a function that checks the start of a text first, if that matters."""
        if self._keeps_start is None:
            return run

        def check_and_run(text: Text, threads: int) -> _Found:
            self._check_start(text)
            return run(text, threads)

        return check_and_run

    def _encode_texts(self, texts: Sequence[Text], threads: int) -> Batch:
        for text in texts if self._keeps_start else ():
            self._check_start(text)
        return Batch(*self._encoder.encode_texts(texts, threads))

    def _encode_each(self, texts: Sequence[Text], threads: int) -> Batch:
        return stack([self.encode(text, threads) for text in texts])

    def _encode_slices(self, text: Text, bounds: Bounds, threads: int) -> Batch:
        for each in _slices(text, bounds) if self._keeps_start else ():
            self._check_start(each)
        return Batch(*self._encoder.encode_slices(text, bounds, threads))

    def _encode_each_slice(self, text: Text, bounds: Bounds, threads: int) -> Batch:
        return self._encode_each(_slices(text, bounds), threads)

    def _encode_segments(self, text: Text, bounds: Bounds, threads: int) -> Batch:
        self._check_start(text)
        return Batch(*self._encoder.encode_segments(text, bounds, threads))

    @cached_property
    def _locator(self) -> _kernel.Encoder:
        """The encoder that makes spans. It has a cache of its own."""
        locator = _kernel.Encoder(
            _kernel.SpanModel(self._model), _kernel.Splitter("model"), self._instructions
        )
        locator.forget(self._cache_bytes)
        return locator

    def encode_with_spans(
        self,
        texts: Sequence[Text],
        threads: int,
        continuing: Continuing | None = None,
        literals: frozenset[str] = NONE,
    ) -> LocatedBatch:
        """Return the ids of each text, and the bytes and characters that each token covers."""
        if literals:
            return self._stepwise.encode_with_spans(texts, threads, continuing, literals)
        try:
            if self._keeps_start:
                for place, text in enumerate(texts):
                    if continuing is None or not continuing[place]:
                        self._check_start(text)
            flags = continuing if self._first_only else None
            found = self._locator.encode_with_spans(texts, flags, threads)
        except AmbiguousSpace:
            found = None
        if found is not None:
            return LocatedBatch.of(*found)
        if len(texts) == 1:
            return self._stepwise.encode_with_spans(texts, threads, continuing)
        # Halves, so that all texts but those that need the stages in Python are encoded here.
        half = len(texts) // 2
        parts = []
        for start, end in ((0, half), (half, len(texts))):
            each = None if continuing is None else continuing[start:end]
            parts.append(self.encode_with_spans(texts[start:end], threads, each))
        return concat_located(parts)


def _with_fallback(
    fused: Callable[_Arguments, _Found], stepwise: Callable[_Arguments, _Found]
) -> Callable[_Arguments, _Found]:
    """Return a function that calls the second one if the first raises AmbiguousSpace."""

    def run(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Found:
        try:
            return fused(*args, **kwargs)
        except AmbiguousSpace:
            return stepwise(*args, **kwargs)

    return run


def _slices(text: Text, bounds: Bounds) -> list[memoryview]:
    data = memoryview(text.encode() if isinstance(text, str) else text)
    return [data[start:end] for start, end in bounds.tolist()]


_LONGEST_CHARACTER = 4
"""The most bytes of a character in UTF-8."""
