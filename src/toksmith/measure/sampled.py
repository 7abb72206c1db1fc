"""What a tokenizer makes of a sample: of its words, of its scripts, and what comes back of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from toksmith.errors import MissingExtraError
from toksmith.lazy import np, npt
from toksmith.measure.round_trip import common_bytes
from toksmith.measure.scripts import SCRIPTS, byte_scripts, tokens_by_script
from toksmith.measure.word_tokens import (
    Words,
    byte_spans,
    find_words,
    tokens_of_list,
    tokens_touching,
)
from toksmith.tokenizer import Tokenizer


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
    words: Words | None

    @classmethod
    def of(cls, passages: list[bytes]) -> Sample:
        """Look at passages."""
        try:
            words = find_words(passages)
        except MissingExtraError:
            words = None
        return cls(passages, [byte_scripts(passage) for passage in passages], words)

    @cached_property
    def script_bytes(self) -> npt.NDArray[np.int64]:
        """How many bytes are of each script."""
        return _counts(self.scripts)

    @cached_property
    def script_characters(self) -> npt.NDArray[np.int64]:
        """How many characters are of each script."""
        return _counts(
            scripts[(np.frombuffer(passage, np.uint8) & 0xC0) != 0x80]
            for passage, scripts in zip(self.passages, self.scripts, strict=True)
        )


@dataclass
class Sampled:
    """One tokenizer on a sample, in numbers that add up.

    Attributes:
        script_tokens: how many tokens are of each script.
        word_tokens: how many tokens touch each word of the running text.
        list_tokens: how many tokens each of the frequent words has.
        tokens: of all passages.
        common: bytes that come back.
        changed: passages that do not come back as they were.
    """

    script_tokens: npt.NDArray[np.int64]
    word_tokens: npt.NDArray[np.int64]
    list_tokens: npt.NDArray[np.int64]
    tokens: int = 0
    common: int = 0
    changed: int = 0

    @classmethod
    def sum_of(cls, parts: Sequence[Sampled]) -> Sampled:
        """Return several together."""
        return cls(
            np.sum([part.script_tokens for part in parts], axis=0),
            np.concatenate([part.word_tokens for part in parts]),
            np.concatenate([part.list_tokens for part in parts]),
            sum(part.tokens for part in parts),
            sum(part.common for part in parts),
            sum(part.changed for part in parts),
        )


def sampled(tokenizer: Tokenizer, sample: Sample) -> Sampled:
    """Count what a tokenizer makes of a sample."""
    none = np.zeros(0, np.int64)
    found = Sampled(np.zeros(len(SCRIPTS), np.int64), none, none)
    touching = [none]
    for place, passage in enumerate(sample.passages):
        ids, spans = byte_spans(tokenizer, passage)
        found.tokens += len(ids)
        found.script_tokens += tokens_by_script(sample.scripts[place], spans)
        if sample.words is not None:
            touching.append(tokens_touching(spans, sample.words.spans[place]))
        back = tokenizer.decode_bytes(ids)
        found.changed += back != passage
        found.common += common_bytes(passage, back)
    found.word_tokens = np.concatenate(touching)
    if sample.words is not None:
        found.list_tokens = tokens_of_list(tokenizer, sample.words.frequent)
    return found


def _counts(scripts: Iterable[npt.NDArray[np.uint8]]) -> npt.NDArray[np.int64]:
    total = np.zeros(len(SCRIPTS), np.int64)
    for each in scripts:
        total += np.bincount(each, minlength=len(SCRIPTS))
    return total
