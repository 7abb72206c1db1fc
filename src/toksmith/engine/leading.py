"""Encoding with first steps that need the whole text: Strip, Replace of a string, LeadingSpace.

Python runs them on whole texts, and the kernel encodes the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

from toksmith._base.arrays import Bounds, Continuing, IdArray
from toksmith._base.lazy import np, npt
from toksmith._base.records import replace
from toksmith._base.text import Text, characters, utf8
from toksmith.engine import Encoder
from toksmith.engine.around import encode_around, locate_around
from toksmith.framing import AddedSearch
from toksmith.framing.added import NONE
from toksmith.normalizers import Normalizer, Replace, Strip
from toksmith.pipeline import Pipeline
from toksmith.results import Batch, LocatedBatch
from toksmith.splitters import LeadingSpace, SplitterSequence
from toksmith.stages.character_classes import WHITE_SPACE

Leading: TypeAlias = Strip | Replace | LeadingSpace
"""One of the steps that run on whole texts."""


def leading_steps(normalizer: Normalizer) -> list[Strip | Replace]:
    """Return the steps, from the first one on, that run on whole texts.

    There are none if all of them act on single characters.

    Example:
        >>> from toksmith.normalizers import Lowercase
        >>> leading_steps((Strip(), Replace(" ", "_"), Lowercase()))
        [Strip(left=True, right=True)]
    """
    steps: list[Strip | Replace] = []
    count = 0
    for step in normalizer:
        if isinstance(step, Replace):
            if step.is_regex or not (step.pattern[-1:] + step.content).isascii():
                break
            if len(step.content) != 1 or not step.pattern:
                break
        elif not isinstance(step, Strip):
            break
        steps.append(step)
        if not isinstance(step, Replace) or len(step.pattern) > 1:
            count = len(steps)
    return steps[:count]


class LeadingEncoder:
    """Runs the first steps of a pipeline on whole texts, and encodes what they make of them.

    Args:
        steps: those of a normalizer, see :func:`leading_steps`; or a LeadingSpace.
        inner: runs all other stages.
        make_stepwise: returns an encoder that runs all stages step by step. It encodes texts with
            added tokens that are normalized.
    """

    def __init__(
        self, steps: Sequence[Leading], inner: Encoder, make_stepwise: Callable[[], Encoder]
    ) -> None:
        self._steps = steps
        self.inner = inner
        self._make_stepwise = make_stepwise

    @cached_property
    def _stepwise(self) -> Encoder:
        return self._make_stepwise()

    def encode(self, text: Text, threads: int) -> IdArray:
        """Return the ids of a text."""
        return self.inner.encode(self._prepared(text), threads)

    def encode_list(self, text: Text, threads: int) -> list[int]:
        """Return the ids of a text as a list."""
        return self.inner.encode_list(self._prepared(text), threads)

    def encode_texts(self, texts: Sequence[Text], threads: int) -> Batch:
        """Return the ids of each text."""
        return self.inner.encode_texts(list(map(self._prepared, texts)), threads)

    def encode_slices(self, text: Text, bounds: Bounds, threads: int) -> Batch:
        """Return the ids of each slice of a text, as a separate document."""
        data = memoryview(utf8(text))
        return self.encode_texts([data[start:end] for start, end in bounds.tolist()], threads)

    def encode_segments(
        self, text: Text, bounds: Bounds, threads: int, literals: frozenset[str] = NONE
    ) -> Batch:
        """Return the ids of each segment of one document."""
        if literals:
            return self._stepwise.encode_segments(text, bounds, threads, literals)
        return self.encode_slices(text, bounds, threads)

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
        prepared = list(map(self._prepared, texts))
        found = self.inner.encode_with_spans(prepared, threads)
        byte_spans, spans = found.byte_spans, found.spans
        for place, (text, after) in enumerate(zip(texts, prepared, strict=True)):
            if len(text) == len(after):
                continue  # no step moved a byte
            if byte_spans is found.byte_spans:
                byte_spans, spans = byte_spans.copy(), spans.copy()
            of_text = slice(*found.offsets[place : place + 2].tolist())
            byte_spans[of_text] = self._origins(utf8(text), byte_spans[of_text])
            spans[of_text] = characters(text, byte_spans[of_text])[1]
        return LocatedBatch(found.ids, found.offsets, byte_spans, spans)

    def encode_around(self, texts: Sequence[Text], threads: int, added: AddedSearch) -> Batch:
        """Return the ids of each text and of the added tokens in it."""
        return encode_around(self, texts, threads, added)

    def locate_around(
        self, texts: Sequence[Text], threads: int, added: AddedSearch
    ) -> LocatedBatch:
        """Return the same with the bytes and characters that each token covers."""
        return locate_around(self, texts, threads, added)

    def count(self, text: Text, threads: int) -> int:
        """Return the number of tokens of a text."""
        return self.inner.count(self._prepared(text), threads)

    def forget(self, cache_bytes: int | None = None) -> None:
        """Empty the caches, and set the limit of each if one is given."""
        self.inner.forget(cache_bytes)
        self._stepwise.forget(cache_bytes)

    def _prepared(self, text: Text) -> Text:
        for step in self._steps:
            text = _run(step, text if isinstance(text, str | bytes) else bytes(text))
        return text

    def _origins(self, data: bytes, spans: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return spans of a prepared text as spans of the text itself, both in bytes."""
        texts = [data]
        for step in self._steps:
            after = _run(step, texts[-1])
            assert isinstance(after, bytes)
            texts.append(after)
        starts, ends = spans.T
        for step, before in zip(reversed(self._steps), reversed(texts[:-1]), strict=True):
            if isinstance(step, LeadingSpace):
                if _run(step, before) != before:  # the space has the origin of the first character
                    ends = np.where(ends > 1, ends - 1, _first_size(before))
                    starts = np.maximum(starts - 1, 0)
            elif isinstance(step, Strip):
                removed = _stripped(before) if step.left else 0
                starts, ends = starts + removed, ends + removed
            else:
                # A replacement has the origin of the last byte of what it replaces.
                places, shift = _replaced(before, step), len(step.pattern.encode()) - 1
                starts = starts + shift * np.searchsorted(places, starts, "right")
                ends = ends + shift * np.searchsorted(places, ends, "left")
        return np.stack([starts, ends], axis=1)


