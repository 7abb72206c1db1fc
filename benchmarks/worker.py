"""The worker process: runs one job of one library, and prints its measurements as JSON.

``python -m benchmarks.worker '{"kind": "encode", "library": "toksmith", ...}'``
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import resource
import subprocess
import sys
import time
from itertools import cycle, islice, repeat
from pathlib import Path
from typing import Any

Job = dict[str, Any]


def confine(threads: int, first: int = 0) -> None:
    """Keep the process, and every library in it, to so many cores; before they are imported.

    ``first``: the first one among those that it may use, counted round and round.
    """
    parallel = {"RAYON_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    os.environ.update(parallel, TOKENIZERS_PARALLELISM="true" if threads > 1 else "false")
    # Behind its import, each of NumPy's threads would keep a core busy for a seventh of a second,
    # waiting for matrices that nobody multiplies here.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if hasattr(os, "sched_setaffinity"):
        usable = sorted(os.sched_getaffinity(0))
        cores = islice(cycle(usable), first % len(usable), None)
        os.sched_setaffinity(0, islice(cores, threads))


def peak_memory() -> int:
    """The most bytes that this process has held in memory."""
    status = Path("/proc/self/status")
    if status.exists():  # elsewhere the peak of whoever started us would count as ours
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def page_faults() -> int:
    """How many pages the system has given this process, huge or small, without reading a file."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def encode(job: Job) -> Job:
    """Do what the form asks for, several times over; the first pass is cold."""
    from benchmarks.adapters import ADAPTERS
    from benchmarks.forms import FORMS

    adapter = ADAPTERS[job["library"]]()
    form = FORMS[job["form"]]
    adapter.load(job["vocabulary"])
    try:
        call = getattr(adapter, form.call)(job["threads"])
    except NotImplementedError as reason:
        return {"missing": str(reason)}
    call(form.given(adapter.takes, form.first))
    if size := job.get("at_hand"):
        first = [sys.executable, __file__, json.dumps({"kind": "touch", "bytes": size})]
        subprocess.run(first, stdout=subprocess.DEVNULL, check=True)
    # Behind it: where other memory was got meanwhile, first reading a text may take twice as long.
    given = form.given(adapter.takes, Path(job["data"]).read_bytes())
    before = peak_memory()
    seconds, faults, peaks, result = [], [], [], None
    for _ in range(job["passes"]):
        result = None
        had = page_faults()
        start = time.perf_counter()
        for _ in repeat(None, form.calls):
            result = call(given)
        seconds.append((time.perf_counter() - start) / form.calls)
        faults.append(page_faults() - had)
        peaks.append(peak_memory())
    return {
        "seconds": seconds,
        "page_faults": faults,
        "peak_bytes": peaks[-1],
        "cold_peak_bytes": peaks[0],
        "grown_bytes": peaks[-1] - before,
        **digest(adapter, result),
    }


def touch(job: Job) -> Job:
    """Get so many bytes of memory from the system, which has them at hand when this process ends.

    A virtual machine may hand what is free for a while back to its host: then first passes tell
    how soon that gives it again.
    """
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if sys.platform == "linux" else {}
    with mmap.mmap(-1, job["bytes"], **private) as memory:
        if sys.platform == "linux":
            memory.madvise(mmap.MADV_HUGEPAGE)
        for page in range(0, len(memory), mmap.PAGESIZE):
            memory[page] = 1
    return {}


def digest(adapter: Any, result: Any) -> Job:
    """What is compared: of ids their number and contents, of a string its contents."""
    if isinstance(result, int):
        return {"tokens": result}
    if isinstance(result, str):
        return {"sha256": hashlib.sha256(result.encode()).hexdigest()}
    ids = adapter.ids(result)
    return {"tokens": len(ids), "sha256": hashlib.sha256(ids.tobytes()).hexdigest()}


def load(job: Job) -> Job:
    """Import the library, make the tokenizer and encode a first word."""
    from benchmarks.adapters import ADAPTERS

    adapter = ADAPTERS[job["library"]]()
    start = time.perf_counter()
    __import__(adapter.package)
    imported = time.perf_counter()
    adapter.load(job["vocabulary"])
    loaded = time.perf_counter()
    word: Any = b"Hello world" if adapter.takes is bytes else "Hello world"
    result = adapter.list(1)(word) if adapter.list else adapter.batch(1)([word])
    done = time.perf_counter()
    return {
        "import_seconds": imported - start,
        "load_seconds": loaded - imported,
        "first_seconds": done - loaded,
        "seconds": [done - start],
        "peak_bytes": peak_memory(),
        **digest(adapter, result),
    }


def train(job: Job) -> Job:
    """Train and save; the parent takes the time of the whole process."""
    from benchmarks.adapters import ADAPTERS

    adapter = ADAPTERS[job["library"]]()
    try:
        saved = adapter.train(job, Path(job["out"]))
    except NotImplementedError as reason:
        return {"missing": str(reason)}
    cpu = time.process_time()
    return {"saved": str(saved), "peak_bytes": peak_memory(), "cpu_seconds": cpu}


KINDS = {"encode": encode, "load": load, "train": train, "touch": touch}

if __name__ == "__main__":
    wanted = json.loads(sys.argv[1])
    if "threads" in wanted:
        confine(wanted["threads"], wanted.get("first_core", 0))
    print(json.dumps(KINDS[wanted["kind"]](wanted)))
