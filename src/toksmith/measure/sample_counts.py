"""Counts of a tokenizer on a sample: words, scripts, and bytes that come back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from toksmith._base.lazy import is_missing, np, npt
from toksmith.errors import MissingExtraError
from toksmith.measure.round_trip import common_bytes
from toksmith.measure.scripts import SCRIPTS, byte_scripts, tokens_by_script
from toksmith.measure.word_metrics import (
    SampleWords,
    byte_spans,
    find_words,
    tokens_of_list,
    tokens_touching,
)
from toksmith.tokenizer import Tokenizer

COLUMNS = ("tokens", "unknown", "common", "changed", "touching", "touched", "split")
"""The counts of each passage: tokens, unknown tokens, bytes that come back, whether the
passage does not come back as it was, tokens that touch words, words that any token touches, and
words that several touch."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Passages of a text.

    Attributes:
        passages: their bytes.
        scripts: for each passage, uint8 of the shape of its bytes: the scripts of its characters.
        words: their words; ``None`` where nothing is installed that finds words.
    """

    passages: list[bytes]
    scripts: list[npt.NDArray[np.uint8]]
    words: SampleWords | None

    @classmethod
    def of(cls, passages: list[bytes], *, has_words: bool = True) -> Sample:
        """Find the words and scripts of passages.

        Args:
            passages: their bytes.
            has_words: whether to look for words.
        """
        try:
            words = find_words(passages) if has_words else None
        except MissingExtraError as error:
            if not is_missing(error):
                raise
            words = None
        return cls(passages, [byte_scripts(passage) for passage in passages], words)

    @property
    def sums_by_passage(self) -> npt.NDArray[np.int64]:
        """int64, shape ``(passages, 4)``: one, bytes, characters and words of each passage."""
        words = [0] * len(self.passages) if self.words is None else map(len, self.words.spans)
        rows = [
            (1, len(passage), len(passage) - _continuing(passage), count)
            for passage, count in zip(self.passages, words, strict=True)
        ]
        return np.array(rows, np.int64).reshape(-1, 4)

    @cached_property
    def script_bytes(self) -> npt.NDArray[np.int64]:
        """The number of bytes in each script."""
        return _counts(self.scripts)

    @cached_property
    def script_characters(self) -> npt.NDArray[np.int64]:
        """The number of characters in each script."""
        return _counts(
            scripts[(np.frombuffer(passage, np.uint8) & 0xC0) != 0x80]
            for passage, scripts in zip(self.passages, self.scripts, strict=True)
        )


@dataclass
class SampleCounts:
    """One tokenizer on a sample, in numbers that add up.

    Attributes:
        script_tokens: the number of tokens are of each script.
        word_tokens: the number of tokens touch each word of the running text.
        list_tokens: the number of tokens of each frequent word.
        tokens: of all passages.
        common: bytes that come back.
        changed: passages that do not come back as they were.
        by_passage: int64, shape ``(passages, len(COLUMNS))``: see :data:`COLUMNS`.
    """

    script_tokens: npt.NDArray[np.int64]
    word_tokens: npt.NDArray[np.int64]
    list_tokens: npt.NDArray[np.int64]
    tokens: int = 0
    common: int = 0
    changed: int = 0
    by_passage: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.zeros((0, len(COLUMNS)), np.int64)
    )

    @classmethod
    def sum_of(cls, parts: Sequence[SampleCounts]) -> SampleCounts:
        """Return several together."""
        return cls(
            np.sum([part.script_tokens for part in parts], axis=0),
            np.concatenate([part.word_tokens for part in parts]),
            np.concatenate([part.list_tokens for part in parts]),
            sum(part.tokens for part in parts),
            sum(part.common for part in parts),
            sum(part.changed for part in parts),
            np.concatenate([part.by_passage for part in parts]),
        )


def count_sample(tokenizer: Tokenizer, sample: Sample) -> SampleCounts:
    """Return the counts of a tokenizer on a sample."""
    none = np.zeros(0, np.int64)
    found = SampleCounts(np.zeros(len(SCRIPTS), np.int64), none, none)
    unk_id = getattr(tokenizer.pipeline.model, "unk_id", None)
    touching = [none]
    rows = []
    for place, passage in enumerate(sample.passages):
        ids, spans = byte_spans(tokenizer, passage)
        found.tokens += len(ids)
        found.script_tokens += tokens_by_script(sample.scripts[place], spans)
        counts = none
        if sample.words is not None:
            counts = tokens_touching(spans, sample.words.spans[place])
            touching.append(counts)
        back = tokenizer.decode_bytes(ids)
        changed, common = back != passage, common_bytes(passage, back)
        found.changed += changed
        found.common += common
        unknown = 0 if unk_id is None else int(np.count_nonzero(ids == unk_id))
        words = (int(counts.sum()), int((counts > 0).sum()), int((counts > 1).sum()))
        rows.append((len(ids), unknown, common, changed, *words))
    found.by_passage = np.array(rows, np.int64).reshape(-1, len(COLUMNS))
    found.word_tokens = np.concatenate(touching)
    if sample.words is not None:
        found.list_tokens = tokens_of_list(tokenizer, sample.words.frequent)
    return found


def _continuing(text: bytes) -> int:
    """Return the number of bytes that continue a character."""
    return int(np.count_nonzero((np.frombuffer(text, np.uint8) & 0xC0) == 0x80))


def _counts(scripts: Iterable[npt.NDArray[np.uint8]]) -> npt.NDArray[np.int64]:
    total = np.zeros(len(SCRIPTS), np.int64)
    for each in scripts:
        total += np.bincount(each, minlength=len(SCRIPTS))
    return total
