"""Tokenizes one shard of a job into its spool: a pure function of job and number."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from toksmith._base.arrays import Bounds, OffsetArray
from toksmith._base.lazy import np
from toksmith._base.text import Text
from toksmith.corpus.blocks import Block, Damage
from toksmith.corpus.pieces import read_piece
from toksmith.results import Batch
from toksmith.tokenfiles.framing import Framing
from toksmith.tokenfiles.job import Job
from toksmith.tokenfiles.source import Tokens
from toksmith.tokenfiles.spool import Progress, Spool, writing_to
from toksmith.tokenizer import Tokenizer

Report: TypeAlias = "Callable[[Progress], None]"
"""A function that is called with what is done of a shard."""

_SECONDS = 2.0
"""The time between two checkpoints."""

_WAITING = 2
"""The number of blocks that may wait to be written."""


def run_shard(
    job: Job,
    tokenizer: Tokenizer,
    number: int,
    folder: Path,
    *,
    threads: int | None = None,
    report: Report = lambda _: None,
) -> Progress:
    """Tokenize a shard into a folder, or go on where an earlier run stopped; return its figures.

    Args:
        job: the job.
        tokenizer: its tokenizer.
        number: the number of the shard, from 0.
        folder: the folder of the shard's spool.
        threads: as in :meth:`Tokenizer.encode_batch`.
        report: is called after each block.

    Raises:
        FormatError: a source file is damaged; the message names file and record.
        OptionError: the folder belongs to another job, or cannot be written to.
        KeyboardInterrupt: Ctrl-C; all blocks before it are on disk.
    """
    with writing_to(folder), closing(Spool(folder, job, number)) as spool:
        if spool.progress.is_done:
            return spool.progress
        writer = _Writer(spool)
        try:
            progress = _run(job, tokenizer, number, writer, threads, report)
        except OSError:
            writer.stop()
            raise
        except BaseException:  # Ctrl-C, a damaged record
            writer.finish()
            raise
        writer.finish(replace(progress, is_done=True))
        return spool.progress


def log_shard(path: Path, number: int, count: int, done: Progress, seconds: float) -> None:
    """Append a line of JSON with the figures of a shard to a file."""
    line = {
        "shard": number,
        "shards": count,
        "documents": done.documents_read,
        "text_bytes": done.text_bytes,
        "tokens": done.tokens,
        "damaged": len(done.damages),
        "seconds": round(seconds, 3),
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


class _Writer:
    """Writes blocks to a spool in a thread of its own, with a checkpoint every two seconds."""

    def __init__(self, spool: Spool) -> None:
        self.start = spool.progress
        self._spool = spool
        self._last = spool.progress
        self._pool = ThreadPoolExecutor(1, "toksmith-spool")
        self._pending: deque[Future[None]] = deque()
        self._due = time.monotonic() + _SECONDS
        self._is_broken = False

    def write(self, documents: dict[str, tuple[Tokens, OffsetArray]], progress: Progress) -> None:
        self._pending.append(self._pool.submit(self._write, documents, progress))
        while len(self._pending) > _WAITING:
            self._pending.popleft().result()

    def _write(self, documents: dict[str, tuple[Tokens, OffsetArray]], progress: Progress) -> None:
        if self._is_broken:  # a block that is not whole must stay the last one
            return
        self._is_broken = True
        self._spool.append(documents)
        self._last = progress
        if time.monotonic() >= self._due:
            self._spool.checkpoint(progress)
            self._due = time.monotonic() + _SECONDS
        self._is_broken = False

    def stop(self) -> None:
        """End the thread, without a checkpoint."""
        self._pool.shutdown(cancel_futures=True)

    def finish(self, progress: Progress | None = None) -> None:
        """Write what waits, and a last checkpoint: ``progress``, or where the writing is."""
        self._pool.shutdown()
        for future in self._pending:
            future.result()
        last = progress or self._last
        if last != self._spool.progress:
            self._spool.checkpoint(last)


def _run(
    job: Job,
    tokenizer: Tokenizer,
    number: int,
    writer: _Writer,
    threads: int | None,
    report: Report,
) -> Progress:
    framing = Framing(job)
    progress = writer.start
    damages = dict.fromkeys(progress.damages)
    own = job.pieces_of(number)
    read = sum(piece.size for piece in own[: progress.piece])
    for place in range(progress.piece, len(own)):
        piece = own[place]
        done = progress.documents
        skip = partial(_note, damages) if job.skip_damaged else None
        for block in _after(read_piece(piece, job.reading, skip), done):
            batch = encode_documents(tokenizer, block.data, block.bounds, job.special, threads)
            documents, sizes = framing.split(block, batch, progress.splits)
            done += len(block.bounds)
            progress = replace(
                progress,
                piece=place,
                documents=done,
                read=read + block.done,
                text_bytes=progress.text_bytes + int(np.diff(block.bounds, axis=1).sum()),
                documents_read=progress.documents_read + len(block.bounds),
                splits=sizes,
                damages=_latest(progress.damages, damages),
            )
            writer.write(documents, progress)
            report(progress)
        read += piece.size
        progress = replace(
            progress,
            piece=place + 1,
            documents=0,
            read=read,
            damages=_latest(progress.damages, damages),
        )
        report(progress)
    return progress


def _latest(before: tuple[Damage, ...], damages: dict[Damage, None]) -> tuple[Damage, ...]:
    """Return all damages: the tuple before, if there are no others."""
    return before if len(before) == len(damages) else tuple(damages)


def _note(damages: dict[Damage, None], damage: Damage) -> None:
    damages[damage] = None  # an earlier run may have met it already


def _after(blocks: Iterator[Block], documents: int) -> Iterator[Block]:
    """Yield blocks without their first documents, which were done before."""
    for block in blocks:
        count = len(block.bounds)
        if documents < count:
            yield block._replace(bounds=block.bounds[documents:]) if documents else block
        documents = max(0, documents - count)


def encode_documents(
    tokenizer: Tokenizer, data: Text, bounds: Bounds, special: str, threads: int | None
) -> Batch:
    """Return the ids of the documents of a text, without bos and eos."""
    return tokenizer._encode_slices(data, bounds, special, False, threads)  # type: ignore[arg-type]
