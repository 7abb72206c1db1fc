"""A description of the machine, the date and the versions of a measurement."""

from __future__ import annotations

import hashlib
import os
import platform
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from toksmith._kernel import instruction_set


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worth_of_cores(rounds: int = 9) -> float:
    """Return how much threads on all cores do at once, in times of what one does alone.

    The work is arithmetic on what the nearest caches hold, and as much at once as a core can do
    (SHA-3: processors have instructions for SHA-256, each of which waits for the one before, so
    that halves of a core do twice as many). Two cores that are halves of one, or that others use
    as well, come to less than two.
    """
    count = cores()
    text = bytes(1 << 15)

    def work(times: int) -> None:
        for _ in range(times):
            hashlib.sha3_256(text)

    def seconds(pool: ThreadPoolExecutor, threads: int) -> float:
        start = time.perf_counter()
        list(pool.map(work, [150] * threads))
        return time.perf_counter() - start

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, [150] * count))
        ratios = [seconds(pool, 1) / seconds(pool, count) for _ in range(rounds)]
    return round(count * statistics.median(ratios), 2)


def description() -> dict[str, Any]:
    """Return what a reader needs in order to compare: machine, system, date, command, commit."""
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "command": " ".join(["python -m benchmarks", *sys.argv[1:]]),
        "commit": _commit(),
        "cpu": _cpu(),
        "instruction_set": instruction_set(""),
        "cores": cores(),
        "cores_are_worth": worth_of_cores(),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"
