"""Files of counts: made from a corpus, and merged, without holding the counts in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Literal

from toksmith._base.threads import thread_count
from toksmith.corpus import AnyPath, Files, Reading
from toksmith.corpus.remote import as_file
from toksmith.errors import OptionError
from toksmith.splitters import splitter
from toksmith.trainers.counts import a_path, stream_chunks, stream_sum
from toksmith.trainers.counts_files import CountsFile, pieces, write
from toksmith.trainers.memory import MemoryLimits, parse_size


def count_corpus(
    files: AnyPath | Sequence[AnyPath],
    *,
    output: AnyPath,
    split: str | None = "gpt4",
    gaps: Literal["keep", "drop"] = "keep",
    reading: Reading | None = None,
    memory: int | str | None = None,
    spill_limit: int | str | None = None,
    min_count: int = 1,
    threads: int | None = None,
    progress: bool | None = None,
) -> CountsFile:
    """Count the chunks of files and write the counts to a file."""
    limits = MemoryLimits(
        parse_size(memory), min_count, spill_limit=parse_size(spill_limit, "spill_limit")
    )
    path = as_file(a_path(output, "output"))
    source = Files(files, reading or Reading(), memory=limits.limit)
    cut_by = splitter(split, gaps)
    with stream_chunks(source, cut_by, thread_count(threads), progress, limits) as counts:
        write(counts, path)
    return CountsFile(path)


def merge_counts(
    inputs: AnyPath | Sequence[AnyPath],
    *,
    output: AnyPath,
    memory: int | str | None = None,
    spill_limit: int | str | None = None,
    min_count: int = 1,
) -> CountsFile:
    """Add files of counts in this order, and write the sum to a file."""
    limits = MemoryLimits(
        parse_size(memory), min_count, spill_limit=parse_size(spill_limit, "spill_limit")
    )
    path = as_file(a_path(output, "output"))
    parts = (piece for each in counts_paths(inputs) for piece in pieces(each))
    with stream_sum(parts, limits) as counts:
        write(counts, path)
    return CountsFile(path)


def counts_paths(inputs: AnyPath | Sequence[AnyPath]) -> list[AnyPath]:
    """Return the files of counts of an argument.

    Raises:
        OptionError: it is no path or list of paths, or the list is empty.
    """
    if isinstance(inputs, bytes) or not isinstance(inputs, str | PathLike | Iterable):
        raise OptionError(
            f"inputs is {inputs!r:.80}: give a file of counts, or a list of them, not "
            f"{type(inputs).__name__}"
        )
    several = [inputs] if isinstance(inputs, str | PathLike) else list(inputs)
    if not several:
        raise OptionError("inputs is an empty list: give one file of counts or more")
    return [a_path(path) for path in several]
