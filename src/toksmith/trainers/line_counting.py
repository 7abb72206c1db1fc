"""Line counters in Python, for options that need each line by itself."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence

from toksmith._base.arrays import Bounds
from toksmith._base.lazy import np
from toksmith._base.text import Text, utf8
from toksmith.engine.counting import CountedLines, LineCounter
from toksmith.errors import OptionError

RESERVED = "\u2585".encode()
"""SentencePiece skips lines that hold this: it marks unknown characters with it."""


class Lines:
    """A counter of lines; empty ones are left out.

    Args:
        longest: longer lines, in bytes, are skipped.

    Attributes:
        too_long: how many were skipped for their length.
        reserved: how many were skipped because they hold U+2585.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self.too_long = 0
        self.reserved = 0

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Take the lines of documents."""
        for text in texts:
            for line in utf8(text).split(b"\n"):
                if line:
                    self.add_line(line)

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Take the lines of slices of a text."""
        data = memoryview(text.encode() if isinstance(text, str) else text)
        self.add_texts([data[start:end].tobytes() for start, end in bounds.tolist()])

    def cut(self, text: Text, start: int, end: int) -> int:
        """Return the start of the first line after a byte, or the end."""
        return LineCounter.cut(text, start, end)

    def add_line(self, line: bytes) -> None:
        """Take one line."""
        raise NotImplementedError

    def takes(self, line: bytes) -> bool:
        """Return whether a line is not to be skipped."""
        if len(line) > self._longest:
            self.too_long += 1
        elif RESERVED in line:
            self.reserved += 1
        else:
            return True
        return False


class DrawnLines(Lines):
    """So many lines, drawn at random (a reservoir, Vitter 1985) or the first ones.

    Args:
        longest: longer lines, in bytes, are skipped.
        size: how many lines to keep.
        seed: what the draw depends on; ``None`` for the first ones.

    Attributes:
        lines: those that were kept.
    """

    def __init__(self, longest: int, size: int, seed: int | None) -> None:
        super().__init__(longest)
        self._size = size
        self._random = None if seed is None else random.Random(seed)
        self._seen = 0
        self.lines: list[bytes] = []

    def add_line(self, line: bytes) -> None:
        """Keep a line, perhaps."""
        if not self.takes(line):
            return
        self._seen += 1
        if len(self.lines) < self._size:
            self.lines.append(line)
        elif self._random and (place := self._random.randrange(self._seen)) < self._size:
            self.lines[place] = line


class TsvLines(Lines):
    """Lines that bring their counts: ``sentence<TAB>count``."""

    def __init__(self, longest: int) -> None:
        super().__init__(longest)
        self._counts: Counter[bytes] = Counter()

    def add_counts(self, counted: Iterable[tuple[bytes, int]]) -> None:
        """Take sentences that were counted before."""
        for sentence, count in counted:
            if self.takes(sentence):
                self._counts[sentence] += count

    def add_line(self, line: bytes) -> None:
        """Take a sentence and its count.

        Raises:
            OptionError: it is no such line.
        """
        sentence, tab, count = line.partition(b"\t")
        try:
            number = int(count)
        except ValueError:
            number = 0
        if not tab or number < 1:
            raise OptionError(
                f'input_format is "tsv", but a line is {line.decode(errors="replace")!r:.80}: use '
                "a sentence, a tab and how often it occurs in the text"
            )
        if sentence and self.takes(sentence):
            self._counts[sentence] += number

    def finish(self) -> CountedLines:
        """Return the sentences in the order in which they were first seen."""
        counts = self._counts
        ends = np.cumsum(np.fromiter(map(len, counts), np.uint64, len(counts)), dtype=np.uint64)
        none = np.zeros(0, np.uint64)
        return CountedLines(
            b"".join(counts),
            ends,
            np.fromiter(counts.values(), np.uint64, len(counts)),
            sum(counts.values()),
            self.too_long,
            self.reserved,
            (b"", none, none),
        )
