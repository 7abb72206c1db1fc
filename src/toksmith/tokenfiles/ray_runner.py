"""Runs the shards of a job on a Ray cluster; the work is in a folder that all machines share."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from toksmith._base.lazy import extra
from toksmith.errors import ToksmithError
from toksmith.tokenfiles.finishing import shard_folder
from toksmith.tokenfiles.job import Job
from toksmith.tokenfiles.shard import log_shard, run_shard
from toksmith.tokenfiles.spool import Progress, latest_progress
from toksmith.tokenizer import Tokenizer

_RETRIES = 4
"""How often Ray starts a shard again whose process or machine was lost; it goes on from its last
checkpoint."""

_SECONDS = 0.5
"""The time between two looks at the progress of the shards."""


def run_on_ray(
    job: Job,
    tokenizer: Tokenizer,
    work: Path,
    *,
    threads: int | None = None,
    report: Callable[[list[Progress]], None] = lambda _: None,
    log: Path | None = None,
) -> None:
    """Run all shards of a job as Ray tasks, and wait for them.

    It uses the cluster that the process is connected to, or that ``RAY_ADDRESS`` names; else it
    starts Ray on this machine.

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
    ray = extra("ray", "ray")
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    cpus = threads or 1
    start = time.monotonic()
    task = ray.remote(num_cpus=cpus, max_retries=_RETRIES)(_task)
    held_job, held_tokenizer = ray.put(job), ray.put(tokenizer)
    folders = [shard_folder(work.absolute(), number, job.shards) for number in range(job.shards)]
    pending = [
        task.remote(held_job, held_tokenizer, number, folder, cpus)
        for number, folder in enumerate(folders)
    ]
    shown: dict[Path, Progress] = {}
    try:
        while pending:
            done, pending = ray.wait(pending, num_returns=len(pending), timeout=_SECONDS)
            for ended in ray.get(done):
                if isinstance(ended, ToksmithError):
                    raise ended
                if log is not None:
                    number, progress = ended
                    log_shard(log, number, job.shards, progress, time.monotonic() - start)
            for folder in folders:
                shown[folder] = latest_progress(folder) or shown.get(folder, Progress())
            report(list(shown.values()))
    finally:
        for reference in pending:
            with suppress(Exception):  # it may have ended meanwhile
                ray.cancel(reference)


def _task(
    job: Job, tokenizer: Tokenizer, number: int, folder: Path, threads: int
) -> tuple[int, Progress] | ToksmithError:
    """Run a shard in a worker; return its error, which Ray would wrap in one of its own."""
    try:
        return number, run_shard(job, tokenizer, number, folder, threads=threads)
    except ToksmithError as wrong:
        return wrong
