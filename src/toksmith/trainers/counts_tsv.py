"""Counts as SentencePiece reads them with ``input_format=tsv``: a word, a tab, its count."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from toksmith._base.files import replacing
from toksmith.corpus import AnyPath
from toksmith.errors import FormatError, UnsupportedError
from toksmith.splitters import PatternSplitter
from toksmith.trainers.counts import Counts

_MOST = 2**63 - 1
_DIGITS = len(str(_MOST))


def read(path: AnyPath, splitter: PatternSplitter | None = None) -> Counts:
    """Read counts; see :meth:`toksmith.Counts.from_tsv`."""
    found: Counter[bytes] = Counter()
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, 1):
                word, tab, count = line.rstrip(b"\r\n").partition(b"\t")
                if not (word and tab and _is_count(count)):
                    raise FormatError(
                        path,
                        f"line {number} is {line.decode(errors='replace')!r:.80}: a word, a tab "
                        "and how often it occurs in the text are wanted",
                    )
                found[word] += int(count)
    except FileNotFoundError:
        raise FormatError(path, "there is no such file") from None
    except (OSError, ValueError) as wrong:
        if isinstance(wrong, FormatError):
            raise
        raise FormatError(path, f"cannot be read: {getattr(wrong, 'strerror', wrong)}") from wrong
    return Counts.of(found, split=splitter)


def write(counts: Counts, path: AnyPath) -> None:
    """Write counts, all or nothing; see :meth:`toksmith.Counts.to_tsv`."""
    with replacing(Path(path)) as temporary, temporary.open("xb") as file:
        for chunk, count in counts:
            if b"\t" in chunk or b"\n" in chunk:
                raise UnsupportedError(
                    f"tsv cannot hold the chunk {chunk!r:.60}: a tab ends a word, and a line break "
                    r'a line; words of split=r"\S+", gaps="drop" have neither'
                )
            if count:
                file.write(b"%s\t%d\n" % (chunk, count))


def _is_count(digits: bytes) -> bool:
    return digits.isdigit() and len(digits) <= _DIGITS and 0 < int(digits) <= _MOST
