"""Prefetches blocks: reads, decompresses or parses the next block while one is counted."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Generic, TypeVar, cast

Item = TypeVar("Item")

_DEPTH = 2
_SECONDS = 0.1
_GRACE = 0.05
"""Seconds to wait for the thread at the end; it may be blocked on a pipe forever."""


def prefetch(items: Iterable[Item]) -> Generator[Item, None, None]:
    """Yield items that a background thread takes from an iterator in advance.

    An error in the thread is raised here, after the items before it. If the generator is closed or
    dropped, the thread ends after its current item. If no thread can be started, items are taken
    one at a time.

    Args:
        items: the iterator; prefetching pays only if it releases the GIL.
    """
    reader = _Reader(items, _DEPTH)
    try:
        yield from reader.items()
    finally:
        reader.stop()
        reader.join()


def prefetch_in_order(
    parts: Iterable[Iterable[Item]], readers: int, depth: int = _DEPTH
) -> Generator[Item, None, None]:
    """Yield the items of several iterators, one iterator after the other.

    Background threads take items from the next iterators in advance, each from one iterator. Errors
    and the end of the threads are those of :func:`prefetch`.

    Args:
        parts: the iterators.
        readers: the number of iterators, and threads, at a time.
        depth: the number of items of one iterator that may wait in memory.
    """
    started: deque[_Reader[Item]] = deque()
    rest = iter(parts)
    try:
        while True:
            while len(started) < readers and (part := next(rest, None)) is not None:
                started.append(_Reader(part, depth))
            if not started:
                return
            yield from started[0].items()
            started.popleft().join()
    finally:
        for reader in started:
            reader.stop()
        for reader in started:
            reader.join()


class _Reader(Generic[Item]):
    """A thread that takes items from an iterator, and the queue that it puts them into."""

    def __init__(self, items: Iterable[Item], depth: int) -> None:
        self._items = items
        self._queue: Queue[tuple[str, object]] = Queue(depth)
        self._stop = Event()
        self._thread: Thread | None = Thread(
            target=_fill, args=(items, self._queue, self._stop), name="toksmith-ahead", daemon=True
        )
        try:
            self._thread.start()
        except RuntimeError:  # the system gives no more threads
            self._thread = None

    def items(self) -> Iterator[Item]:
        """Yield the items."""
        if self._thread is None:
            yield from self._items
            return
        while True:
            try:
                what, item = self._queue.get(
                    timeout=_SECONDS
                )  # a timeout, so that Ctrl-C is handled on all systems
            except Empty:
                continue
            if what == "end":
                return
            if what == "error":
                raise cast("BaseException", item)
            yield cast("Item", item)

    def stop(self) -> None:
        """Tell the thread to end after its current item."""
        self._stop.set()
        with suppress(Empty):
            while True:  # the thread may wait for space in the queue
                self._queue.get_nowait()

    def join(self) -> None:
        """Wait a moment for the end of the thread."""
        if self._thread is not None:
            self._thread.join(_GRACE)


def _fill(items: Iterable[Item], queue: Queue[tuple[str, object]], stop: Event) -> None:
    def put(what: str, item: object) -> bool:
        while not stop.is_set():
            try:
                queue.put((what, item), timeout=_SECONDS)
            except Full:
                continue
            break
        return not stop.is_set()

    iterator = iter(items)
    try:
        for item in iterator:
            if not put("item", item):
                return
        put("end", None)
    except BaseException as wrong:  # raised again by the other thread
        put("error", wrong)
    finally:
        close = getattr(iterator, "close", None)
        if close is not None:
            close()
