"""Seeded random lists of ids."""

from __future__ import annotations

import random
from collections.abc import Sequence


def random_ids(groups: Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """Return lists of up to 12 ids, of all groups alike.

    Args:
        groups: ids of one kind each.
        count: how many lists.
    """
    rng = random.Random(f"ids {count}")
    lists = []
    for _ in range(count):
        few = rng.choices(groups, k=rng.randint(1, len(groups)))
        lists.append([rng.choice(rng.choice(few)) for _ in range(rng.randint(0, 12))])
    return lists
