"""Encoding by a byte-level model after a normalizer that the kernel runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from toksmith._base.arrays import Bounds, Continuing, IdArray
from toksmith._base.text import Text, utf8
from toksmith.engine.around import encode_around, locate_around
from toksmith.engine.compiled import _kernel
from toksmith.engine.kernel import KernelEncoder
from toksmith.engine.stepwise import StepwiseEncoder
from toksmith.framing import AddedSearch
from toksmith.framing.added import NONE
from toksmith.fusion.text_maps import TextMap, find_text_map
from toksmith.normalizers import Normalizer
from toksmith.results import Batch, LocatedBatch, concat, concat_located
from toksmith.stages.normalize import normalize


class NormalizedEncoder:
    """Normalizes texts in the kernel, then splits and encodes them there.

    The spans of texts that the normalizer changes, and added tokens in normalized text, come from
    the step-by-step encoder.

    Args:
        text_map: the normalizer.
        chunks: runs splitter and model.
        stepwise: runs the same pipeline step by step.
    """

    def __init__(self, text_map: TextMap, chunks: KernelEncoder, stepwise: StepwiseEncoder) -> None:
        self._mapper = _kernel.CharacterMapper(text_map.describe_block, text_map.rewrite)
        self._chunks = chunks
        self._stepwise = stepwise

    def encode(self, text: Text, threads: int = 1) -> IdArray:
        """Return the ids of a text."""
        return self._chunks.encode(self._normalized(text), threads)

    def encode_list(self, text: Text, threads: int = 1) -> list[int]:
        """Return the ids of a text as a list."""
        return self._chunks.encode_list(self._normalized(text), threads)

    def encode_texts(self, texts: Sequence[Text], threads: int = 1) -> Batch:
        """Return the ids of each text."""
        return self._chunks.encode_texts(list(map(self._normalized, texts)), threads)

    def encode_slices(self, text: Text, bounds: Bounds, threads: int = 1) -> Batch:
        """Return the ids of each slice of a text, as a separate document."""
        data = memoryview(utf8(text))
        return self.encode_texts([data[start:end] for start, end in bounds.tolist()], threads)

    def encode_segments(
        self, text: Text, bounds: Bounds, threads: int = 1, literals: frozenset[str] = NONE
    ) -> Batch:
        """Return the ids of each segment of one document."""
        if literals:
            return self._stepwise.encode_segments(text, bounds, threads, literals)
        return self.encode_slices(text, bounds, threads)

    def encode_with_spans(
        self,
        texts: Sequence[Text],
        threads: int = 1,
        continuing: Continuing | None = None,
        literals: frozenset[str] = NONE,
    ) -> LocatedBatch:
        """Return the ids of each text, and the bytes and characters that each token covers."""
        if literals:
            return self._stepwise.encode_with_spans(texts, threads, continuing, literals)
        parts = []
        for is_changed, run in groupby(texts, self._changes):
            encoder = self._stepwise if is_changed else self._chunks
            parts.append(encoder.encode_with_spans(list(run), threads))
        return concat_located(parts) if parts else self._chunks.encode_with_spans([], threads)

    def encode_around(self, texts: Sequence[Text], threads: int, added: AddedSearch) -> Batch:
        """Return the ids of each text and of the added tokens in it."""
        if added.within:
            return encode_around(self, texts, threads, added)
        return concat(
            [
                encode_around(self, list(run), threads, added)
                if is_changed
                else self._chunks.encode_around(list(run), threads, added)
                for is_changed, run in groupby(texts, self._changes)
            ]
        )

    def locate_around(
        self, texts: Sequence[Text], threads: int, added: AddedSearch
    ) -> LocatedBatch:
        """Return the same with the bytes and characters that each token covers."""
        if added.within or not texts:
            return locate_around(self, texts, threads, added)
        return concat_located(
            [
                locate_around(self, list(run), threads, added)
                if is_changed
                else self._chunks.locate_around(list(run), threads, added)
                for is_changed, run in groupby(texts, self._changes)
            ]
        )

    def count(self, text: Text, threads: int = 1) -> int:
        """Return the number of tokens of a text."""
        return self._chunks.count(self._normalized(text), threads)

    def forget(self, cache_bytes: int | None = None) -> None:
        """Empty the caches, and set the limit of each if one is given."""
        self._chunks.forget(cache_bytes)

    def _normalized(self, text: Text) -> Text:
        data = _mapped(text)
        changed = self._mapper.map(data)
        return data if changed is None else changed

    def _changes(self, text: Text) -> bool:
        return self._mapper.map(_mapped(text)) is not None


def make_normalizer(normalizer: Normalizer) -> Callable[[bytes], bytes]:
    """Return a function that normalizes valid UTF-8, in the kernel if that can run the steps."""
    text_map = find_text_map(normalizer)
    if text_map is None:
        return lambda text: normalize(normalizer, text.decode()).encode()
    mapper = _kernel.CharacterMapper(text_map.describe_block, text_map.rewrite)

    def run(text: bytes) -> bytes:
        changed = mapper.map(text)
        return text if changed is None else changed

    return run


def _mapped(text: Text) -> Text:
    return text if isinstance(text, str) and text.isascii() else utf8(text)
