"""Measures how training grows with the text: ``python -m benchmarks.growth``.

Generates diverse text (``benchmarks/diverse_text.py``) and, for several sizes of it, counts chunks
and learns byte-level BPE from the counts, each in a process of its own, with and without a memory
limit.
Fits laws to the results, saves both in ``benchmarks/results/growth.json``, and prints tables.
``docs/scale.md`` has the same tables, and what follows from them.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.diverse_text import parsed_size
from benchmarks.machine import description

RESULTS = Path(__file__).parent / "results/growth.json"
SIZES = 5
"""The number of sizes; each is twice the one before."""
VOCAB_SIZE = 32_000
LIMIT = "256M"
_COUNTING = ["-m", "toksmith", "counts", "make"]
_TRAINING = ["-m", "toksmith", "train", "--vocab-size", str(VOCAB_SIZE)]
LAWS = {
    "chunks": ("bytes", "power"),
    "counts_bytes": ("chunks", "power"),
    "counting_seconds": ("bytes", "line"),
    "limited_counting_seconds": ("bytes", "line"),
    "merging_seconds": ("chunks", "line"),
    "merging_peak": ("chunks", "line"),
    "limited_training_seconds": ("bytes", "line"),
}
"""What each figure grows with, and how.

A power law is fitted to all sizes. A line goes through the two largest sizes: its slope is the cost
of more text, without the start of the process and other constant costs.
"""
AHEAD = {"10 GB": 10**10, "100 GB": 10**11, "1 TB": 10**12, "10 TB": 10**13}
"""The sizes for which the laws are evaluated."""


def used(arguments: Sequence[str]) -> tuple[float, int]:
    """Run Python; return its processor time in seconds and its peak memory in bytes.

    The peak is at least that of this process, which therefore reads no file as a whole.
    """
    process = subprocess.Popen([sys.executable, *arguments])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)}: failed")
    unit = 1 if sys.platform == "darwin" else 1024
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit


def measure(files: Sequence[Path], scratch: Path) -> dict[str, float]:
    """Return the figures of one size, by name; times are of all threads together."""
    from pyarrow import parquet

    counts, limited = scratch / "whole.counts", scratch / "limited.counts"
    model, other = scratch / "whole.model", scratch / "limited.model"
    texts, end = [str(path) for path in files], ["--threads", "2", "-q"]
    counting = used([*_COUNTING, *texts, "-o", str(counts), *end])
    slower = used([*_COUNTING, *texts, "-o", str(limited), "--memory", LIMIT, *end])
    if not filecmp.cmp(counts, limited, shallow=False):
        raise SystemExit("other counts within a memory limit")
    row = {
        "bytes": sum(path.stat().st_size for path in files),
        "chunks": parquet.read_metadata(counts).num_rows,
        "counts_bytes": counts.stat().st_size,
        "counting_seconds": counting[0],
        "counting_peak": counting[1],
        "limited_counting_seconds": slower[0],
        "limited_counting_peak": slower[1],
    }
    arguments = [*_TRAINING, "--counts", str(counts), *end]
    row["merging_seconds"], row["merging_peak"] = used([*arguments, "-o", str(model)])
    row["limited_training_seconds"], row["limited_training_peak"] = used(
        [*_TRAINING, *texts, *end, "-o", str(other), "--memory", LIMIT]
    )
    if not filecmp.cmp(model, other, shallow=False):
        raise SystemExit("other merges within a memory limit")
    return row


def fit(rows: Sequence[dict[str, float]], grows: str) -> dict[str, float]:
    """Return the law of a figure: ``factor`` and ``exponent``, or ``slope`` and ``start``.

    ``error`` is the largest relative distance of a measurement from a power law.
    """
    given, kind = LAWS[grows]
    if kind == "line":
        (x, y), (more, higher) = ((row[given], row[grows]) for row in rows[-2:])
        slope = (higher - y) / (more - x)
        return {"slope": slope, "start": y - slope * x}
    x_logs = np.log([row[given] for row in rows])
    y_logs = np.log([row[grows] for row in rows])
    exponent, logarithm = np.polyfit(x_logs, y_logs, 1)
    error = np.abs(np.exp(y_logs - (exponent * x_logs + logarithm)) - 1).max()
    return {
        "factor": float(np.exp(logarithm)),
        "exponent": float(exponent),
        "error": float(error),
    }


def evaluate(laws: dict[str, dict[str, float]], size: float) -> dict[str, float]:
    """Return the figures that the laws give for a text of ``size`` bytes."""
    found = {"bytes": float(size)}
    for grows, (given, kind) in LAWS.items():
        law = laws[grows]
        found[grows] = (
            law["start"] + law["slope"] * found[given]
            if kind == "line"
            else law["factor"] * found[given] ** law["exponent"]
        )
    return found


def measured_table(report: dict[str, Any]) -> str:
    """Return the measurements as a Markdown table."""
    lines = [
        "| text | distinct chunks | counting | … peak | … limited | merging | … peak "
        "| counting and merging, limited | counts on disk |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in report["rows"]:
        cells = (
            f"{row['bytes'] / 1e6:,.0f} MB",
            f"{row['chunks'] / 1e6:.2f} M",
            f"{row['counting_seconds']:.1f} s",
            f"{row['counting_peak'] / 1e6:,.0f} MB",
            _cost(row, "limited_counting"),
            f"{row['merging_seconds']:.1f} s",
            f"{row['merging_peak'] / 1e6:,.0f} MB",
            _cost(row, "limited_training"),
            f"{row['counts_bytes'] / 1e6:,.0f} MB",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cost(row: dict[str, float], what: str) -> str:
    return f"{row[f'{what}_seconds']:.1f} s, {row[f'{what}_peak'] / 1e6:,.0f} MB"


def laws_table(report: dict[str, Any]) -> str:
    """Return the laws as a Markdown table."""
    lines = ["| what grows | law |", "|---|---|"]
    units = {"seconds": "s", "peak": "bytes", "chunks": "", "bytes": "bytes"}
    for grows, (given, kind) in LAWS.items():
        law = report["laws"][grows]
        unit = units[grows.rpartition("_")[2]]
        if kind == "line":
            each = 10**9 if given == "bytes" else 10**6 if unit == "s" else 1
            per = {10**9: "a GB of text", 10**6: "a million chunks", 1: "a chunk"}[each]
            text = f"{law['slope'] * each:.3g} {unit} {per}"
        else:
            text = (
                f"{law['factor']:.3g} × {given} ^ {law['exponent']:.3f}, "
                f"within {law['error']:.1%} of each measurement"
            )
        lines.append(f"| {grows.replace('_', ' ')} | {text} |")
    return "\n".join(lines)


def derived_table(report: dict[str, Any]) -> str:
    """Return what the laws give for larger texts as a Markdown table."""
    lines = [
        "| text | distinct chunks | counts on disk | counting | merging in memory | … memory "
        "| training within the limit |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, size in AHEAD.items():
        found = evaluate(report["laws"], size)
        cells = (
            name,
            f"{found['chunks'] / 1e6:,.0f} M",
            f"{found['counts_bytes'] / 1e9:,.1f} GB",
            hours(found["limited_counting_seconds"]),
            hours(found["merging_seconds"]),
            f"{found['merging_peak'] / 1e9:,.0f} GB",
            hours(found["limited_training_seconds"]),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def hours(seconds: float) -> str:
    """Return a duration with a unit.

    Example:
        >>> hours(90), hours(7200), hours(60 * 86400)
        ('1.5 min', '2.0 h', '60 days')
    """
    if seconds >= 3 * 86_400:
        return f"{seconds / 86_400:.0f} days"
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"


def main() -> None:
    """Measure, save and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--bytes", type=parsed_size, default=2 * 10**9, help="the largest size")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    with TemporaryDirectory(prefix="toksmith-growth-") as folder:
        text = Path(folder, "text")
        # Not in this process: the peak of a child is at least what its parent held when it forked.
        generate = [sys.executable, "-m", "benchmarks.diverse_text", "-o", str(text)]
        files = ["--bytes", str(options.bytes), "--files", str(1 << (SIZES - 1))]
        subprocess.run([*generate, *files], check=True)
        paths = sorted(text.iterdir())
        rows = []
        for power in range(SIZES):
            rows.append(measure(paths[: 1 << power], Path(folder)))
            print(
                f"{rows[-1]['bytes']:,} bytes: {rows[-1]['chunks']:,} distinct chunks", flush=True
            )
    machine = description()
    machine["command"] = f"python -m benchmarks.growth {' '.join(sys.argv[1:])}".strip()
    laws = {name: fit(rows, name) for name in LAWS}
    report = {
        "machine": machine,
        "vocab_size": VOCAB_SIZE,
        "limit": LIMIT,
        "rows": rows,
        "laws": laws,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    print("\n\n".join([measured_table(report), laws_table(report), derived_table(report)]))


if __name__ == "__main__":
    main()
