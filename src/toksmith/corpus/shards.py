"""Shards of a corpus: consecutive parts of about equal size, which are read independently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from toksmith._base.lazy import np
from toksmith.corpus.blocks import Batching, cut_bounds
from toksmith.corpus.options import Reading
from toksmith.corpus.paths import ONE
from toksmith.corpus.pieces import Piece, fingerprint, pieces, read_piece
from toksmith.corpus.remote import FilePath, RemoteFile
from toksmith.corpus.sources import DocumentSink, FileRead, ReadTotals
from toksmith.errors import OptionError

_PIECE = 1 << 28
"""The size of a piece of a source file in bytes, at most."""

_LEAST = 1 << 20
"""The size of a piece at least; eight of them or more make shards of about equal size."""


class SourceFile(NamedTuple):
    """A file of the corpus.

    Attributes:
        path: the path as given or found.
        bytes: its size.
        fingerprint: a hash of its size and parts of its content; see
            :func:`toksmith.corpus.pieces.fingerprint`.
    """

    path: str
    bytes: int
    fingerprint: str


def source_files(paths: Sequence[FilePath]) -> tuple[SourceFile, ...]:
    """Return the files of a corpus with their sizes and fingerprints.

    Raises:
        FormatError: a file cannot be read.
    """
    return tuple(SourceFile(str(path), path.stat().st_size, fingerprint(path)) for path in paths)


def parse_shard(shard: str | tuple[int, int] | None) -> tuple[int | None, int]:
    """Return the number of a shard and the number of shards; ``(None, 1)`` for a whole corpus.

    Raises:
        OptionError: it has another form, or there is no such shard.

    Example:
        >>> parse_shard("3/64"), parse_shard(None)
        ((3, 64), (None, 1))
    """
    if shard is None:
        return None, 1
    parts = shard.split("/") if isinstance(shard, str) else shard
    try:
        number, count = (int(part) for part in parts)
    except (TypeError, ValueError):
        raise OptionError(f"shard is {shard!r:.40}: use NUMBER/SHARDS, such as 3/64") from None
    if count < 1:
        raise OptionError(f"shard is {number}/{count}: there must be 1 shard or more")
    if not 0 <= number < count:
        raise OptionError(f"shard is {number}/{count}: numbers go from 0 to {count - 1}")
    return number, count


def pieces_for(sources: Sequence[SourceFile], reading: Reading, shards: int) -> list[Piece]:
    """Return the pieces of a corpus that is divided into shards, in order."""
    total = sum(source.bytes for source in sources)
    size = min(_PIECE, max(_LEAST, total // (8 * shards)))
    return pieces([source.path for source in sources], reading, size)


def pieces_of_shard(of_all: Sequence[Piece], number: int, count: int) -> list[Piece]:
    """Return the pieces of one shard: consecutive ones, of about equal size.

    The pieces of shards 0, 1, 2 … are those of the corpus in order.

    Args:
        of_all: the pieces of the corpus.
        number: the number of the shard, from 0.
        count: the number of shards.
    """
    sizes = np.array([piece.size for piece in of_all], np.int64)
    before = np.cumsum(sizes) - sizes
    owners = before * count // max(1, int(sizes.sum()))
    return [piece for piece, owner in zip(of_all, owners.tolist(), strict=True) if owner == number]


class Shard:
    """The documents of one shard: a :class:`~toksmith.corpus.sources.DocumentSource`.

    Args:
        sources: the files of the whole corpus.
        reading: the options of reading, without weights and deduplication.
        number: the number of the shard, from 0.
        count: the number of shards.

    Raises:
        FormatError: a file does not exist or cannot be read.
        OptionError: an option cannot be used for a part of a corpus.
    """

    def __init__(
        self, sources: Sequence[SourceFile], reading: Reading, number: int, count: int
    ) -> None:
        self._pieces = pieces_of_shard(pieces_for(sources, reading, count), number, count)
        self._reading = reading
        self._read = ReadTotals()
        self.size: int | None = sum(piece.size for piece in self._pieces)

    def parts(self) -> list[tuple[int, Shard]]:
        """Return all documents as one part."""
        return [(ONE, self)]

    def read(self) -> ReadTotals:
        """Return the totals of the text read so far."""
        return self._read

    def feed(self, counter: DocumentSink, report: Callable[[int], None]) -> int:
        """Count all documents of all pieces."""
        batching = Batching(counter)
        for piece in self._pieces:
            documents = size = 0
            with closing(read_piece(piece, self._reading, cut=counter.cut)) as blocks:
                for block in blocks:
                    for bounds in cut_bounds(block, counter.cut):
                        batching.add_slices(block.data, bounds)
                        size += int((bounds[:, 1] - bounds[:, 0]).sum())
                    documents += block.documents
                    if block.nulls:
                        self._read.skip_nulls(piece.path, block.nulls)
                    report(self._read.stored + block.done)
            self._read.stored += piece.size
            self._read.documents += documents
            self._read.bytes += size
            self._read.files.append(FileRead(piece.path, piece.size, documents, size, ONE, None))
            report(self._read.stored)
        batching.flush()
        return self._read.documents


def file_in(folder: FilePath, name: str) -> FilePath:
    """Return a file of a folder."""
    if isinstance(folder, Path):
        return folder / name
    return RemoteFile(f"{folder.url.rstrip('/')}/{name}")
