"""Finishes a job: joins the spools of its shards to token files, and writes the manifest."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from toksmith.errors import OptionError
from toksmith.tokenfiles.arrangement import Chained, Sequences, Shuffled
from toksmith.tokenfiles.format import Settings
from toksmith.tokenfiles.formats import format_of
from toksmith.tokenfiles.job import Job
from toksmith.tokenfiles.manifest import Manifest, ShardEntry, WrittenFile, read_manifest
from toksmith.tokenfiles.source import TokenSource
from toksmith.tokenfiles.spool import (
    Journal,
    Progress,
    SplitSize,
    SpooledSplit,
    check_same,
    locked,
    read_journal,
    writing_to,
)
from toksmith.tokenizer import Tokenizer


def shard_folder(work: Path, number: int, shards: int) -> Path:
    """Return the folder of a shard's spool.

    Example:
        >>> shard_folder(Path(".toksmith"), 3, 64).as_posix()
        '.toksmith/shards/00003-of-00064'
    """
    return work / "shards" / f"{number:05}-of-{shards:05}"


def find_job(work: Path, shards: int | None = None) -> Job | None:
    """Return the job of the spools in a folder of work; ``None`` if there are none.

    Args:
        work: the folder of work.
        shards: the number of shards of the jobs to look at; ``None`` for all.
    """
    count = "*" if shards is None else f"{shards:05d}"
    for folder in sorted(work.glob(f"shards/*-of-{count}")):
        if journal := read_journal(folder):
            return journal.job
    return None


def finish(
    job: Job,
    tokenizer: Tokenizer | None,
    work: Path,
    output: Path,
) -> Manifest:
    """Write the token files of a job whose shards are all done; the manifest comes last.

    Killed meanwhile, it is run again: nothing half written has a final name.

    Args:
        job: the job.
        tokenizer: its tokenizer; ``None`` if it is not at hand.
        work: the folder of work, with the spools; it is removed at the end.
        output: the folder for the files.

    Raises:
        OptionError: a shard is missing or not done, or belongs to another job; the folder cannot be
            written to; or another process writes it.
    """
    with writing_to(output), locked(work):
        manifest = read_manifest(output)  # another process may have just finished
        if manifest is None:
            manifest = _finish(job, tokenizer, work, output)
    check_same(manifest.job, job, output)
    shutil.rmtree(work, ignore_errors=True)
    return manifest


def _finish(
    job: Job,
    tokenizer: Tokenizer | None,
    work: Path,
    output: Path,
) -> Manifest:
    journals = _journals(job, work)
    skipped = any(journal.lines[-1].damages for journal in journals)
    job = replace(job, skip_damaged=job.skip_damaged or skipped)
    folders = [shard_folder(work, number, job.shards) for number in range(job.shards)]
    dtype = format_of(job.format).dtype(job.vocab_size)
    sizes, written = write_splits(
        job,
        lambda split: _arranged(job, [SpooledSplit(each, split, dtype) for each in folders]),
        tokenizer,
        work,
        output,
    )
    entries = [shard_entry(job, journal.shard, journal.lines[-1]) for journal in journals]
    manifest = Manifest(job, tuple(entries), sizes, written)
    manifest.save(output)
    return manifest


def write_splits(
    job: Job,
    tokens_of: Callable[[str], TokenSource],
    tokenizer: Tokenizer | None,
    work: Path,
    output: Path,
) -> tuple[dict[str, SplitSize], tuple[WrittenFile, ...]]:
    """Write the token files of all splits to a folder of work, then give them their final names.

    Args:
        job: the job.
        tokens_of: returns the documents of a split, in the type of the format.
        tokenizer: its tokenizer; ``None`` if it is not at hand.
        work: the folder of work.
        output: the folder for the files.

    Returns:
        The size of each split, and the files.
    """
    format = format_of(job.format)  # noqa: A001
    staging = work / "files"
    shutil.rmtree(staging, ignore_errors=True)
    sizes: dict[str, SplitSize] = {}
    written: list[WrittenFile] = []
    for split in job.split_names:
        folder = staging / split
        folder.mkdir(parents=True)
        tokens = tokens_of(split)
        sizes[split] = SplitSize().plus(tokens.lengths)
        settings = Settings(
            stem=split,
            vocab_size=job.vocab_size,
            tokenizer=tokenizer,
            tokenizer_name=job.tokenizer,
            tokenizer_hash=job.tokenizer_hash,
            eos=job.eos,
            sequence_length=job.sequence_length,
            shard_tokens=job.shard_tokens,
        )
        for path in format.write(tokens, folder, settings):
            name = path.relative_to(folder).as_posix()
            file = WrittenFile(name, split, path.stat().st_size, _sync(path))
            same = next((other for other in written if other.name == name), None)
            if same is None:
                written.append(file)
            elif same.sha256 != file.sha256:
                raise OptionError(f"{job.format} files of several splits have the name {name}")
    for file in written:
        target = output / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(staging / file.split / file.name, target)  # noqa: PTH105 - says what it does
    return sizes, tuple(written)


def _journals(job: Job, work: Path) -> list[Journal]:
    """Return the journals of all shards.

    Raises:
        OptionError: a shard is missing or not done, or belongs to another job.
    """
    found = []
    missing = []
    for number in range(job.shards):
        folder = shard_folder(work, number, job.shards)
        journal = read_journal(folder)
        if journal is None or not journal.lines[-1].is_done:
            missing.append(number)
            continue
        check_same(journal.job, job, folder)
        found.append(journal)
    if missing:
        shown = ", ".join(map(str, missing[:10])) + (", …" if len(missing) > 10 else "")
        raise OptionError(
            f"{len(missing):,} of {job.shards:,} shards are not done: {shown}. Run them with "
            f"--shard NUMBER/{job.shards}, then --finish again"
        )
    return found


def _arranged(job: Job, spools: list[SpooledSplit]) -> TokenSource:
    tokens: TokenSource = spools[0] if len(spools) == 1 else Chained(spools)
    if job.shuffle:
        tokens = Shuffled(tokens, job.seed)
    if job.sequence_length is not None:
        tokens = Sequences(tokens, job.sequence_length)
    return tokens


def shard_entry(job: Job, number: int, done: Progress) -> ShardEntry:
    """Return the manifest's entry of a shard that is done."""
    return ShardEntry(
        number=number,
        pieces=tuple((str(piece.path), piece.start, piece.end) for piece in job.pieces_of(number)),
        documents=done.documents_read,
        text_bytes=done.text_bytes,
        tokens=done.tokens,
        damaged=tuple((str(each.path), each.number, each.reason) for each in done.damages),
    )


def _sync(path: Path) -> str:
    """Write a file through to the disk; return its SHA-256."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        found = hashlib.sha256()
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()
