"""Encoding with normalizer, splitter and model fused in the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from toksmith import _kernel
from toksmith._base.arrays import Bounds, IdArray, SpanArray
from toksmith._base.text import Text, without_surrogates
from toksmith.engine.stepwise import StepwiseEncoder
from toksmith.framing.added import NONE
from toksmith.fusion.rules import AmbiguousSpace, FusionRules
from toksmith.results import Batch, stack

_Arguments = ParamSpec("_Arguments")
_Found = TypeVar("_Found")


class FusedEncoder:
    """Runs normalizer, splitter and model in the kernel, one cached chunk at a time.

    Three cases fall back to the step-by-step encoder: spans of text that a normalizer rewrites
    across character boundaries (only the Python stages track origins); chunks whose leading space
    may be the text's own or the one that the normalizer added; and, if only the first piece of a
    document is marked, texts whose first character the normalizer drops.

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
        )
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
        self.encode_with_spans = _with_fallback(self._encode_with_spans, stepwise.encode_with_spans)

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

    def _encode_with_spans(
        self, text: Text, at_start: bool = True, literals: frozenset[str] = NONE
    ) -> tuple[IdArray, SpanArray]:
        if at_start:
            self._check_start(text)
        if not literals:
            found = self._model.encode_with_spans(text, at_start or not self._first_only)
            if found:
                ids, spans = found
                return ids, spans.reshape(-1, 2)
        return self._stepwise.encode_with_spans(text, at_start, literals)


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
