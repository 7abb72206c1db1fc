"""Counts of tokens, words and bytes of one text, as numbers that can be added."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from mmap import mmap
from typing import TYPE_CHECKING, TypeAlias

from toksmith._base.lazy import np, npt
from toksmith._base.text import Text, utf8
from toksmith.corpus import Reading
from toksmith.measure.comparison import MeasuredText, Passage
from toksmith.measure.inputs import NamedText
from toksmith.measure.passages import Sampler
from toksmith.measure.sample_counts import Sample, SampleCounts, count_sample
from toksmith.tokenizer import Tokenizer

if TYPE_CHECKING:
    from toksmith._base.arrays import Bounds

ReportProgress: TypeAlias = Callable[[str, int], None]
"""Called with the name of the current step and the number of bytes done."""

_BLOCK = 1 << 24
_IDS_AT_ONCE = 1 << 18
_SIZED_AT_ONCE = 1 << 22
"""Bytes whose characters are counted at once: NumPy's loops do not end on Ctrl-C."""
_SHOWN = 2_000
"""Bytes of a text that are kept token by token."""
_TIMED, _TIMED_SECONDS = 1 << 22, 0.05


@dataclass(frozen=True)
class MeasureOptions:
    """The options of measuring; see :func:`toksmith.compare`."""

    reading: Reading
    sample: int
    seed: int
    speed: bool
    threads: int | None
    report: ReportProgress
    words: bool = True
    done: int = 0


@dataclass
class TokenCounts:
    """One tokenizer on one text, in numbers that add up."""

    frequencies: npt.NDArray[np.int64]
    sampled: SampleCounts
    seconds: float = 0.0
    timed_bytes: int = 0


@dataclass
class TextCounts:
    """A text: its sizes, and the counts of each tokenizer."""

    about: MeasuredText
    lines: int
    counted: dict[str, TokenCounts]
    sample: Sample
    passage: Passage


def measure_text(
    named: Mapping[str, Tokenizer], text: NamedText, options: MeasureOptions
) -> TextCounts:
    """Measure tokenizers on a text, which is read once."""
    counter = _Counter(named, text.name, options)
    documents = text.feed(counter, options.reading, counter.stored)
    options.report(f"words of {text.name}", counter.done)
    sample = Sample.of(counter.sampler.passages, has_words=options.words)
    counted = {}
    for name, tok in named.items():
        options.report(f"{name}: words of {text.name}", counter.done)
        counted[name] = TokenCounts(counter.frequencies[name], count_sample(tok, sample))
        if options.speed:
            counted[name].seconds, counted[name].timed_bytes = _seconds(tok, sample.passages)
    about = MeasuredText(
        text.name, documents, counter.bytes, counter.characters,
        sum(map(len, sample.passages)), len(sample.passages),
        None if sample.words is None else len(sample.words),
    )  # fmt: skip
    shown = _shown(counter.start)
    encodings = {name: tok.encoding(shown) for name, tok in named.items()}
    is_whole = documents == 1 and len(shown) == counter.bytes
    return TextCounts(
        about, counter.lines, counted, sample, Passage(text.name, encodings, is_whole)
    )


class _Counter:
    """Takes the documents of a text, block by block, and hands them to all tokenizers."""

    def __init__(self, named: Mapping[str, Tokenizer], text: str, options: MeasureOptions) -> None:
        self.frequencies = {name: np.zeros(tok.vocab_size, np.int64) for name, tok in named.items()}
        self.sampler = Sampler(options.sample, options.seed)
        self.bytes = self.characters = self.lines = 0
        self.start = b""
        self.done = options.done  # bytes as they are stored, once for each tokenizer
        self._named, self._text, self._options = named, text, options

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count documents."""
        for text in texts:
            data = utf8(text)
            self.add_slices(data, np.array([[0, len(data)]], np.int64))

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count slices of a text as documents."""
        for block in blocks(bounds):
            self._add(text, block)  # type: ignore[arg-type]  # bytes, or a file in memory

    def cut(self, text: Text, start: int, end: int) -> int:
        """Return ``end``, so that the text stays whole: tokenizers differ in where they may cut."""
        return end

    def stored(self, done: int) -> None:
        """Record the number of bytes of the file that are done."""
        self.done = self._options.done + done * len(self._named)

    def _add(self, data: bytes | mmap, block: Bounds) -> None:
        self.bytes += int((block[:, 1] - block[:, 0]).sum())
        characters, lines = _sizes(data, block, self._options.reading.separator)
        self.characters += characters
        self.lines += lines
        if not self.start:
            self.start = data[block[0, 0] : min(block[0, 1], block[0, 0] + 2 * _SHOWN)]
        self.sampler.add(data, block)
        done = self.done
        for name, tok in self._named.items():
            self._options.report(f"{name}: {self._text}", done)
            self.frequencies[name] += token_counts(tok, data, block, self._options.threads)
            done += int(block[-1, 1] - block[0, 0])
        self.done = done  # until it is known how many bytes that was as they are stored


