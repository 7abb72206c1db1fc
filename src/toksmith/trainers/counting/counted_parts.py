"""The counts of a corpus, kept in a folder part by part; counting continues from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from toksmith._base.files import dump, encode_json, read_json, write_bytes
from toksmith._base.seals import is_sealed, seal
from toksmith._base.visible import count_of
from toksmith.corpus import DocumentSource, Files, ReadTotals
from toksmith.corpus.hashing import KnownHash
from toksmith.corpus.sources import FileRead
from toksmith.corpus.text_sample import KnownSample
from toksmith.engine.counting import Take
from toksmith.errors import FormatError
from toksmith.splitters import PatternSplitter
from toksmith.trainers.counting.counts import Counts
from toksmith.trainers.counting.files.parquet import CountsFile, pieces, write_passed
from toksmith.trainers.counting.lines import LineCounts

PART_BYTES = 1 << 30
"""The minimum size of a part in bytes. The files of a part are counted and stored together."""

_PARTS = 32
"""The approximate maximum number of parts."""


class CountedParts:
    """A folder with the counts of the parts of a corpus.

    ``counts-0000.parquet`` holds the chunk counts of the first part, complete once
    ``counts-0000.json`` exists, which holds the totals of the text that was read. ``counts=``
    accepts these files like any other counts. For models that make words of lines or documents,
    these are counts of what the words are made of, and ``plain-0000.parquet`` holds the ASCII words
    that the kernel made already.

    Args:
        folder: the folder, which exists before anything is counted.
    """

    PATTERNS: ClassVar = ("counts-*.parquet", "plain-*.parquet", "counts-*.json")
    """The names of the files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def number(self) -> int:
        """The number of parts that were counted completely."""
        return len([*self.folder.glob("counts-*.json")])

    def describe(self) -> str:
        """Return a message on what was counted, and how to continue."""
        if not self.number:
            return "no part was counted completely: the same command starts over"
        return (
            f"the counts of {count_of(self.number, 'part')} of the text are stored in "
            f"{self.folder}: the same command continues from them"
        )

    def advise(self) -> str:
        """Return the end of a message of an error, on the counts; empty if there are none."""
        if not self.number:
            return ""
        return (
            f". The counts are kept in {self.folder}: the same command with such an option goes on "
            "from them"
        )

    def count(
        self,
        source: DocumentSource,
        count: Callable[[DocumentSource], AbstractContextManager[LineCounts]],
        splitter: PatternSplitter | None,
    ) -> tuple[Iterator[Counts], ReadTotals]:
        """Count the chunks of a corpus part by part, except parts that are already counted.

        Args:
            source: the corpus.
            count: a function that counts a part.
            splitter: the splitter that cuts the chunks.

        Returns:
            The counts, which are read lazily, and the totals of the text that was read.
        """

        def count_to(path: Path, part: DocumentSource) -> dict[str, int]:
            with count(part) as found:
                write_passed(found.pass_chunks, path, splitter, part.read().documents)
            return {}

        paths, whole = self._count_parts(_parts(source), count_to)
        return (piece for path in paths for piece in _pieces_of(path)), whole

    def count_lines(
        self,
        source: DocumentSource,
        count: Callable[[DocumentSource], AbstractContextManager[LineCounts]],
        parted: bool,
    ) -> tuple[list[LineCounts], ReadTotals]:
        """Count the lines of a corpus part by part, except parts that are already counted.

        Args:
            source: the corpus.
            count: a function that counts a part.
            parted: whether parts may be counted separately; ``False`` makes one part.

        Returns:
            The counts, which are read lazily, and the totals of the text that was read.
        """

        def count_to(path: Path, part: DocumentSource) -> dict[str, int]:
            with count(part) as found:
                write_passed(found.pass_plain, _plain_path(path))
                write_passed(found.pass_chunks, path)
                return {name: getattr(found, name) for name in _LINES}

        parts = _parts(source) if parted else [source]
        paths, whole = self._count_parts(parts, count_to)
        return [*map(_lines_of, paths)], whole

    def _count_parts(
        self,
        parts: Iterable[DocumentSource],
        count_to: Callable[[Path, DocumentSource], dict[str, int]],
    ) -> tuple[list[Path], ReadTotals]:
        """Count each part to its file, unless its record exists.

        Args:
            parts: the parts.
            count_to: counts a part to a file, and returns further figures for its record.
        """
        whole, paths = ReadTotals(), []
        for number, part in enumerate(parts):
            path = self.folder / f"counts-{number:04}.parquet"
            record = path.with_suffix(".json")
            if not record.exists():
                figures = count_to(path, part)
                entry = seal({**_read_entry(part.read()), **figures})
                write_bytes(record, encode_json(dump(entry)))
            _add(whole, _read_of(record))
            paths.append(path)
        return paths, whole