def _run(step: Leading, text: str | bytes) -> str | bytes:
    """Return a text after one step."""
    if isinstance(step, LeadingSpace):
        if isinstance(text, str):
            return text if not text or text[0] == " " else " " + text
        return text if not text or text.startswith(b" ") else b" " + text
    if isinstance(step, Replace):
        if isinstance(text, str):
            return text.replace(step.pattern, step.content)
        return text.replace(step.pattern.encode(), step.content.encode())
    if isinstance(text, str):
        text = text.lstrip(WHITE_SPACE) if step.left else text
        return text.rstrip(WHITE_SPACE) if step.right else text
    start = _stripped(text) if step.left else 0
    end = len(text)
    while step.right and end > start:
        end = len(text[start:end].rstrip(_ASCII)) + start
        if text[max(start, end - 2) : end] in _OTHERS:
            end -= 2
        elif text[max(start, end - 3) : end] in _OTHERS:
            end -= 3
        else:
            break
    return text[start:end]


def _first_size(data: bytes) -> int:
    """Return the number of bytes of the first character of a text."""
    first = data[:4].decode("utf-8", "surrogateescape")[0]
    return len(first.encode("utf-8", "surrogateescape"))


def _stripped(data: bytes) -> int:
    """Return the number of bytes of white space at the start of a text."""
    found = _LEFT.match(data)
    return found.end() if found else 0


def _replaced(data: bytes, step: Replace) -> npt.NDArray[np.int64]:
    """Return the places of the replacements in the text that a step returns."""
    pattern = step.pattern.encode()
    places, before, place = [], 0, data.find(pattern)
    while place >= 0:
        places.append(place - before)
        before += len(pattern) - 1
        place = data.find(pattern, place + len(pattern))
    return np.array(places, np.int64)


_ASCII = bytes(ord(c) for c in WHITE_SPACE if c.isascii())
_OTHERS = frozenset(c.encode() for c in WHITE_SPACE if not c.isascii())
_LEFT = re.compile(b"(?:[" + _ASCII + b"]|" + b"|".join(map(re.escape, sorted(_OTHERS))) + b")*")


def put_space_first(
    pipeline: Pipeline, compile_pipeline: Callable[[Pipeline], Encoder]
) -> LeadingEncoder:
    """Return an encoder of a pipeline whose splitter starts with a LeadingSpace.

    Args:
        pipeline: a pipeline without a normalizer.
        compile_pipeline: returns an encoder of the pipeline without this step.
    """
    inner = compile_pipeline(without_space_first(pipeline))
    return LeadingEncoder([LeadingSpace()], inner, lambda: inner)  # nothing is normalized


def without_space_first(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline whose splitter does not start with the LeadingSpace that it starts with."""
    assert isinstance(pipeline.splitter, SplitterSequence)
    rest = pipeline.splitter.steps[1:]
    return replace(pipeline, splitter=rest[0] if len(rest) == 1 else SplitterSequence(rest))