def blocks(bounds: Bounds) -> Iterator[Bounds]:
    """Cut documents into blocks of about ``_BLOCK`` bytes."""
    start = 0
    while start < len(bounds):
        end = int(np.searchsorted(bounds[:, 1], bounds[start, 0] + _BLOCK, "right"))
        end = max(end, start + 1)
        yield bounds[start:end]
        start = end


def token_counts(
    tok: Tokenizer, data: bytes | mmap, block: Bounds, threads: int | None
) -> npt.NDArray[np.int64]:
    """Return the number of occurrences of each token in a block of documents."""
    with memoryview(data) as view:
        slices = [view[start:end] for start, end in block.tolist()]
        try:
            if len(slices) == 1:  # one long document runs on all cores
                ids = tok.encode_array(slices[0], threads=threads)
            else:
                ids = tok.encode_batch(slices, threads=threads).ids
        finally:
            for piece in slices:
                piece.release()
    found = np.zeros(tok.vocab_size, np.int64)
    for start in range(0, len(ids), _IDS_AT_ONCE):  # NumPy makes a wider copy of them
        found += np.bincount(ids[start : start + _IDS_AT_ONCE], minlength=tok.vocab_size)
    return found


def _sizes(data: bytes | mmap, block: Bounds, separator: str | None) -> tuple[int, int]:
    """Return the numbers of code points and lines in the documents of a block."""
    characters, lines = 0, len(block)
    last = int(block[-1, 1])
    for start in range(int(block[0, 0]), last, _SIZED_AT_ONCE):
        stretch = data[start : min(start + _SIZED_AT_ONCE, last)]
        codes = np.frombuffer(stretch, np.uint8)
        characters += int(np.count_nonzero((codes & 0xC0) != 0x80))
        lines += stretch.count(b"\n")
    gaps = int(np.count_nonzero(block[1:, 0] > block[:-1, 1])) if separator else 0
    if separator and gaps:
        characters -= gaps * len(separator)
        lines -= gaps * separator.count("\n")
    return characters, lines


def _seconds(tok: Tokenizer, sample: Sequence[bytes]) -> tuple[float, int]:
    """Return the seconds that one thread takes for the sample, warm, and the bytes encoded."""
    size = 0
    chosen = []
    for passage in sample:
        if size >= _TIMED:
            break
        chosen.append(passage)
        size += len(passage)
    tok.encode_batch(chosen, threads=1)
    best = total = 0.0
    while total < _TIMED_SECONDS or not best:
        start = time.perf_counter()
        tok.encode_batch(chosen, threads=1)
        seconds = time.perf_counter() - start
        best, total = min(best or seconds, seconds), total + seconds
    return best, size


def _shown(start: bytes) -> bytes:
    """Return the start of a text that is shown token by token: whole characters, lines if short."""
    if len(start) <= _SHOWN:
        return start
    cut = start[:_SHOWN].decode("utf-8", "ignore").encode()
    line = cut.rfind(b"\n")
    return cut[: line + 1] if line >= _SHOWN // 2 else cut


def sum_of(parts: Sequence[TokenCounts]) -> TokenCounts:
    """Return the sum of a tokenizer's counts on several texts."""
    return TokenCounts(
        np.sum([part.frequencies for part in parts], axis=0),
        SampleCounts.sum_of([part.sampled for part in parts]),
        sum(part.seconds for part in parts),
        sum(part.timed_bytes for part in parts),
    )