_LINES = ("lines", "too_long", "reserved")


def _plain_path(path: Path) -> Path:
    """Return the file of the plain words of a part, next to that of its other chunks."""
    return path.with_name(path.name.replace("counts", "plain"))


def _pieces_of(path: Path) -> Iterator[Counts]:
    """Yield the counts of a part piece by piece.

    Raises:
        FormatError: the file is missing or damaged.
    """
    try:
        yield from pieces(CountsFile(path))
    except FormatError as wrong:
        record = path.name.replace("plain", "counts").replace(".parquet", ".json")
        raise FormatError(
            path, f"{wrong.reason}; remove {record} beside it, and the part is counted again"
        ) from wrong.__cause__


def _lines_of(path: Path) -> LineCounts:
    """Return the counted lines of a part."""
    record = path.with_suffix(".json")
    entry = read_json(record, lone_surrogates=True)
    try:
        lines, too_long, reserved = (_number(entry[name]) for name in _LINES)
    except (TypeError, KeyError, ValueError) as wrong:
        raise _damaged_record(record, wrong) from wrong

    def pass_file(path: Path, take: Take) -> None:
        for piece in _pieces_of(path):
            take(piece.chunks, piece.ends, piece.counts)

    return LineCounts(
        *(lines, too_long, reserved),
        pass_chunks=partial(pass_file, path),
        pass_plain=partial(pass_file, _plain_path(path)),
    )


def _parts(source: DocumentSource) -> Sequence[DocumentSource]:
    if not isinstance(source, Files):
        return [source]
    return source.split(max(PART_BYTES, (source.size or 0) // _PARTS))


def _read_entry(read: ReadTotals) -> dict[str, Any]:
    files = [
        {
            **file._asdict(),
            "path": str(file.path),
            "hash": None if file.hash is None else file.hash.hexdigest(),
            "sample": None
            if file.sample is None
            else [text.decode("utf-8", "replace") for text in file.sample.documents()],
        }
        for file in read.files
    ]
    return {**vars(read), "skipped": dict(read.skipped), "files": files}


def _read_of(path: Path) -> ReadTotals:
    entry = read_json(path, lone_surrogates=True)
    try:
        if not is_sealed(entry):
            raise ValueError("it has another SHA-256")
        numbers = {name: _number(entry[name]) for name in ("documents", "bytes", "stored")}
        skipped = {name: _number(number) for name, number in entry["skipped"].items()}
        files = [_file_of(file) for file in entry["files"]]
    except (TypeError, KeyError, ValueError, AttributeError) as wrong:
        raise _damaged_record(path, wrong) from wrong
    return ReadTotals(**numbers, skipped=skipped, files=files)


def _damaged_record(path: Path, wrong: Exception) -> FormatError:
    what = f"{type(wrong).__name__}: {wrong}"
    return FormatError(path, f"is damaged ({what}): delete the checkpoint")


def _file_of(file: Mapping[str, Any]) -> FileRead:
    digits = file["hash"]
    if digits is not None and not re.fullmatch("[0-9a-f]{64}", digits):
        raise ValueError(f"hash is {digits!r:.20}")
    numbers = {name: _number(file[name]) for name in ("size", "documents", "bytes", "weight")}
    known = None if digits is None else KnownHash(digits)
    texts = file["sample"]
    sample = None if texts is None else KnownSample([text.encode() for text in texts])
    return FileRead(path=Path(file["path"]), hash=known, sample=sample, **numbers)


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise ValueError(f"{value!r:.20} is no count")
    return value


def _add(whole: ReadTotals, part: ReadTotals) -> None:
    whole.documents += part.documents
    whole.bytes += part.bytes
    whole.stored += part.stored
    whole.files += part.files
    for reason, number in part.skipped.items():
        whole.skipped[reason] = whole.skipped.get(reason, 0) + number
