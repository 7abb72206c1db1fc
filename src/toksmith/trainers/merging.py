"""What all training by merging has in common: telling of the progress, and of a sudden end."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from toksmith.progress import training_progress
from toksmith.training_engine import Watch


@contextmanager
def watching(alphabet: Sequence[bytes], merges: int, progress: bool | None) -> Iterator[Watch]:
    """Show the progress of merging.

    Args:
        alphabet: the first symbols.
        merges: how many merges there will be.
        progress: whether to show it; ``None`` where standard error is a terminal.

    Yields:
        What the kernel tells its merges.
    """
    known = dict(enumerate(alphabet))
    with training_progress(merges, progress) as report:

        def watch(done: int, left: int, right: int, count: int) -> None:
            report(done, known.get(left, b"") + known.get(right, b""), count)

        yield watch


def warn_of_end(tokens: int, wanted: int, min_frequency: int, stacklevel: int) -> None:
    """Warn where the text ran out of pairs before the vocabulary was full."""
    if tokens < wanted:
        warnings.warn(
            f"training ended at {tokens:,} of {wanted:,} tokens: no pair of neighbours stands "
            f"in the text {min_frequency:,} times or more",
            stacklevel=stacklevel + 1,
        )
