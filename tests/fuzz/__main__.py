"""Runs fuzz targets, each in a process of its own, and prints a table.

The status is 1 if an input failed, or a target was idle: then it tests nothing. Inputs that failed
are kept in ``build/fuzz``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fuzz.running import Report, quietly, run
from tests.fuzz.targets import TARGETS

KEPT = Path("build/fuzz")
IN_MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory: each input is written to a file at least twice."""


def main() -> int:
    """Run the targets that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20, help="CPU seconds of each target")
    parser.add_argument("--inputs", type=int, default=sys.maxsize, help="at most, of each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="targets to run at a time")
    parser.add_argument("--target", action="append", choices=TARGETS, metavar="NAME")
    parser.add_argument("--list", action="store_true", help="print the names of the targets")
    parser.add_argument("--replay", type=Path, help="an input that failed, for the only target")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    names = given.target or list(TARGETS)
    if given.list:
        print("\n".join(TARGETS))
        return 0
    if given.replay is not None:
        return replay(names[0], given.replay)
    if given.worker is not None:
        return work(names, given)
    print(f"{'target':42}{'inputs':>10}{'refused':>10}{'worked':>10}{'arcs':>13}{'seconds':>9}")
    with ThreadPoolExecutor(given.jobs) as pool:
        passed = [*pool.map(lambda name: _show(name, given), names)]
    bad = [name for name, is_good in zip(names, passed, strict=True) if not is_good]
    for name in bad:
        print(f"failed: {name}; its inputs are in {_folder(name)}", file=sys.stderr)
    return 1 if bad else 0


def work(names: list[str], given: argparse.Namespace) -> int:
    """Run targets in this process, and print a line of JSON for each."""
    quietly()
    for number, name in enumerate(names):
        folder = given.worker / str(number)
        folder.mkdir()
        report = run(TARGETS[name], folder, given.seconds, inputs=given.inputs, seed=given.seed)
        print(json.dumps(vars(report)), flush=True)
    return 0


def replay(name: str, path: Path) -> int:
    """Try one input, and print what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        print(TARGETS[name].prepare(Path(folder)).try_one(path.read_bytes()))
    return 0


def _show(name: str, given: argparse.Namespace) -> bool:
    """Run a target in a process, print its line, and return whether all went well."""
    kept = _folder(name)
    shutil.rmtree(kept, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
        ran = _run_worker(name, Path(folder), given)
        report = None if ran.returncode else Report(**json.loads(ran.stdout.splitlines()[-1]))
        if report is None or report.failures:
            shutil.copytree(Path(folder, "0"), kept, ignore=shutil.ignore_patterns("work"))
    if report is None:
        print(f"{name:42} ended with status {ran.returncode}; the input is {kept / 'input'}")
        print(ran.stderr[-4000:])
        return False
    arcs = f"{report.seed_arcs:,}→{report.arcs:,}"
    lines = [
        f"{name:42}{report.inputs:10,}{report.refused:10,}{report.worked:10,}{arcs:>13}"
        f"{report.seconds:9.1f}",
        *(failure[-3000:] for failure in report.failures),
    ]
    if report.is_idle:
        lines.append(f"{name} is idle: too few inputs, or its seeds or mutations are wrong")
    print("\n".join(lines), flush=True)
    return not report.failures and not report.is_idle


def _run_worker(
    name: str, folder: Path, given: argparse.Namespace
) -> subprocess.CompletedProcess[str]:
    """Run a target in a process and in a folder, and return the ended process."""
    command = [sys.executable, "-m", "tests.fuzz", "--target", name, "--worker", str(folder)]
    for option in ("seconds", "inputs", "seed"):
        command += [f"--{option}", str(getattr(given, option))]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _folder(name: str) -> Path:
    return KEPT / name.replace(" ", "-").replace("'", "")


if __name__ == "__main__":
    sys.exit(main())
