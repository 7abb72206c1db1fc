"""Shares of a training's data: one a process, and inside a process one a DataLoader worker."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from toksmith._base.checks import whole
from toksmith.errors import OptionError


class Share(NamedTuple):
    """The items of one worker: ``first``, ``first + step``, and so on.

    Attributes:
        first: its first item.
        step: the number of shares, which is the distance between its items.
    """

    first: int
    step: int


def check_rank(rank: object, world_size: object) -> tuple[int, int]:
    """Return the number of a process and the number of processes.

    Raises:
        OptionError: one is no whole number, or the rank is not below the world size.
    """
    size = whole("world_size", world_size, 1)
    number = whole("rank", rank, 0)
    if number >= size:
        raise OptionError(f"rank is {number}: it must be less than world_size={size}")
    return number, size


def share_of(rank: int, world_size: int) -> Share:
    """Return the share of this process, or of this PyTorch DataLoader worker of it.

    The items of a process do not depend on its number of workers. torch is not imported.

    Args:
        rank: the number of this process.
        world_size: the number of processes.
    """
    data = sys.modules.get("torch.utils.data")  # a worker has imported it
    about = data.get_worker_info() if data is not None else None
    worker, workers = (0, 1) if about is None else (about.id, about.num_workers)
    return Share(rank + worker * world_size, workers * world_size)


def check_state(state: object, names: Iterable[str]) -> list[int]:
    """Return the numbers of a state that a ``state_dict()`` returned, in the order of their names.

    Raises:
        OptionError: it is no mapping of these names to whole numbers of 0 or more.
    """
    if not isinstance(state, Mapping) or set(state) != set(names):
        raise OptionError(f"state is {state!r:.80}: use what state_dict() returned")
    return [whole(name, state[name], 0) for name in names]
