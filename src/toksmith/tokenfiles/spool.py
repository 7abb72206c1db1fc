"""The spool of a shard: the ids of its documents on disk, with a journal to go on after a kill.

A spool is a folder. For each split it has ``NAME.ids``, the ids end to end in the type of the job,
and ``NAME.lengths``, the tokens of each document (int64). Both only grow. ``journal`` has a line of
JSON for the job, then one for each checkpoint: the place in the sources, and the sizes of the files
at that place. A line is written after what it counts has reached the disk (fsync), so after a kill
or a power loss the files are cut to the last line that is whole, and the shard goes on from there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith._base.locks import lock
from toksmith._base.typed import check_type
from toksmith.corpus.blocks import Damage
from toksmith.corpus.remote import as_file
from toksmith.errors import OptionError
from toksmith.tokenfiles.job import Job
from toksmith.tokenfiles.maps import check_map, map_ids
from toksmith.tokenfiles.source import Tokens, TokenSource

_LENGTH = np.dtype("int64")

_TAIL = 1 << 16
"""The number of bytes at the end of a journal that hold its last line, almost always."""


@dataclass(frozen=True)
class SplitSize:
    """The size of one split so far.

    Attributes:
        documents: the number of documents.
        tokens: the number of their tokens.
        longest: the tokens of the longest document.
    """

    documents: int = 0
    tokens: int = 0
    longest: int = 0

    def plus(self, lengths: OffsetArray) -> SplitSize:
        """Return the size with more documents."""
        if not len(lengths):
            return self
        return SplitSize(
            self.documents + len(lengths),
            self.tokens + int(lengths.sum()),
            max(self.longest, int(lengths.max())),
        )


@dataclass(frozen=True)
class Progress:
    """What is done of a shard.

    Attributes:
        piece: the number of the shard's pieces that are done.
        documents: the number of documents done of the piece after them.
        read: the bytes of the source files that are done.
        text_bytes: the bytes of text of all documents so far.
        documents_read: the number of documents so far, those left out included.
        splits: the size of each split.
        damages: the records left out so far because they are damaged.
        is_done: whether the whole shard is done.
    """

    piece: int = 0
    documents: int = 0
    read: int = 0
    text_bytes: int = 0
    documents_read: int = 0
    splits: Mapping[str, SplitSize] = field(default_factory=dict)
    damages: tuple[Damage, ...] = ()
    is_done: bool = False

    @property
    def tokens(self) -> int:
        """The number of tokens of all splits."""
        return sum(size.tokens for size in self.splits.values())


class Spool:
    """The spool of a shard, open for writing. One process at a time has it open.

    Args:
        folder: the folder; it is made if it is missing.
        job: the job.
        number: the number of the shard.

    Attributes:
        progress: what is on disk.

    Raises:
        OptionError: the folder holds documents of another job, another process works on it, or it
            cannot be written to.
    """

    def __init__(self, folder: Path, job: Job, number: int) -> None:
        self._folder = folder
        self._itemsize = np.dtype(job.dtype).itemsize
        self._files: dict[str, tuple[BinaryIO, BinaryIO]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._journal = (folder / "journal").open("a+b")
        try:
            lock(self._journal.fileno(), folder)
            held = read_journal(folder)
            if held is None or len(held.lines) == 1:  # without a checkpoint, nothing is kept
                self._journal.truncate(0)
                self._write_line({"job": job.to_json(), "shard": number})
                held = Journal(job, number, [_start(job)], [self._journal.tell()])
            else:
                check_same(held.job, job, folder)
            for name in job.split_names:
                self._files[name] = (
                    (folder / f"{name}.ids").open("ab"), (folder / f"{name}.lengths").open("ab"),
                )  # fmt: skip
            self.progress = self._cut_back(held)
        except BaseException:
            self.close()
            raise

    def _cut_back(self, journal: Journal) -> Progress:
        """Cut all files to the last checkpoint that they hold whole, and return it."""
        for progress, end in zip(reversed(journal.lines), reversed(journal.ends), strict=True):
            if all(
                os.fstat(file.fileno()).st_size >= size
                for name, files in self._files.items()
                for file, size in zip(files, self._sizes(progress.splits[name]), strict=True)
            ):
                self._journal.truncate(end)
                break
        else:
            raise OptionError(f"{self._folder} is damaged: remove it, and start the shard again")
        for name, files in self._files.items():
            for file, size in zip(files, self._sizes(progress.splits[name]), strict=True):
                file.truncate(size)
        return progress

    def _sizes(self, size: SplitSize) -> tuple[int, int]:
        return size.tokens * self._itemsize, size.documents * _LENGTH.itemsize

    def append(self, documents: Mapping[str, tuple[Tokens, OffsetArray]]) -> None:
        """Append documents to splits: for each, ids in the type of the job, and lengths."""
        for name, (ids, lengths) in documents.items():
            ids_file, lengths_file = self._files[name]
            ids_file.write(np.ascontiguousarray(ids).data)
            lengths_file.write(np.ascontiguousarray(lengths, _LENGTH).data)

    def checkpoint(self, progress: Progress) -> None:
        """Record what is done; all documents up to there have been appended."""
        for files in self._files.values():
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        known = len(self.progress.damages)
        self._write_line(
            {
                "piece": progress.piece,
                "documents": progress.documents,
                "read": progress.read,
                "text_bytes": progress.text_bytes,
                "documents_read": progress.documents_read,
                "splits": {
                    name: [size.documents, size.tokens, size.longest]
                    for name, size in progress.splits.items()
                },
                "damages": [[str(path), *rest] for path, *rest in progress.damages[known:]],
                "is_done": progress.is_done,
            }
        )
        self.progress = progress

    def _write_line(self, held: Mapping[str, Any]) -> None:
        self._journal.write(json.dumps(held).encode() + b"\n")
        self._journal.flush()
        os.fsync(self._journal.fileno())

    def close(self) -> None:
        """Close all files."""
        for files in self._files.values():
            for file in files:
                with suppress(OSError):  # what a full disk does not take is cut off later
                    file.close()
        with suppress(OSError):
            self._journal.close()


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Turn errors of the system, such as a full disk, into OptionError with what to do."""
    try:
        yield
    except FileNotFoundError as wrong:
        raise OptionError(
            f"{folder} was removed meanwhile: another process works on this folder, or has just "
            "finished it. Wait for it, then give the same command again"
        ) from wrong
    except OSError as wrong:
        raise OptionError(
            f"{folder} cannot be written to: {wrong.strerror or wrong}. What is written so far is "
            "kept: remove the cause, then give the same command again"
        ) from wrong


