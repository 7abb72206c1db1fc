"""Interleaved rounds: a fresh process per library, A B A B …, so slow spells hit all alike."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

Job = dict[str, Any]
ROOT = Path(__file__).resolve().parents[1]


def run(job: Job) -> Job:
    """Do one job in a fresh process and return what it measured, and its whole time."""
    start = time.perf_counter()
    result = _result(_started(job))
    whole = time.perf_counter() - start
    return result if "missing" in result else {**result, "process_seconds": whole}


def _started(job: Job) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.worker", json.dumps(job)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _result(worker: subprocess.Popen[str]) -> Job:
    """Wait for a worker and return what it printed last."""
    out, errors = worker.communicate()
    if worker.returncode:
        last = (errors.strip().splitlines() or [f"exit status {worker.returncode}"])[-1]
        return {"missing": f"failed: {last}"}
    found: Job = json.loads(out.splitlines()[-1])
    return found


def label(job: Job) -> str:
    """The name of a job in results: its library, unless it says otherwise."""
    return str(job.get("label", job["library"]))


def compared(jobs: Sequence[Job]) -> tuple[list[Job], dict[str, str]]:
    """Run each job once for its result alone.

    Returns:
        The jobs whose results equal that of the first one that ran, in all that both tell of them,
        and why each other is left out.
    """
    agreed: list[Job] = []
    left_out: dict[str, str] = {}
    first: Job = {}
    for job in jobs:
        result = run({**job, "passes": 1})
        if reason := result.get("missing"):
            left_out[label(job)] = reason
            continue
        first = first or result
        if all(result.get(key, first[key]) == first[key] for key in _TOLD & first.keys()):
            agreed.append(job)
        else:
            counts = [f"{r['tokens']:,} tokens" for r in (result, first) if "tokens" in r]
            left_out[label(job)] = "different results" + (
                f": {counts[0]}, not {counts[1]}" if len(set(counts)) == 2 else ""
            )
    return agreed, left_out


_TOLD = {"tokens", "sha256"}


def interleaved(jobs: Sequence[Job], rounds: int) -> dict[str, list[Job]]:
    """Run the jobs in turns; return the results of each, one a round."""
    results: dict[str, list[Job]] = {label(job): [] for job in jobs}
    for turn in range(rounds):
        # Whoever goes first finds the machine as the last one left it; take turns at that too.
        for job in jobs if turn % 2 == 0 else reversed(jobs):
            # And cores are not alike, when neighbours use what lies beside them.
            results[label(job)].append(run({**job, "first_core": turn}))
    return results


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return the median with the least and the greatest."""
    return {"min": min(values), "median": median(values), "max": max(values)}


def ratios(ours: Sequence[float], peer: Sequence[float]) -> dict[str, float]:
    """How many times faster we are, round by round, from seconds."""
    return spread([theirs / own for own, theirs in zip(ours, peer, strict=True)])
