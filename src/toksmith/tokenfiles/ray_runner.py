"""Runs the shards of a job on a Ray cluster; the work is in a folder that all machines share."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from toksmith.corpus.ray_tasks import run_tasks
from toksmith.tokenfiles.finishing import shard_folder
from toksmith.tokenfiles.job import Job
from toksmith.tokenfiles.shard import log_shard, run_shard
from toksmith.tokenfiles.spool import Progress, latest_progress
from toksmith.tokenizer import Tokenizer


def run_on_ray(
    job: Job,
    tokenizer: Tokenizer,
    work: Path,
    *,
    threads: int | None = None,
    report: Callable[[list[Progress]], None] = lambda _: None,
    log: Path | None = None,
) -> None:
    """Run all shards of a job as Ray tasks, and wait for them; see :func:`run_tasks`.

    A shard that was lost goes on from its last checkpoint.

    Args:
        job: the job.
        tokenizer: its tokenizer.
        work: the folder of work, under the same path on all machines.
        threads: the CPUs of a task; ``None`` for one.
        report: is called with the progress of the shards now and then.
        log: a file that gets a line of JSON for each shard that is done.

    Raises:
        MissingExtraError: Ray is not installed (``pip install toksmith[ray]``).
        ToksmithError: a shard failed; the other shards' work is kept.
        KeyboardInterrupt: Ctrl-C; the tasks stop after their current block.
    """
    start = time.monotonic()
    folders = [shard_folder(work.absolute(), number, job.shards) for number in range(job.shards)]
    shown: dict[Path, Progress] = {}

    def done(ended: tuple[int, Progress]) -> None:
        if log is not None:
            number, progress = ended
            log_shard(log, number, job.shards, progress, time.monotonic() - start)

    def poll() -> None:
        for folder in folders:
            shown[folder] = latest_progress(folder) or shown.get(folder, Progress())
        report(list(shown.values()))

    run_tasks(
        _task,
        [(number, folder, threads or 1) for number, folder in enumerate(folders)],
        shared=(job, tokenizer),
        cpus=threads or 1,
        done=done,
        poll=poll,
    )


def _task(
    job: Job, tokenizer: Tokenizer, number: int, folder: Path, threads: int
) -> tuple[int, Progress]:
    return number, run_shard(job, tokenizer, number, folder, threads=threads)
