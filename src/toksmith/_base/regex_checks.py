"""The check that a regular expression compiles, in bounded time and memory."""

from __future__ import annotations

import re
from math import prod

from toksmith._base.lazy import regex
from toksmith.errors import SplitError

_MOST_COPIES = 100_000


def check_pattern(pattern: str) -> None:
    """Check that a pattern compiles, and does not take the memory of the machine to do so.

    Raises:
        SplitError: it does not.
    """
    counts = (int(count[:9]) for count in re.findall(r"\{([0-9]+)", pattern))
    if prod(max(count, 1) for count in counts) > _MOST_COPIES:
        raise SplitError(
            f"split pattern {pattern!r:.80} counts too far: {{n}} is compiled as n "
            f"copies, and {_MOST_COPIES:,} in all are the most"
        )
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as wrong:
        raise SplitError(
            f"split pattern {pattern!r:.80} is not a regular expression: {wrong}"
        ) from wrong
