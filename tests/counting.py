"""Helpers of the tests of counting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from toksmith.engine.counting import ChunkCounter, LineCounter, make_plain_rules

PLAIN = make_plain_rules(
    [" " if chr(code).isspace() else chr(code) for code in range(128)],
    str.isalnum,
    lambda left, right: left != " " and left.isalnum() != right.isalnum(),
)
"""Words of letters and digits, or of neither, each with the space before it."""


def same(a: ChunkCounter | LineCounter, b: ChunkCounter | LineCounter) -> bool:
    """Whether two counters, which end with this, have found the same."""
    return all(np.array_equal(x, y) for x, y in zip(_found(a), _found(b), strict=True))


def _found(counter: ChunkCounter | LineCounter) -> Iterator[object]:
    for part in counter.finish():
        yield from part if isinstance(part, tuple) else (part,)