@contextmanager
def locked(work: Path) -> Iterator[None]:
    """Keep other processes from writing the files of the same work.

    Raises:
        OptionError: another process writes them.
    """
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("ab") as file:
        lock(file.fileno(), work)
        yield


@dataclass(frozen=True)
class Journal:
    """The content of a journal.

    Attributes:
        job: the job.
        shard: the number of the shard.
        lines: the checkpoints, the oldest first; the first is the start.
        ends: the end of each of their lines in the file, in bytes.
    """

    job: Job
    shard: int
    lines: list[Progress]
    ends: list[int]


def _start(job: Job) -> Progress:
    return Progress(splits=dict.fromkeys(job.split_names, SplitSize()))


_DAMAGES = (
    *(ValueError, KeyError, TypeError, AttributeError),
    *(IndexError, OverflowError, RecursionError, OptionError),
)
"""The errors of reading damaged JSON."""


def read_journal(folder: Path) -> Journal | None:
    """Return the journal of a spool; ``None`` if there is none.

    A last line that is not whole is ignored; a first one that is not whole counts as none.

    Raises:
        OptionError: the journal is damaged.
    """
    path = folder / "journal"
    if not path.exists():
        return None
    first, *rest = path.read_bytes().split(b"\n")
    if not rest:
        return None
    try:
        head = json.loads(first)
        job = Job.from_json(head["job"])
        shard = int(head["shard"])
        progress = _start(job)
        lines, ends = [progress], [len(first) + 1]
        for line in rest[:-1]:
            latest = _checkpoint(line)
            progress = replace(latest, damages=progress.damages + latest.damages)
            lines.append(progress)
            ends.append(ends[-1] + len(line) + 1)
    except _DAMAGES as wrong:
        raise OptionError(
            f"{path} is damaged ({wrong}): remove the folder, and start the shard again"
        ) from wrong
    return Journal(job, shard, lines, ends)


def _checkpoint(line: bytes) -> Progress:
    """Return the checkpoint of a line of the journal, with the damages since the one before."""
    held = json.loads(line)
    splits = {name: SplitSize(*size) for name, size in held.pop("splits").items()}
    damages = tuple(Damage(as_file(path), *rest) for path, *rest in held.pop("damages"))
    found = Progress(**held, splits=splits, damages=damages)
    check_type(found, Progress, "a checkpoint")
    return found


def latest_progress(folder: Path) -> Progress | None:
    """Return the last checkpoint of a shard that another process works on, without its damages.

    Only the end of the journal is read. ``None`` if there is no checkpoint yet.
    """
    try:
        with (folder / "journal").open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            line = file.read().split(b"\n")[-2]
        return replace(_checkpoint(line), damages=())
    except (OSError, *_DAMAGES):
        return None


def check_same(before: Job, now: Job, folder: object) -> None:
    """Check that a folder belongs to this job.

    Raises:
        OptionError: it belongs to another one; the message names what differs.
    """
    if differences := before.differences(now):
        several = "; ".join(differences[:5]) + ("; …" if len(differences) > 5 else "")
        raise OptionError(
            f"{folder} holds work of another job: {several}. Give the same files and options to go "
            "on with it, or another output folder"
        )


class SpooledSplit(TokenSource):
    """One split of a spool that is done, for reading.

    Args:
        folder: the folder of the spool.
        name: the name of the split.
        dtype: the type of the ids.
    """

    def __init__(self, folder: Path, name: str, dtype: np.dtype[Any]) -> None:
        self._path = folder / f"{name}.ids"
        self._dtype = dtype
        self._ids = map_ids(self._path, dtype)
        self._lengths = cast("OffsetArray", map_ids(folder / f"{name}.lengths", _LENGTH))
        self._bounds: OffsetArray | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the ids."""
        return self._dtype

    @property
    def lengths(self) -> OffsetArray:
        """The number of tokens of each document."""
        check_map(self._lengths)
        return self._lengths

    def ids(self, first: int, last: int) -> Tokens:
        """Return the ids of documents ``first`` to ``last - 1``, end to end."""
        if self._bounds is None:
            self._bounds = np.zeros(len(self._lengths) + 1, np.int64)
            np.cumsum(self._lengths, out=self._bounds[1:])
        check_map(self._ids)
        return self._ids[self._bounds[first] : self._bounds[last]]

    def save_ids(self, path: Path) -> None:
        """Make the file of ids available under another name, without a copy where that works."""
        try:
            os.link(self._path, path)
        except OSError:  # another file system, or one without links
            super().save_ids(path)
