"""Progress of merging, and the warning if it ends early."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from toksmith._base.progress import training_progress
from toksmith.engine.training import Merges, Watch
from toksmith.errors import warn


@contextmanager
def watch_merges(
    alphabet: Sequence[bytes],
    merges: int,
    progress: bool | None,
    before: int = 0,
    join: Callable[[bytes, bytes], bytes] = bytes.__add__,
) -> Iterator[Watch]:
    """Show the progress of merging.

    Args:
        alphabet: the first symbols.
        merges: how many merges there will be.
        progress: whether to show it; ``None`` if standard error is a terminal.
        before: how many of them are known already.
        join: what two symbols become.

    Yields:
        The callback that the kernel calls with new merges.
    """
    known = dict(enumerate(alphabet))
    with training_progress(merges, progress) as report:
        done = before

        def watch(more: Merges) -> None:
            nonlocal done
            columns = (more.merges.tolist(), more.counts.tolist(), more.tokens_after.tolist())
            for (left, right, new), count, tokens in zip(*columns, strict=True):
                done += 1
                known[new] = join(known[left], known[right])
                report(done, known[new], count, tokens)

        yield watch


def warn_of_end(tokens: int, wanted: int, min_frequency: int) -> None:
    """Warn if the text ran out of pairs before the vocabulary was full."""
    if tokens >= wanted:
        return
    rare = f" that occur {min_frequency:,} times or more" if min_frequency > 1 else ""
    lower = ", or a lower min_frequency" if min_frequency > 1 else ""
    warn(
        f"the text ran out of pairs{rare}: {tokens:,} tokens instead of {wanted:,}. Use more "
        f"text, or a smaller vocab_size{lower}"
    )
