"""Memory limits of counting and training, and the errors if counts or words exceed them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING

from toksmith._base.checks import whole
from toksmith._base.lazy import np, npt
from toksmith._base.sizes import format_size, rounded_up
from toksmith._base.visible import count_of
from toksmith.engine.counting import Tallies, UInts
from toksmith.engine.training import ENOUGH, BlockFile, ChunkStore
from toksmith.errors import OptionError, TrainingError
from toksmith.trainers.temporary_files import TemporaryFiles

if TYPE_CHECKING:
    from toksmith.engine.counting import ChunkCounter, LineCounter

Need = Callable[[int, int], int]
"""A function of the number and total size of distinct chunks: the memory needed, in bytes."""

_LONG = 1 << 12
"""A mean chunk size in bytes above which chunks are presumably whole documents."""

_TABLES, _MERGING = 0.45, 0.25
"""The shares of the memory for counts: for counting, and for merging spilled counts."""

_OTHER = 80 << 20
"""The memory of the interpreter and of reading ahead, in bytes; of a small limit, at most half."""


def size_of_counts(chunks: int, size: int) -> int:
    """Return the memory of a ``Counts`` in bytes."""
    return size + 24 * chunks


def size_of_stream(chunks: int, size: int) -> int:
    """Return the memory of counts that are read in batches: none to speak of."""
    del chunks, size
    return 0


@dataclass(eq=False)
class MemoryLimits:
    """The memory limit of counting, and the least count of a chunk.

    Attributes:
        limit: the limit in bytes; ``None`` for no limit.
        min_count: chunks with a smaller count are left out.
        need: the memory that the next step needs for the counts.
        of_words: whether ``min_count`` is of words that a model makes of the text, not of chunks of
            the text.
        advice: what else helps if chunks do not fit, for the error message.
        spill_limit: the maximum size of the temporary files in bytes; ``None`` for no limit.
        learns: whether a model is learned from the counts, which takes further temporary files.
        files: the temporary files for what exceeds the limit.
        spilled: the number of bytes written to disk.
        expected: the memory that a later step needs for the counts, if not :attr:`need`.
        expected_least: the least count of a chunk that matters in that step.

    Raises:
        OptionError: ``min_count`` is out of range, or ``spill_limit`` is given without ``limit``.
    """

    limit: int | None = None
    min_count: int = 1
    need: Need = size_of_counts
    of_words: bool = False
    advice: str = ""
    spill_limit: InitVar[int | None] = None
    learns: InitVar[bool] = False
    files: TemporaryFiles = field(init=False)
    spilled: int = field(default=0, init=False)
    expected: Need | None = field(default=None, init=False)
    expected_least: int = field(default=1, init=False)

    def __post_init__(self, spill_limit: int | None, learns: bool) -> None:
        whole("min_count", self.min_count, least=1)
        if spill_limit is not None and self.limit is None:
            raise OptionError("spill_limit= is given without memory=: nothing is spilled then")
        in_memory = int(self._for_counts * _TABLES)
        self.files = TemporaryFiles(spill_limit, self.limit or 0, in_memory, learns)

    @property
    def _for_counts(self) -> int:
        """The memory for counts in bytes."""
        limit = self.limit or 0
        return max(limit - _OTHER, limit // 2)

    def given(self) -> dict[str, int]:
        """Return the options that change the result, if they are not the default."""
        return {"min_count": self.min_count} if self.min_count > 1 else {}

    @contextmanager
    def spill(self, counter: ChunkCounter | LineCounter) -> Iterator[None]:
        """Give a counter temporary files for counts that do not fit, for the ``with`` block.

        Raises:
            OptionError: the disk is full or fails, ``TMPDIR`` is no writable folder, or the file
                would exceed ``spill_limit``.
        """
        if self.limit is None:
            yield
            return
        space = self.files.space
        with ExitStack() as files:
            descriptors = [
                files.enter_context(self.files.open()).fileno() for _ in range(counter.spill_files)
            ]
            with self.files.within_space():
                counter.spill_to(self.files.in_memory, *descriptors, space=space)
                yield

    @contextmanager
    def block_file(self) -> Iterator[BlockFile | None]:
        """Make a temporary file that limits its size; yields ``None`` if memory has no limit.

        Raises:
            OptionError: as :meth:`spill`.
        """
        if self.limit is None:
            yield None
            return
        space = self.files.space
        with self.files.open() as file, self.files.within_space():
            yield BlockFile(file.fileno(), space)

    def merge(self, counter: ChunkCounter, unit: int = 1) -> None:
        """Merge the spilled counts of a counter; counts are rounded to units.

        Raises:
            OptionError: the merged counts would not fit into memory.
        """
        if self.limit is not None:
            least = self.min_count if self.min_count > 1 or unit > 1 else 0
            tallies = counter.merge(least, unit, int(self._for_counts * _MERGING))
            self._note_merged(counter)
            if counter.spilled:
                self.check(tallies)

    def merge_all(self, counter: ChunkCounter | LineCounter, unit: int = 1) -> None:
        """Merge the spilled counts of a counter, rare chunks included, to be passed on in batches.

        Args:
            counter: the counter.
            unit: counts are rounded to units.
        """
        if self.limit is not None:
            counter.merge(int(unit > 1), unit, int(self._for_counts * _MERGING))
            self._note_merged(counter)

    def _note_merged(self, counter: ChunkCounter | LineCounter) -> None:
        self.spilled += counter.spilled
        self.files.share = None

    @property
    def for_merging(self) -> int:
        """The memory for merging in bytes, besides that of :meth:`chunk_store`."""
        return ENOUGH if self.limit is None else self._for_counts // 2

    @property
    def for_pieces(self) -> int:
        """The memory for learning Unigram pieces in bytes; 0 for no limit."""
        return 0 if self.limit is None else self._for_counts

    @contextmanager
    def chunk_store(self) -> Iterator[ChunkStore]:
        """Make a store of chunks to merge, with a temporary file for what exceeds a quarter.

        Raises:
            OptionError: the disk is full or fails, or ``TMPDIR`` is no writable folder.
        """
        if self.limit is None:
            yield ChunkStore()
            return
        with self.files.open() as file:
            yield ChunkStore(self._for_counts // 4, file.fileno(), self.files.check)

    def limit_for(self, pieces: int) -> str:
        """Return the least limit with which :attr:`for_pieces` is this size, for a message."""
        return rounded_up(min(pieces + _OTHER, 2 * pieces))

    @property
    def is_forecast(self) -> bool:
        """Whether the model needs memory for each chunk or word, so that a forecast is of use."""
        return (self.expected or self.need)(1 << 30, 1 << 30) > 0

    def check(self, tallies: Tallies, least: int | None = None) -> None:
        """Raise OptionError if the chunks need more memory than the limit.

        Args:
            tallies: the numbers of chunks.
            least: chunks with a smaller count do not matter; default: ``min_count``.
        """
        refusal = self._refusal(*at_least(tallies), self.need, least or self.min_count)
        if refusal is not None:
            raise OptionError(f"{refusal}{self.files.kept()}")

    def forecast(
        self, chunks: UInts, sizes: UInts, share: float, *, margin: float, times: float
    ) -> OptionError | None:
        """Return the error if a forecast of the chunks of a text exceeds the limit.

        Args:
            chunks: the number of distinct chunks that occur at least 0, 1, 2 … times.
            sizes: the number of their bytes.
            share: the share of the text that the forecast is based on.
            margin: the error advises what fits even if this many times as much is needed.
            times: the least ratio of what is needed to the limit.
        """
        need, least = self.expected or self.need, max(self.min_count, self.expected_least)
        return self._refusal(chunks, sizes, need, least, share, margin=margin, times=times)

    def _refusal(
        self,
        chunks: UInts,
        sizes: UInts,
        need: Need,
        least: int,
        share: float = 1.0,
        *,
        margin: float = 1.0,
        times: float = 1.0,
    ) -> OptionError | None:
        least = min(least, len(chunks) - 1)
        total, held = int(chunks[least]), int(sizes[least])
        needed = need(total, held)
        if self.limit is None or needed <= times * self.limit:
            return None
        shown = total if share == 1 else int(float(f"{total:.1e}"))  # a forecast has two digits
        distinct = count_of(shown, "distinct chunk")
        if share < 1:
            what = f"after {share:.0%} of the text, about {distinct} are expected, which take"
        else:
            what = f"{distinct} {'takes' if total == 1 else 'take'}"
        return OptionError(
            f"{what} about {format_size(needed)}, more than memory={format_size(self.limit)}: give "
            f"more memory (memory={rounded_up(int(margin * needed))})"
            + self._advice(chunks, sizes, least, lambda *some: int(margin * need(*some)))
        )

    def _advice(self, chunks: UInts, sizes: UInts, least: int, need: Need) -> str:
        """Return what helps besides more memory."""
        assert self.limit is not None
        advice = ""
        mean = int(sizes[least]) // max(int(chunks[least]), 1)
        if mean >= _LONG:
            advice = (
                f". The mean chunk has {format_size(mean)}, so documents are probably not split: "
                "use split=, or separator= between the documents of a file"
            )
        for count in range(least + 1, len(chunks)):
            if chunks[count] and need(int(chunks[count]), int(sizes[count])) <= self.limit:
                of_count = (sizes[:count] - sizes[1 : count + 1]).astype(np.int64)
                left_out = int(np.dot(np.arange(count), of_count))
                advice += (
                    f", or min_count={count}, which leaves out {format_size(left_out)} of text in "
                    "chunks that are rarer"
                )
                break
        return advice + (f", or {self.advice}" if self.advice else "")


def at_least(tallies: Tallies) -> Tallies:
    """Return the number of chunks, and their bytes, that occur at least 0, 1, 2 … times."""
    chunks, sizes = (np.cumsum(part[::-1])[::-1] for part in tallies)
    return chunks, sizes


@contextmanager
def within_memory(on_chunks: bool) -> Iterator[None]:
    """Convert a MemoryError to a TrainingError that says what to do.

    Args:
        on_chunks: whether the model trains on chunks; other models count words or lines.

    Raises:
        TrainingError: there was a MemoryError, or no thread could be started.
    """
    try:
        yield
    except RuntimeError as wrong:
        if "thread" not in str(wrong):
            raise
        raise TrainingError(
            f"a thread cannot be started ({wrong}): memory or the system's limit of threads is "
            "exhausted; use threads=1, or sample= for a share of the documents"
        ) from wrong
    except MemoryError as wrong:
        if not on_chunks:
            raise TrainingError(
                "there is not enough memory for the words and lines of this text: with memory=, "
                "those beyond a limit go to temporary files, and sample= takes a share of the "
                "documents"
            ) from wrong
        raise TrainingError(
            "there is not enough memory for the distinct chunks of this text. Without a split "
            "pattern each document is one chunk, which takes some 40 times its size: use split=, "
            "or separator= between the documents of a file; otherwise, with memory=, chunks beyond "
            "a limit go to temporary files, and sample= takes a share of the documents"
        ) from wrong


def tallies_of(sizes: npt.NDArray[np.uint64], counts: npt.NDArray[np.uint64]) -> Tallies:
    """Return the tallies of counts in memory."""
    most = np.minimum(counts, np.uint64(1023)).astype(np.int64)
    return (
        np.bincount(most, minlength=1024).astype(np.uint64),
        np.bincount(most, sizes.astype(np.float64), minlength=1024).astype(np.uint64),
    )
