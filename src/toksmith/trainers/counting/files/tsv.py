"""Counts as SentencePiece's TSV (``input_format=tsv``): each line is a word, a tab, its count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from toksmith.corpus import AnyPath
from toksmith.corpus.remote import FilePath, open_file_output
from toksmith.engine.counting import UInts
from toksmith.errors import FormatError, UnsupportedError
from toksmith.splitters import PatternSplitter
from toksmith.trainers.counting.counts import Counts
from toksmith.trainers.counting.files.parquet import CountsFile
from toksmith.trainers.counting.streaming import StreamedCounts

TSV_ADVICE = (
    r'count with count_corpus(files, split=r"\S+", gaps="drop") '
    r"(toksmith counts make --split '\S+' --drop-gaps)"
)
"""How to make counts that tsv can hold, for the end of a message."""

_MOST = 2**63 - 1
_DIGITS = len(str(_MOST))


def read_tsv(path: AnyPath, splitter: PatternSplitter | None = None) -> Counts:
    """Read counts; see :meth:`toksmith.Counts.from_tsv`."""
    found: Counter[bytes] = Counter()
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, 1):
                word, tab, count = line.rstrip(b"\r\n").partition(b"\t")
                if not (word and tab and _is_count(count)):
                    raise FormatError(
                        path,
                        f"line {number} is {line.decode(errors='replace')!r:.80}: write a word, "
                        "a tab and its count",
                    )
                found[word] += int(count)
    except FileNotFoundError:
        raise FormatError(path, "there is no such file") from None
    except (OSError, ValueError) as wrong:
        if isinstance(wrong, FormatError):
            raise
        raise FormatError(path, f"cannot be read: {getattr(wrong, 'strerror', wrong)}") from wrong
    return Counts.of(found, split=splitter)


def check_tsv(files: Iterable[CountsFile]) -> None:
    """Check the first chunks of files of counts before their sum is made and written as tsv.

    Raises:
        UnsupportedError: one of the files holds a chunk with a tab or a line break.
    """
    for file in files:
        for data, _, _ in islice(file.batches(), 1):
            if b"\t" in data or b"\n" in data:
                raise UnsupportedError(
                    f"{file.path} holds chunks with a tab or a line break, which tsv cannot hold: "
                    f"{TSV_ADVICE}"
                )


def write_tsv(counts: StreamedCounts, path: FilePath) -> None:
    """Write counts atomically; see :meth:`toksmith.Counts.to_tsv`."""
    with open_file_output(path) as file:

        def add(data: bytes, ends: UInts, numbers: UInts) -> None:
            start = 0
            for end, count in zip(ends.tolist(), numbers.tolist(), strict=True):
                chunk, start = data[start:end], end
                if b"\t" in chunk or b"\n" in chunk:
                    raise UnsupportedError(
                        f"tsv cannot hold the chunk {chunk!r:.60}, which has a tab or a line "
                        f"break: {TSV_ADVICE}"
                    )
                if count:
                    file.write(b"%s\t%d\n" % (chunk, count))

        counts.pass_on(add)


def _is_count(digits: bytes) -> bool:
    return digits.isdigit() and len(digits) <= _DIGITS and 0 < int(digits) <= _MOST
