"""Counting the distinct chunks and lines of a corpus in the kernel."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from mmap import mmap
from typing import NamedTuple, TypeAlias

from toksmith._base.arrays import Bounds
from toksmith._base.lazy import np, npt
from toksmith._base.text import Text, decode_utf8, utf8
from toksmith.engine.compiled import _kernel, instruction_set
from toksmith.engine.portable import first_invalid
from toksmith.engine.split_tables import kernel_splitter
from toksmith.errors import UnsupportedError
from toksmith.models import WordLevel
from toksmith.normalizers import Normalizer
from toksmith.pipeline import Pipeline
from toksmith.splitters import PatternSplitter, Splitter

UInts: TypeAlias = "npt.NDArray[np.uint64]"

CountedChunks: TypeAlias = "tuple[bytes, UInts, UInts]"
"""Distinct chunks: their bytes concatenated, the end of each, and the count of each."""


Tallies: TypeAlias = "tuple[UInts, UInts]"
"""The number of distinct chunks, and their bytes, that occur 0, 1, 2 … times."""

Take: TypeAlias = "Callable[[bytes, UInts, UInts], object]"
"""Called with counted chunks; a chunk comes once, or in several calls."""

_PASSED = 1 << 13, 1 << 18
"""The most chunks of a batch that is passed on, and their bytes."""

_NO_LIMIT = (1 << 64) - 1

BATCH_CHUNKS, BATCH_BYTES = 1 << 17, 1 << 24
"""The most chunks of a batch, and their bytes; a single chunk may be longer."""


class CountedStream:
    """Counted chunks in order of first appearance, a batch at a time.

    Args:
        stream: the stream of the kernel.
        most: the most chunks of a batch, and their bytes; a single chunk may be longer.

    Attributes:
        chunks: the number of distinct chunks.
        occurrences: the sum of their counts.
        bytes: the size of the counted text in bytes.
    """

    def __init__(self, stream: _kernel.CountedStream, most: tuple[int, int] | None = None) -> None:
        self._stream, self._most = stream, most or (BATCH_CHUNKS, BATCH_BYTES)
        self.chunks, self.occurrences, self.bytes = stream.totals

    def __iter__(self) -> Iterator[CountedChunks]:
        while True:
            batch = self._stream.next(*self._most)
            if not len(batch[1]):
                return
            yield batch


class ChunkCounter:
    """Counts the distinct chunks of documents, in the order in which they were first seen.

    Args:
        splitter: a pattern, or another splitter that the kernel can run.
        threads: the number of threads.
    """

    def __init__(self, splitter: Splitter | None, threads: int) -> None:
        self._splitter = splitter
        self._threads = threads
        self._kernel_splitter: _kernel.Splitter | None = None
        with suppress(UnsupportedError):
            self._kernel_splitter = kernel_splitter(splitter)
        self._counter = _kernel.ChunkCounter(
            self._kernel_splitter or _kernel.Splitter("none"), instruction_set()
        )

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count documents."""
        if self._kernel_splitter:
            self._counter.add_texts(texts, self._threads)
            return
        for text in texts:
            data = utf8(text)
            self._add_matches(data)

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count slices of a text as documents."""
        if self._kernel_splitter:
            self._counter.add_slices(text, bounds, self._threads)
            return
        view = memoryview(text.encode() if isinstance(text, str) else text)
        for start, end in bounds.tolist():
            self._add_matches(bytes(view[start:end]))

    def add_counted(
        self, chunks: bytes, ends: npt.NDArray[np.uint64], counts: npt.NDArray[np.uint64]
    ) -> None:
        """Add the counts of chunks: their bytes concatenated, the end and the count of each."""
        starts = np.concatenate([np.zeros(1, np.uint64), ends])[:-1]
        bounds = np.stack([starts, ends], axis=1).astype(np.int64)
        self._counter.add_chunks(chunks, bounds, counts)

    def chunks_of(self, texts: Sequence[Text]) -> UInts:
        """Return the number of chunks of each document, which are not counted."""
        if self._kernel_splitter:
            return self._counter.chunks_of(texts)
        return np.array([len(self._spans(utf8(text))) for text in texts], np.uint64)

    def cut(self, text: Text, start: int, end: int) -> int:
        """Return the first offset from ``start`` on at which a document may be cut between chunks.

        Args:
            text: the text that holds the document.
            start: the offset to search from, in bytes.
            end: the document's end, returned if there is no such place.
        """
        if not self._kernel_splitter:
            return end
        return _kernel.safe_cut(text, self._kernel_splitter, start, end)

    @property
    def counter(self) -> ChunkCounter:
        """The counter itself, as other sinks of documents have it."""
        return self

    def end(self) -> None:
        """Do nothing: nothing is left to be counted."""

    def lines(self) -> tuple[int, int, int]:
        """Return zeros, because lines are not counted."""
        return 0, 0, 0

    spill_files = 1
    """The number of files that :meth:`spill_to` takes."""

    def spill_to(self, memory: int, descriptor: int, *, space: int | None = None) -> None:
        """From now on, write chunks to a file if they need more than ``memory`` bytes.

        An error of the file is an OSError; a BufferError says that it needs more than ``space``
        bytes.
        """
        self._counter.limit(memory, descriptor, _NO_LIMIT if space is None else space)

    def weigh(self, weight: int) -> None:
        """From now on, count each chunk ``weight`` times; only after :meth:`spill_to`."""
        self._counter.weigh(weight)

    @property
    def spilled(self) -> int:
        """The number of bytes written to the file, those that were overwritten included."""
        return self._counter.spilled

    @property
    def file_size(self) -> int:
        """The size of the file in bytes, rounded up to its blocks."""
        return self._counter.file_size

    def estimate(self, unit: int) -> Tallies:
        """Estimate the number of distinct chunks so far, before the counting ends.

        Args:
            unit: counts are divided by it.

        Returns:
            See :meth:`merge`; exact up to some ten thousand chunks.
        """
        return self._counter.estimate(unit)

    def merge(self, min_count: int, unit: int, memory: int) -> Tallies:
        """Merge equal chunks in the file, if there are any; call it once, at the end.

        Args:
            min_count: chunks that are rarer are left out.
            unit: counts are rounded to it, half up, and divided by it.
            memory: the approximate memory limit in bytes.

        Returns:
            The number of distinct chunks that occur 0, 1, 2 … times, and of their bytes; the last
            entry is for that count and all above it. Empty if nothing was spilled.
        """
        return self._counter.merge(min_count, unit, memory)

    def pass_merged(self, take: Take) -> None:
        """Call ``take`` with all chunks, batch by batch, after :meth:`merge`."""
        for batch in CountedStream(self._counter.stream(0), _PASSED):
            take(*batch)

    def finish(self) -> tuple[bytes, npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Return all chunks concatenated, the end of each, and the count of each."""
        return self._counter.merged() if self.spilled else self._counter.finish()

    def stream(self, min_count: int) -> CountedStream:
        """Return all chunks in batches; of spilled ones after :meth:`merge` with ``min_count``."""
        return CountedStream(self._counter.stream(min_count))

    def _add_matches(self, data: bytes) -> None:
        bounds = np.array(self._spans(data), np.int64).reshape(-1, 2)
        self._counter.add_chunks(data, bounds, np.ones(len(bounds), np.uint64))

    def _spans(self, data: bytes) -> Sequence[tuple[int, int]]:
        from toksmith.stages.split_patterns import chunk_spans

        assert self._splitter is None or isinstance(self._splitter, PatternSplitter)
        return chunk_spans(self._splitter, data)


