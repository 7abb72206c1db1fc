"""The number of threads of a call, from the cores that this process may use."""

from __future__ import annotations

import os
from collections.abc import Sequence, Sized
from contextlib import suppress
from pathlib import Path

from toksmith._base.checks import whole

SMALL = 1 << 16
"""Texts shorter than this, in bytes, are not worth a second thread."""


_FEW = 256
"""Batches of more texts are not measured, which would take time itself."""

_MOST = 1 << 16
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def thread_count(threads: int | None, size: int | None = None) -> int:
    """Return the number of threads to use.

    Args:
        threads: the number that the caller passed; ``None`` for all cores that this process may
            use: its affinity and its control group's limit count, not the machine's cores.
        size: the number of bytes to process, if known.

    Raises:
        OptionError: fewer than one, or no whole number.
    """
    if threads is None:
        return 1 if size is not None and size < SMALL else _usable_cores()
    return min(whole("threads", threads, least=1, otherwise=", or None for all cores"), _MOST)


def batch_threads(threads: int | None, texts: Sequence[Sized]) -> int:
    """Return the number of threads to use for a batch of texts.

    Args:
        threads: as in :func:`thread_count`.
        texts: the texts; few that are short are not worth a second thread.

    Example:
        >>> batch_threads(None, ["low", "lower"])
        1
    """
    if threads is None and len(texts) <= _FEW:
        if (size := getattr(texts, "nbytes", None)) is not None:  # a column's texts are not made
            return thread_count(None, size)
        with suppress(TypeError):  # of an object that is no text, which the engine refuses
            return thread_count(None, sum(map(len, texts)))
    return thread_count(threads)


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    limit = _group_limit()
    return cores if limit is None else max(1, min(cores, limit))


def _group_limit() -> int | None:
    """Return the whole cores of a control group's quota (cgroup version 2), if there is one."""
    try:
        quota, period = _QUOTA.read_text().split()
        return int(quota) // int(period)
    except (OSError, ValueError):
        return None
