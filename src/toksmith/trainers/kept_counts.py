"""Counted chunks in a temporary file, for a training that reads them several times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import IO

from toksmith._base.lazy import np
from toksmith.engine.counting import Take, UInts
from toksmith.trainers.streamed_counts import StreamedCounts


class KeptCounts:
    """Batches of counted chunks in a file.

    Args:
        file: an empty file; its owner closes it.
        check: called before each batch is written.

    Attributes:
        counts: the counts, once they were passed on and written; ``None`` before.
    """

    def __init__(self, file: IO[bytes], check: Callable[[], object]) -> None:
        self._file, self._check = file, check
        self._batches: list[tuple[int, int]] = []  # the bytes, and the number of chunks
        self.counts: StreamedCounts | None = None

    def keep(self, counts: StreamedCounts) -> StreamedCounts:
        """Return counts that are written to the file while they are passed on."""
        return replace(counts, pass_on=partial(self._write_passed, counts))

    def _write_passed(self, counts: StreamedCounts, take: Take) -> None:
        def write(chunks: bytes, ends: UInts, numbers: UInts) -> None:
            self._check()
            for part in (chunks, ends.tobytes(), numbers.tobytes()):
                self._file.write(part)
            self._batches.append((len(chunks), len(ends)))
            take(chunks, ends, numbers)

        counts.pass_on(write)
        self.counts = replace(counts, pass_on=self._pass_on)

    def _pass_on(self, take: Take) -> None:
        self._file.seek(0)
        for size, chunks in self._batches:
            data = self._file.read(size)
            ends = np.frombuffer(self._file.read(8 * chunks), np.uint64)
            take(data, ends, np.frombuffer(self._file.read(8 * chunks), np.uint64))