class CountedLines(NamedTuple):
    """The distinct chunks of lines.

    Attributes:
        chunks: all chunks concatenated.
        ends: the end of each.
        counts: the count of each.
        lines: the number of lines counted.
        too_long: the number of lines skipped for their length.
        reserved: the number of lines skipped because they contain U+2585.
        plain: the words of chunks that are plain; these are not among the others.
    """

    chunks: bytes
    ends: UInts
    counts: UInts
    lines: int
    too_long: int
    reserved: int
    plain: CountedChunks

    @classmethod
    def of_chunks(cls, counted: CountedChunks) -> CountedLines:
        """Return counted chunks that are not of lines."""
        none = np.zeros(0, np.uint64)
        return cls(*counted, 0, 0, 0, (b"", none, none))

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Yield each chunk that is not plain, and its count."""
        start = 0
        for end, count in zip(self.ends.tolist(), self.counts.tolist(), strict=True):
            yield self.chunks[start:end], count
            start = end


StageRunner: TypeAlias = "_kernel.StageRunner"
"""Normalizer and splitter in the kernel, see :func:`make_stages`."""


def make_stages(normalizer: Normalizer, splitter: Splitter) -> StageRunner | None:
    """Return a normalizer and a splitter for the kernel; ``None`` if it cannot run them."""
    from toksmith.engine.fused import stage_runner
    from toksmith.fusion import Unfused
    from toksmith.fusion.rules import find_rules

    pipeline = Pipeline(_WHOLE_WORDS, splitter, normalizer=normalizer)
    try:
        rules = find_rules(pipeline, _kernel.neighbours)
    except Unfused:
        return None
    return stage_runner(rules) if rules.prefix_space == "none" else None


_WHOLE_WORDS = WordLevel((b"<unk>",), 0)
"""A model that looks at each word as a whole."""


def count_pieces(
    chunks: CountedChunks, stages: StageRunner, threads: int, *, words: CountedChunks | None = None
) -> CountedChunks | None:
    """Normalize and split counted chunks into words.

    Args:
        chunks: the chunks that a :class:`LineCounter` cut by these stages.
        stages: the normalizer and the splitter.
        threads: the number of threads; the result does not depend on it.
        words: further words, which are split already.

    Returns:
        The words, in the order in which they were first seen, ``words`` first. ``None`` if a
        chunk is invalid UTF-8.
    """
    if not _is_utf8(chunks[0]):
        return None
    if words is None:
        none = np.zeros(0, np.uint64)
        words = b"", none, none
    return _kernel.count_pieces(*words, *chunks, stages, threads)


def valid_utf8(text: Text) -> bytes:
    r"""Return a text as UTF-8, with U+FFFD in place of invalid bytes.

    Example:
        >>> valid_utf8(b"a\xff")
        b'a\xef\xbf\xbd'
    """
    data = utf8(text)
    return data if _is_utf8(data) else decode_utf8(data, "replace").encode()


def _is_utf8(data: bytes) -> bool:
    return first_invalid(data, 0, len(data)) == len(data)


PlainRules: TypeAlias = "_kernel.PlainRules"
"""The rules of plain text, see :func:`make_plain_rules`."""


def make_plain_rules(
    letters: Sequence[str],
    kind: Callable[[str], Hashable],
    apart: Callable[[str, str], bool],
    *,
    drop_spaces: bool = True,
    symbols: Sequence[str] = (),
) -> PlainRules:
    r"""Return the rules of plain text: ASCII that is cut into words while it is counted.

    Each line is read with the ``\n`` before it.

    Args:
        letters: what becomes of each of the 128 characters of ASCII; ``" "`` parts words; ``""``
            if that depends on more than one character.
        kind: returns the kind of a letter; at most seven, not counting the space.
        apart: whether two neighbouring letters are of two words. Letters of one kind do alike. A
            space is always apart from the letter before it.
        drop_spaces: whether a space alone is no word; otherwise what holds one is not plain.
        symbols: what holds one is not plain.
    """
    kinds = {letter: None if letter == " " else kind(letter) for letter in letters if letter}
    examples = {kind: letter for letter, kind in kinds.items()}
    bits = {kind: 1 << place for place, kind in enumerate(examples)}
    ends, starts = bytearray(128), bytearray(128)
    of_kind = {
        kind: sum(bits[left] for left in bits if letter == " " or apart(examples[left], letter))
        for kind, letter in examples.items()
    }
    for letter, of in kinds.items():
        ends[ord(letter)], starts[ord(letter)] = bits[of], of_kind[of]
    spelled = bytes(ord(letter) if letter else 0 for letter in letters)
    return _kernel.PlainRules(spelled, bytes(ends), bytes(starts), drop_spaces, symbols)


class LineCounter:
    r"""Counts the distinct words of lines, or whole lines; empty lines are left out.

    A line is cut before each space that follows a printable ASCII character. Each chunk but
    a line's first starts with that space; the first starts with ``\n``, whatever it holds.

    Args:
        threads: the number of threads; the result does not depend on it.
        words: whether lines are cut; without, chunks are whole lines and bear no mark.
        longest: lines of more bytes are skipped; 0 for no limit.
        skip_reserved: whether lines that hold U+2585 are skipped.
        plain: the rules by which plain chunks are cut into words at once
            (:func:`make_plain_rules`).
        stages: cuts the other chunks further, where neither normalizer nor splitter looks across.
    """

    def __init__(
        self,
        threads: int,
        *,
        words: bool = True,
        longest: int = 0,
        skip_reserved: bool = False,
        plain: PlainRules | None = None,
        stages: StageRunner | None = None,
    ) -> None:
        self._threads = threads
        self._counter = _kernel.WordCounter(words, longest, skip_reserved, plain, stages)

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count the lines of documents."""
        self._counter.add_texts(texts, self._threads)

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count the lines of slices of a text."""
        self._counter.add_slices(text, bounds, self._threads)

    @staticmethod
    def cut(text: Text, start: int, end: int) -> int:
        """Return the start of the first line after a byte, or the end."""
        data = text if isinstance(text, mmap | bytes | bytearray) else utf8(text)
        found = data.find(b"\n", start, end)
        return end if found < 0 else found + 1

    spill_files = 2
    """The number of files that :meth:`spill_to` takes."""

    def spill_to(self, memory: int, chunks: int, plain: int, *, space: int | None = None) -> None:
        """From now on, write chunks to two files if they need more than ``memory`` bytes.

        An error of a file is an OSError; a BufferError says that they need more than ``space``
        bytes, or one of them more than half.
        """
        self._counter.limit(memory, chunks, plain, _NO_LIMIT if space is None else space)

    def weigh(self, weight: int) -> None:
        """From now on, count each chunk ``weight`` times; only after :meth:`spill_to`."""
        self._counter.weigh(weight)

    @property
    def spilled(self) -> int:
        """The number of bytes written to the files."""
        return self._counter.spilled

    @property
    def file_size(self) -> int:
        """The size of both files in bytes."""
        return self._counter.file_size

    def estimate(self, unit: int) -> Tallies:
        """Estimate the number of distinct chunks and words; see :meth:`ChunkCounter.estimate`."""
        return self._counter.estimate(unit)

    def merge(self, min_count: int, unit: int, memory: int) -> None:
        """Merge equal chunks in the files; see :meth:`ChunkCounter.merge`."""
        self._counter.merge(min_count, unit, memory)

    @property
    def counter(self) -> LineCounter:
        """The counter itself, as other sinks of documents have it."""
        return self

    def end(self) -> None:
        """Do nothing: nothing is left to be counted."""

    def pass_merged(self, take: Take, *, plain: bool) -> None:
        """Call ``take`` with all plain or all other chunks, batch by batch, after :meth:`merge`."""
        for batch in CountedStream(self._counter.stream(plain), _PASSED):
            take(*batch)

    def lines(self) -> tuple[int, int, int]:
        """Return the number of lines that were counted, too long, and reserved."""
        return self._counter.lines()

    def finish(self) -> CountedLines:
        """Return all that was found, in the order in which it was first seen."""
        chunks, plain = self._counter.finish()
        return CountedLines(*chunks, *self._counter.lines(), plain)
