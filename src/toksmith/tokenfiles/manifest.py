"""The manifest of token files: what was written, from what, and the hashes to check it by."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from toksmith._base.files import write_bytes
from toksmith._base.plain_names import is_plain
from toksmith._base.typed import check_type
from toksmith.corpus.paths import AnyPath
from toksmith.errors import FormatError, OptionError
from toksmith.tokenfiles.format import type_of
from toksmith.tokenfiles.job import Job
from toksmith.tokenfiles.regular import open_regular
from toksmith.tokenfiles.spool import SplitSize

NAME = "token-manifest.json"
"""The name of the manifest in the folder of the token files."""

_VERSION = 1


@dataclass(frozen=True)
class WrittenFile:
    """A file that was written.

    Attributes:
        name: its path in the folder, with ``/``.
        split: the name of the split that it belongs to.
        bytes: its size.
        sha256: its SHA-256, in hexadecimal.
    """

    name: str
    split: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class ShardEntry:
    """A shard: the stretch of the sources that it covers, and its figures.

    Attributes:
        number: from 0.
        pieces: ``(path, start, end)`` of each stretch: bytes, or row groups of Parquet.
        documents: the number of documents read.
        text_bytes: the bytes of their text.
        tokens: the number of ids, end-of-text ids included.
        damaged: ``(path, record, reason)`` of each record that was left out.
    """

    number: int
    pieces: tuple[tuple[str, int, int], ...]
    documents: int
    text_bytes: int
    tokens: int
    damaged: tuple[tuple[str, int, str], ...] = ()


@dataclass(frozen=True)
class Manifest:
    """What was written, from what.

    Attributes:
        job: the job.
        shards: its shards, in order.
        splits: the documents and tokens of each split as written.
        files: the files, in the order of reading.
    """

    job: Job
    shards: tuple[ShardEntry, ...]
    splits: Mapping[str, SplitSize]
    files: tuple[WrittenFile, ...]

    @property
    def documents(self) -> int:
        """The number of documents that were written."""
        return sum(size.documents for size in self.splits.values())

    @property
    def tokens(self) -> int:
        """The number of tokens that were written."""
        return sum(size.tokens for size in self.splits.values())

    @property
    def text_bytes(self) -> int:
        """The bytes of text that were read."""
        return sum(shard.text_bytes for shard in self.shards)

    @property
    def longest(self) -> int:
        """The tokens of the longest document."""
        return max((size.longest for size in self.splits.values()), default=0)

    @property
    def damaged(self) -> tuple[tuple[str, int, str], ...]:
        """``(path, record, reason)`` of each record that was left out."""
        return tuple(entry for shard in self.shards for entry in shard.damaged)

    def save(self, folder: Path) -> None:
        """Write the manifest to its folder, all of it or nothing."""
        held = {
            "toksmith_tokens": _VERSION,
            "job": self.job.to_json(),
            "splits": {name: asdict(size) for name, size in self.splits.items()},
            "files": [asdict(file) for file in self.files],
            "shards": [asdict(shard) for shard in self.shards],
        }
        text = json.dumps(held, indent=1, ensure_ascii=False)
        # names of source files that are not UTF-8 hold surrogates, which JSON writes as \uDCxx
        write_bytes(folder / NAME, text.encode(errors="backslashreplace"))


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a folder; ``None`` if it has none.

    Raises:
        FormatError: the manifest is damaged, of a later version, or no file.
    """
    path = folder / NAME
    try:
        with open_regular(path) as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as wrong:
        raise FormatError(path, f"cannot be read: {wrong.strerror or wrong}") from wrong
    return parse_manifest(data, path)


def parse_manifest(data: bytes, path: AnyPath) -> Manifest:
    """Return the manifest that a file holds.

    Args:
        data: the content of the file.
        path: the file, for errors.

    Raises:
        FormatError: the manifest is damaged, or of a later version.
    """
    try:
        held: dict[str, Any] = json.loads(data)
        version = held["toksmith_tokens"]
        if version != _VERSION:
            raise FormatError(path, f"has version {version}; this toksmith reads {_VERSION}")
        manifest = Manifest(
            Job.from_json(held["job"]),
            tuple(_shard(entry) for entry in held["shards"]),
            {name: SplitSize(**size) for name, size in held["splits"].items()},
            tuple(WrittenFile(**file) for file in held["files"]),
        )
        check_type(manifest, Manifest, "manifest")
        _check_values(manifest)
        return manifest
    except (
        *(ValueError, KeyError, TypeError, AttributeError),
        *(OverflowError, RecursionError, OptionError),
    ) as wrong:
        if isinstance(wrong, FormatError):
            raise
        raise FormatError(path, f"is damaged: {type(wrong).__name__}: {wrong}") from wrong


def _check_values(manifest: Manifest) -> None:
    """Check that the values of a manifest are possible.

    Raises:
        ValueError: one is not.
    """
    job = manifest.job
    numbers: list[tuple[str, int | None, int]] = [
        ("vocab_size", job.vocab_size, 0),
        ("seed", job.seed, 0),
        ("shards", job.shards, 1),
        ("sequence_length", job.sequence_length, 1),
        ("shard_tokens", job.shard_tokens, 1),
    ]
    for name, value, least in numbers:
        if value is not None and not least <= value < 1 << 63:
            raise ValueError(f"{name} is {value}")
    for name, token in (("bos", job.bos), ("eos", job.eos)):
        if token is not None and not 0 <= token < job.vocab_size:
            raise ValueError(f"{name} is {token}, and ids go up to {job.vocab_size - 1}")
    if job.special not in ("text", "encode"):
        raise ValueError(f"special is {job.special!r:.40}")
    type_of(job.dtype)
    # os.fsencode refuses lone surrogates, except for those that stand for undecoded bytes
    for source in job.sources:
        if b"\0" in os.fsencode(source.path):
            raise ValueError(f"a source has the name {source.path!r:.80}")
    for file in manifest.files:
        os.fsencode(file.name)
        if not all(map(is_plain, file.name.split("/"))):
            raise ValueError(f"a file has the name {file.name!r:.80}")


def _shard(held: Mapping[str, Any]) -> ShardEntry:
    def tuples(values: Sequence[Sequence[Any]]) -> Any:
        return tuple(tuple(value) for value in values)

    return ShardEntry(
        **{**held, "pieces": tuples(held["pieces"]), "damaged": tuples(held["damaged"])}
    )
