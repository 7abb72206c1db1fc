"""Runs a fuzz target: mutates its seeds, keeps inputs that reach new code, and checks each result.

Arcs, pairs of lines that ran one after the other, are counted in the target's own modules, and only
for one input in ``SAMPLED``: tracing makes an input several times slower.
"""

from __future__ import annotations

import faulthandler
import gc
import random
import resource
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import toksmith
from tests.damage import Damage, insert

SAMPLED = 4
LIMIT = 60
"""Seconds after which an input counts as a hang. Other work on the machine counts too."""

CPU_LIMIT = 5.0
"""CPU seconds of one input, where milliseconds are enough."""

MEMORY = 3 << 29
"""Bytes of address space that the inputs may take besides what the process has at the start."""

_COLLECTED = 10
_LONGEST = 1 << 16
_POOL = 200
_SOUND = 0.8
"""The share of inputs that are made from sound ones: most damages of a refused input change
nothing."""

_FAILURES = 5
"""The number of failures after which a target ends."""

REFUSED, WORKED, HALTED = "refused", "worked", "halted"
"""A typed error from reading; a result that works; a result that refuses to run by a typed
error."""


@dataclass(frozen=True)
class Subject:
    """A target that is set up.

    Attributes:
        seeds: sound inputs.
        try_one: reads an input, and returns what became of it. Any exception is a failure.
    """

    seeds: list[bytes]
    try_one: Callable[[bytes], str]


@dataclass(frozen=True)
class Target:
    """A parser under test.

    Attributes:
        modules: its modules and packages, below ``toksmith``.
        damage: the mutations.
        prepare: sets the target up in an empty folder.
    """

    modules: tuple[str, ...]
    damage: list[Damage]
    prepare: Callable[[Path], Subject]


@dataclass
class Report:
    """The result of a run.

    Attributes:
        inputs: the number of inputs.
        refused: those that a typed error refused.
        worked: those that gave a working result.
        halted: those that gave a result that refuses to run.
        seed_arcs: the arcs that the seeds reach.
        arcs: the arcs that all traced inputs reach.
        seconds: the CPU time.
        failures: a traceback for each kind of failure.
    """

    inputs: int = 0
    refused: int = 0
    worked: int = 0
    halted: int = 0
    seed_arcs: int = 0
    arcs: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    """Where the failures were: only one input is kept of those that fail at one place."""

    @property
    def is_idle(self) -> bool:
        """Whether the target tests nothing: all inputs fare alike, or no new code was reached."""
        return not self.refused or not self.worked or self.arcs <= self.seed_arcs


class Arcs:
    """Counts the arcs in some modules.

    Args:
        modules: names below ``toksmith``; a package stands for all of its modules.
    """

    def __init__(self, modules: tuple[str, ...]) -> None:
        root = Path(toksmith.__file__).parent
        paths = [root.joinpath(*name.split(".")) for name in modules]
        self._files = {
            str(file)
            for path in paths
            for file in ([*path.rglob("*.py")] if path.is_dir() else [path.with_suffix(".py")])
        }
        missing = [file for file in self._files if not Path(file).exists()]
        assert self._files, modules
        assert not missing, missing
        self.found: set[tuple[Any, int, int]] = set()

    def of(self, call: Callable[[], str]) -> str:
        """Make a call, and add the arcs that it reaches."""
        sys.settrace(self._enter)
        try:
            return call()
        finally:
            sys.settrace(None)

    def _enter(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in self._files:
            return None
        last, found = 0, self.found

        def step(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal last
            if event == "line":
                found.add((code, last, frame.f_lineno))
                last = frame.f_lineno
            return step

        return step


def run(
    target: Target, folder: Path, seconds: float, *, inputs: int = sys.maxsize, seed: int = 0
) -> Report:
    """Fuzz a target, and return the report.

    Args:
        target: the target.
        folder: an empty folder; inputs that failed stay there as ``failure-1`` and so on, and
            ``input`` is the last one.
        seconds: the CPU time to spend.
        inputs: the maximum number of inputs.
        seed: of the random choices.
    """
    (folder / "work").mkdir()
    subject = target.prepare(folder / "work")
    rng = random.Random(seed)
    arcs = Arcs(target.modules)
    report = Report()
    gc.collect()
    gc.freeze()  # what was imported; the collections below look at the rest alone
    _limit_memory()
    begun = time.process_time()
    for data in subject.seeds:
        arcs.of(lambda data=data: _check(subject, data, folder, report))
    assert report.worked, "no seed works"
    report.refused = report.worked = report.halted = 0  # the seeds do not count
    sound, refused, report.seed_arcs = list(subject.seeds), list[bytes](), len(arcs.found)
    armed = 0.0
    while report.inputs < inputs and len(report.failures) < _FAILURES:
        now = time.process_time()
        if now - begun > seconds:
            break
        if time.monotonic() - armed > 5:
            armed = time.monotonic()
            faulthandler.dump_traceback_later(LIMIT, exit=True)
        if report.inputs % _COLLECTED == 0:
            gc.collect()  # tokenizers in cycles hold address space
        pool = sound if rng.random() < _SOUND or not refused else refused
        data = mutate(rng.choice(pool), target.damage, rng)
        report.inputs += 1
        if report.inputs % SAMPLED:
            _check(subject, data, folder, report)
            continue
        known = len(arcs.found)
        outcome = arcs.of(lambda data=data: _check(subject, data, folder, report))
        if len(arcs.found) > known and outcome:
            _add(refused if outcome == REFUSED else sound, data, rng)
    faulthandler.cancel_dump_traceback_later()
    report.arcs, report.seconds = len(arcs.found), time.process_time() - begun
    return report


def _add(pool: list[bytes], data: bytes, rng: random.Random) -> None:
    """Add an input to a pool, in the place of another one if the pool is full."""
    if len(pool) > _POOL:
        pool[rng.randrange(len(pool))] = data
    else:
        pool.append(data)


def mutate(data: bytes, damage: list[Damage], rng: random.Random) -> bytes:
    """Return an input with one or a few damages."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        with suppress(ValueError, IndexError, TypeError, RecursionError):  # not for this input
            rng.choice(damage)(changed, rng)
            continue
        insert(changed, rng)
    del changed[_LONGEST:]
    return bytes(changed)


def _check(subject: Subject, data: bytes, folder: Path, report: Report) -> str:
    """Try an input, and count what became of it."""
    (folder / "input").write_bytes(data)
    begun = time.process_time()
    try:
        outcome = subject.try_one(data)
    except Exception as wrong:
        last = traceback.extract_tb(wrong.__traceback__)[-1]
        place = f"{type(wrong).__name__} at {last.filename}:{last.lineno}"
        _keep(place, traceback.format_exc(), data, folder, report)
        return ""
    if (took := time.process_time() - begun) > CPU_LIMIT:
        _keep("time", f"an input took {took:.1f} s", data, folder, report)
    setattr(report, outcome, getattr(report, outcome) + 1)
    return outcome


def _keep(place: str, what: str, data: bytes, folder: Path, report: Report) -> None:
    """Keep an input that failed, unless another one failed at the same place."""
    if place not in report.places:
        report.places.append(place)
        report.failures.append(what)
        (folder / f"failure-{len(report.failures)}").write_bytes(data)


def _limit_memory() -> None:
    """Limit the address space: a huge allocation raises MemoryError, which is a failure."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        used = int(statm.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))


def quietly() -> None:
    """Let neither warnings of damaged files nor tracebacks of other threads fill the screen."""
    warnings.simplefilter("ignore")
    threading.excepthook = lambda _: None
    faulthandler.enable()
