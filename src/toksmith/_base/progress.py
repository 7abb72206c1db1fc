"""Progress of training on standard error: first the counting, then the merging.

Nothing is imported or printed unless a bar is shown.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from toksmith._base.visible import SPACE, visible

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


class MergeCallback(Protocol):
    """A function that is called with each merge that is learned."""

    def __call__(self, done: int, token: bytes, count: int, tokens: int = 0) -> None:
        """Take note of a merge.

        Args:
            done: the number of merges done.
            token: the bytes of what it made.
            count: how often its pair stood in the text.
            tokens: the number of tokens of the text now.
        """


RoundCallback: TypeAlias = "Callable[[int, int, float], None]"
"""A callback for each round: rounds done, pieces left, log-likelihood of the text."""

BytesCallback: TypeAlias = "Callable[[int], None]"
"""A callback with the number of bytes counted."""

Listener: TypeAlias = "Callable[[str, tuple[Any, ...]], None]"
"""Told, in place of the progress bar, which kind of progress there is, and its figures."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)

_SECONDS_BETWEEN_UPDATES = 0.05
_LONGEST_TOKEN_SHOWN = 24


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Report all progress inside to a function, whether progress bars are wanted or not.

    Args:
        listener: it is given ``"merges"`` with (done, total, bytes of the last, count, tokens of
            the text), ``"counting"`` with (bytes done, total bytes or ``None``), ``"rounds"`` with
            (rounds, pieces, log-likelihood), ``"comparing"`` with (what is done now, more bytes,
            total), ``"tokenizing"`` with (bytes read, documents, tokens, total bytes or ``None``).

    Example:
        >>> with listen(print), counting_progress(10) as report:
        ...     report(5)
        counting (5, 10)
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def training_progress(total_merges: int, enabled: bool | None = None) -> Iterator[MergeCallback]:
    """Show the number of merges done, the last merge, its count and the time left.

    Args:
        total_merges: the total number of merges.
        enabled: ``None`` means only where standard error is a terminal.

    Yields:
        A function to call for each merge; it is cheap enough for that.

    Example:
        >>> with training_progress(1, enabled=False) as report:
        ...     report(1, b"th", 4071)
    """
    if listener := _listener.get():
        yield lambda done, token, count, tokens=0: listener(
            "merges", (done, total_merges, token, count, tokens)
        )
        return
    if not _is_wanted(enabled):
        yield lambda done, token, count, tokens=0: None
        return
    from rich.progress import MofNCompleteColumn, TextColumn

    last = TextColumn("{task.fields[last]}", style="bold", markup=False)
    with _progress(MofNCompleteColumn(), last) as bar:
        task = bar.add_task("merges", total=total_merges, last="")
        is_due = _due()

        def report(done: int, token: bytes, count: int, tokens: int = 0) -> None:
            if is_due() or done == total_merges:
                bar.update(task, completed=done, last=f"{_short(token)} × {count:,}")

        yield report


@contextmanager
def counting_progress(
    total_bytes: int | None, enabled: bool | None = None
) -> Iterator[BytesCallback]:
    """Show the share of the text that is counted.

    Args:
        total_bytes: the size of the text in bytes; ``None`` if unknown.
        enabled: ``None`` means only where standard error is a terminal.

    Yields:
        A callback ``(bytes_done)``.

    Example:
        >>> with counting_progress(None, enabled=False) as report:
        ...     report(1_000_000)
    """
    if listener := _listener.get():
        yield lambda done: listener("counting", (done, total_bytes))
        return
    with amount_progress("counting", total_bytes, enabled, is_bytes=True) as report:
        yield report


@contextmanager
def amount_progress(
    name: str, total: int | None, enabled: bool | None = None, *, is_bytes: bool = False
) -> Iterator[Callable[[int], None]]:
    """Show the share of some work that is done.

    Args:
        name: of the work, such as ``"encoding"``.
        total: the total amount; ``None`` if unknown.
        enabled: ``None`` means only where standard error is a terminal.
        is_bytes: whether amounts are bytes.

    Yields:
        A callback ``(amount_done)``.

    Example:
        >>> with amount_progress("encoding", 10, enabled=False) as report:
        ...     report(10)
    """
    if not _is_wanted(enabled):
        yield lambda done: None
        return
    from rich.progress import DownloadColumn, MofNCompleteColumn, TimeElapsedColumn

    counted = MofNCompleteColumn() if total is not None else TimeElapsedColumn()
    with _progress(DownloadColumn() if is_bytes else counted) as bar:
        task = bar.add_task(name, total=total)
        is_due = _due()

        def report(done: int) -> None:
            if is_due() or done == total:
                bar.update(task, completed=done)

        yield report


