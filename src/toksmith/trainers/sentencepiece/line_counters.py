"""Line counters in Python, for options that process each line separately."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from toksmith._base.arrays import Bounds
from toksmith._base.lazy import np
from toksmith._base.text import Text, utf8
from toksmith.engine.counting import ChunkCounter, LineCounter
from toksmith.errors import OptionError

RESERVED = "\u2585".encode()
"""SentencePiece's internal mark of unknown characters (U+2585); it skips lines that hold it."""


class Lines:
    """A counter of non-empty lines.

    Args:
        longest: the maximum length of a line in bytes; longer lines are skipped.

    Attributes:
        counter: the counter of used lines in the kernel.
        too_long: the number of lines skipped for their length.
        reserved: the number of lines skipped because they hold U+2585.
    """

    def __init__(self, longest: int, counter: LineCounter | ChunkCounter) -> None:
        self._longest = longest
        self.counter = counter
        self.too_long = 0
        self.reserved = 0

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Add the lines of documents."""
        for text in texts:
            for line in utf8(text).split(b"\n"):
                if line:
                    self.add_line(line)

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Add the lines of slices of a text."""
        data = memoryview(text.encode() if isinstance(text, str) else text)
        self.add_texts([data[start:end].tobytes() for start, end in bounds.tolist()])

    def cut(self, text: Text, start: int, end: int) -> int:
        """Return the start of the first line after a byte, or the end."""
        return LineCounter.cut(text, start, end)

    def add_line(self, line: bytes) -> None:
        """Add one line."""
        raise NotImplementedError

    def takes(self, line: bytes) -> bool:
        """Return whether a line is used; if not, count it as skipped."""
        if len(line) > self._longest:
            self.too_long += 1
        elif RESERVED in line:
            self.reserved += 1
        else:
            return True
        return False


class DrawnLines(Lines):
    """A number of lines, drawn at random (reservoir sampling, Vitter 1985), or the first ones.

    Args:
        longest: the maximum length of a line in bytes; longer lines are skipped.
        size: the number of lines to keep.
        seed: the random seed; ``None`` keeps the first lines.
        counter: counts the drawn lines.
    """

    def __init__(self, longest: int, size: int, seed: int | None, counter: LineCounter) -> None:
        super().__init__(longest, counter)
        self._size = size
        self._random = None if seed is None else random.Random(seed)
        self._seen = 0
        self._lines: list[bytes] = []

    def add_line(self, line: bytes) -> None:
        """Keep a line or not, as the reservoir decides."""
        if not self.takes(line):
            return
        self._seen += 1
        if len(self._lines) < self._size:
            self._lines.append(line)
        elif self._random and (place := self._random.randrange(self._seen)) < self._size:
            self._lines[place] = line

    def end(self) -> None:
        """Count the drawn lines."""
        self.counter.add_texts(self._lines)
        self._lines = []

    def lines(self) -> tuple[int, int, int]:
        """Return the number of lines that were counted, too long, and reserved."""
        assert isinstance(self.counter, LineCounter)
        return self.counter.lines()[0], self.too_long, self.reserved


class TsvLines(Lines):
    """A counter of lines with counts: ``sentence<TAB>count``."""

    def __init__(self, longest: int) -> None:
        super().__init__(longest, ChunkCounter(None, 1))
        self._pending: list[bytes] = []
        self._counts: list[int] = []
        self._total = 0

    def add_counts(self, counted: Iterable[tuple[bytes, int]]) -> None:
        """Add the lines of counted documents, each a sentence, and no more after them."""
        for document, count in counted:
            for sentence in document.split(b"\n"):
                if sentence and self.takes(sentence):
                    self._add(sentence, count)
        self.end()

    def add_line(self, line: bytes) -> None:
        """Add a sentence with its count.

        Raises:
            OptionError: the line has another form.
        """
        sentence, tab, count = line.partition(b"\t")
        try:
            number = int(count)
        except ValueError:
            number = 0
        if not tab or number < 1:
            raise OptionError(
                f'input_format is "tsv", but a line is {line.decode(errors="replace")!r:.80}: use '
                "a sentence, a tab and its count"
            )
        if sentence and self.takes(sentence):
            self._add(sentence, number)

    def _add(self, sentence: bytes, count: int) -> None:
        self._pending.append(sentence)
        self._counts.append(count)
        self._total += count
        if len(self._pending) >= _AT_ONCE:
            self.end()

    def end(self) -> None:
        """Count the pending sentences."""
        assert isinstance(self.counter, ChunkCounter)
        sizes = np.fromiter(map(len, self._pending), np.uint64, len(self._pending))
        counts = np.array(self._counts, np.uint64)
        ends = np.cumsum(sizes, dtype=np.uint64)
        self.counter.add_counted(b"".join(self._pending), ends, counts)
        self._pending, self._counts = [], []

    def lines(self) -> tuple[int, int, int]:
        """Return the number of sentences that were counted, too long, and reserved."""
        return self._total, self.too_long, self.reserved


_AT_ONCE = 4096
"""The number of sentences that are counted with one call."""
