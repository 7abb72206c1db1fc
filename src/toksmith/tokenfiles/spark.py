"""Runs the shards of a job on Apache Spark; the work is in a folder that all machines share."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from toksmith._base.lazy import extra
from toksmith.errors import ToksmithError
from toksmith.tokenfiles.finishing import shard_folder
from toksmith.tokenfiles.job import Job
from toksmith.tokenfiles.shard import log_shard, run_shard
from toksmith.tokenfiles.spool import Progress
from toksmith.tokenizer import Tokenizer


def run_on_spark(
    job: Job,
    tokenizer: Tokenizer,
    work: Path,
    *,
    threads: int | None = None,
    log: Path | None = None,
) -> None:
    """Run all shards of a job as an RDD with one partition each, and wait for them.

    It uses the active Spark session, or else starts one by Spark's configuration, which also says
    how often a lost task is started again (``spark.task.maxFailures``); it goes on from its last
    checkpoint. The workers of a session that it starts run this Python, if ``PYSPARK_PYTHON`` names
    no other.

    Args:
        job: the job.
        tokenizer: its tokenizer.
        work: the folder of work, under the same path on all machines.
        threads: the threads of a task; ``None`` for one.
        log: a file that gets a line of JSON for each shard that is done.

    Raises:
        MissingExtraError: Spark is not installed (``pip install toksmith[spark]``).
        ToksmithError: a shard failed; the other shards' work is kept.
    """
    extra("pyspark", "spark")
    # By default, Spark's workers run the python3 of PATH, which may lack toksmith.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = extra("pyspark.sql", "spark").SparkSession.builder.getOrCreate()
    shared = session.sparkContext.broadcast((job, tokenizer, work.absolute(), threads or 1))

    def task(number: int) -> tuple[int, Progress, float] | ToksmithError:
        job, tokenizer, work, threads = shared.value
        folder = shard_folder(work, number, job.shards)
        start = time.monotonic()
        try:
            done = run_shard(job, tokenizer, number, folder, threads=threads)
        except ToksmithError as wrong:  # Spark would start the task again
            return wrong
        return number, done, time.monotonic() - start

    numbers = session.sparkContext.parallelize(range(job.shards), job.shards)
    for ended in numbers.map(task).collect():
        if isinstance(ended, ToksmithError):
            raise ended
        number, done, seconds = ended
        if log is not None:
            log_shard(log, number, job.shards, done, seconds)