@contextmanager
def comparing_progress(
    total_bytes: int, enabled: bool | None = None
) -> Iterator[Callable[[str, int], None]]:
    """Show the share of all texts that is encoded, and the current tokenizer.

    Args:
        total_bytes: of all texts, once for each tokenizer.
        enabled: ``None`` means only where standard error is a terminal.

    Yields:
        A callback ``(what_is_done_now, bytes_done)``.

    Example:
        >>> with comparing_progress(1_000, enabled=False) as report:
        ...     report("gpt2: english.txt", 1_000)
    """
    if listener := _listener.get():
        yield lambda now, more: listener("comparing", (now, more, total_bytes))
        return
    if not _is_wanted(enabled):
        yield lambda now, done: None
        return
    from rich.progress import DownloadColumn, TextColumn

    last = TextColumn("{task.fields[last]}", markup=False)
    with _progress(DownloadColumn(), last) as bar:
        task = bar.add_task("comparing", total=total_bytes, last="")
        yield lambda now, done: bar.update(
            task, completed=done, last=_short(now.encode()).replace(SPACE, " ")
        )


@contextmanager
def tokenizing_progress(
    total_bytes: int | None, enabled: bool | None = None
) -> Iterator[Callable[[int, int, int], None]]:
    """Show the share of a corpus that is tokenized, the speed, and the documents and tokens so far.

    Args:
        total_bytes: the size of the source files in bytes; ``None`` if unknown.
        enabled: ``None`` means only where standard error is a terminal.

    Yields:
        A callback ``(bytes_read, documents, tokens)``.

    Example:
        >>> with tokenizing_progress(1_000, enabled=False) as report:
        ...     report(500, 1, 120)
    """
    if listener := _listener.get():
        yield lambda *figures: listener("tokenizing", (*figures, total_bytes))
        return
    if not _is_wanted(enabled):
        yield lambda read, documents, tokens: None
        return
    from rich.progress import DownloadColumn, TextColumn, TransferSpeedColumn

    last = TextColumn("{task.fields[last]}", markup=False)
    with _progress(DownloadColumn(), TransferSpeedColumn(), last) as bar:
        task = bar.add_task("tokenizing", total=total_bytes, last="")
        is_due = _due()
        start, before = time.monotonic(), -1

        def report(read: int, documents: int, tokens: int) -> None:
            nonlocal before
            before = tokens if before < 0 else before  # those of an earlier run have no time
            if is_due() or read == total_bytes:
                speed = (tokens - before) / max(time.monotonic() - start, 1e-3)
                figures = f"{documents:,} documents, {tokens:,} tokens, {speed:,.0f} tokens/s"
                bar.update(task, completed=read, last=figures)

        yield report


@contextmanager
def rounds_progress(enabled: bool | None = None) -> Iterator[RoundCallback]:
    """Show the number of rounds done and of pieces left; the total is unknown.

    Args:
        enabled: ``None`` means only where standard error is a terminal.

    Yields:
        A callback ``(rounds, pieces, log_likelihood)``.

    Example:
        >>> with rounds_progress(enabled=False) as report:
        ...     report(1, 400_000, -1.5e8)
    """
    if listener := _listener.get():
        yield lambda *figures: listener("rounds", figures)
        return
    if not _is_wanted(enabled):
        yield lambda rounds, pieces, log_likelihood: None
        return
    from rich.progress import TextColumn

    last = TextColumn("{task.fields[last]}", markup=False)
    with _progress(last) as bar:
        task = bar.add_task("pieces", total=None, last="counting substrings")

        def report(rounds: int, pieces: int, log_likelihood: float) -> None:
            bar.update(task, last=f"round {rounds}: {pieces:,} left, {log_likelihood:.5g}")

        yield report


def _is_wanted(enabled: bool | None) -> bool:
    return sys.stderr is not None and sys.stderr.isatty() if enabled is None else enabled


def _progress(*columns: ProgressColumn) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Remaining(TimeRemainingColumn):
        """The time left, once the speed is known well enough to tell."""

        def render(self, task: Task) -> Text:
            return super().render(task) if (task.elapsed or 0) >= 1 else Text()

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        Remaining(),
        console=console,
        transient=console.is_terminal,
    )


def _due() -> Callable[[], bool]:
    """Return a function that is true at most twenty times a second."""
    last = 0.0

    def is_due() -> bool:
        nonlocal last
        now = time.monotonic()
        if now - last < _SECONDS_BETWEEN_UPDATES:
            return False
        last = now
        return True

    return is_due


def _short(token: bytes) -> str:
    shown = visible(token[: 4 * _LONGEST_TOKEN_SHOWN])
    return shown if len(shown) <= _LONGEST_TOKEN_SHOWN else shown[: _LONGEST_TOKEN_SHOWN - 1] + "…"
