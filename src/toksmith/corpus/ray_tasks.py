"""Runs tasks on a Ray cluster, with retries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from toksmith._base.lazy import extra
from toksmith.errors import ToksmithError

_RETRIES = 4
"""How often Ray starts a task again whose process or machine was lost."""

_SECONDS = 0.5
"""The time between two calls of ``poll``."""


def run_tasks(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    shared: Sequence[Any] = (),
    cpus: int = 1,
    done: Callable[[Any], None] = lambda _: None,
    poll: Callable[[], None] = lambda: None,
) -> None:
    """Call a function once for each task, on all machines of the cluster, and wait for the results.

    It uses the cluster that the process is connected to, or that ``RAY_ADDRESS`` names; else it
    starts Ray on this machine.

    Args:
        function: gets ``shared`` and then the arguments of a task. A call that was lost is made
            again, so a second call must do no harm.
        tasks: the arguments of each task.
        shared: arguments of all tasks, which are sent to each machine once.
        cpus: the CPUs of a task.
        done: is called with each result, in the order in which tasks end.
        poll: is called now and then, and after the last result.

    Raises:
        MissingExtraError: Ray is not installed (``pip install toksmith[ray]``).
        ToksmithError: a task failed.
        KeyboardInterrupt: Ctrl-C; tasks that wait are cancelled.
    """
    ray = connect()
    remote = ray.remote(num_cpus=cpus, max_retries=_RETRIES)(_call)
    held = [ray.put(each) for each in shared]
    pending = [remote.remote(function, *held, *task) for task in tasks]
    try:
        while pending:
            ended, pending = ray.wait(pending, num_returns=len(pending), timeout=_SECONDS)
            for result in ray.get(ended):
                if isinstance(result, ToksmithError):
                    raise result
                done(result)
            poll()
    finally:
        for reference in pending:
            with suppress(Exception):  # it may have ended meanwhile
                ray.cancel(reference)


def connect() -> Any:
    """Return the module ``ray``, connected to a cluster.

    Raises:
        MissingExtraError: Ray is not installed.
    """
    ray = extra("ray", "ray")
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    return ray


class Board:
    """A Ray actor that holds the progress of all tasks."""

    def __init__(self) -> None:
        self._done: dict[int, int] = {}

    def write(self, number: int, done: int) -> None:
        """Record how much of a task is done."""
        self._done[number] = done

    def read(self) -> int:
        """Return how much of all tasks is done."""
        return sum(self._done.values())


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a task in a worker; return its error, which Ray would wrap in one of its own."""
    try:
        return function(*arguments)
    except ToksmithError as wrong:
        return wrong
