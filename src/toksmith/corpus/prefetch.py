"""Prefetches blocks: reads, decompresses or parses the next block while one is counted."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TypeVar, cast

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
    queue: Queue[tuple[str, object]] = Queue(_DEPTH)
    stop = Event()
    thread = Thread(target=_fill, args=(items, queue, stop), name="toksmith-ahead", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the system gives no more threads
        yield from items
        return
    try:
        while True:
            try:
                what, item = queue.get(
                    timeout=_SECONDS
                )  # a timeout, so that Ctrl-C is handled on all systems
            except Empty:
                continue
            if what == "end":
                return
            if what == "error":
                raise cast("BaseException", item)
            yield cast("Item", item)
    finally:
        stop.set()
        with suppress(Empty):
            while True:  # the thread may wait for space in the queue
                queue.get_nowait()
        thread.join(_GRACE)


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
