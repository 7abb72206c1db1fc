"""SHA-256 of the corpus files, computed while their pages are still in the page cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Thread

from toksmith.corpus.remote import FilePath
from toksmith.errors import FormatError

_BLOCK = 1 << 20
_LAG = 1 << 30
"""Hashing starts once this many bytes are waiting, even if reading has not finished."""


class Hashing:
    """Hashes files in a thread, after they are read.

    Hashing begins when all files are read, because learning leaves cores idle, or once ``_LAG``
    bytes are waiting.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._waiting = 0
        self._is_closed = False
        self._has_begun = False
        self._thread: Thread | None = None

    def start(self, path: FilePath) -> FileHash:
        """Return a file's hash, which is computed later."""
        return FileHash(path, self)

    def put(self, job: Callable[[], None], size: int) -> None:
        """Queue a job that hashes ``size`` bytes."""
        self._jobs.put(job)
        self._waiting += size
        if self._waiting > _LAG:
            self.begin()

    def begin(self) -> None:
        """Start the thread; if it cannot start, the caller of :meth:`finish` does the work."""
        if self._has_begun:
            return
        self._has_begun = True
        thread = Thread(target=self._run, name="toksmith-hash", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no thread can be started
            return
        self._thread = thread

    def finish(self, done: Event) -> None:
        """Wait for the job that sets ``done`` at its end."""
        self.begin()
        while self._thread is None and not done.is_set():
            job = self._jobs.get()
            if job is not None:
                job()
        done.wait()

    def close(self) -> None:
        """Stop the thread; queued jobs are dropped."""
        self._is_closed = True
        self._jobs.put(None)
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None and not self._is_closed:
            job()


@dataclass(frozen=True)
class KnownHash:
    """The hash of a file, if it is already known.

    Attributes:
        digits: the hash in hexadecimal.
    """

    digits: str

    def hexdigest(self) -> str:
        """Return the hash in hexadecimal."""
        return self.digits


class FileHash:
    """The hash of a file, piece by piece; see :class:`Hashing`."""

    def __init__(self, path: FilePath, hashing: Hashing) -> None:
        from hashlib import sha256

        self._path = path
        self._hashing = hashing
        self._hash = sha256()
        self._asked = 0
        self._done = 0
        self._error: OSError | None = None
        self._finished = Event()

    def follow(self, end: int | None) -> None:
        """Queue the file for hashing up to an offset; the last call passes ``None`` for the end."""
        size = 0 if end is None else end - self._asked
        self._asked += size
        self._hashing.put(lambda: self._read(end), size)

    def hexdigest(self) -> str:
        """Wait until the file is hashed, and return the hash in hexadecimal.

        Raises:
            FormatError: the file could not be read.
        """
        self._hashing.finish(self._finished)
        if self._error is not None:
            reason = self._error.strerror or self._error
            raise FormatError(self._path, f"cannot be read: {reason}")
        return self._hash.hexdigest()

    def _read(self, end: int | None) -> None:
        try:
            with self._path.open("rb") as file:
                file.seek(self._done)
                while end is None or self._done < end:
                    block = file.read(_BLOCK if end is None else min(_BLOCK, end - self._done))
                    if not block:
                        break
                    self._hash.update(block)
                    self._done += len(block)
        except OSError as wrong:
            self._error = wrong
        if end is None:
            self._finished.set()
