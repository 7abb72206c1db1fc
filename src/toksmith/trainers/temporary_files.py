"""Temporary files for counts and words that exceed the memory limit, and how large they may be."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from toksmith._base.sizes import format_size, rounded_up
from toksmith.errors import OptionError

FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
"""The error numbers of a disk, or a quota, without room."""

_PARTLY_FILLED = 8 << 20
"""The space of partly filled blocks of temporary files, if memory is very small, in bytes."""


@dataclass(eq=False)
class TemporaryFiles:
    """The temporary files of a training, in ``TMPDIR``.

    Attributes:
        limit: the maximum size of the files together in bytes (``spill_limit``); ``None`` for no
            limit.
        memory: the memory limit in bytes, for messages.
        in_memory: the memory of counts before they are written to the files, in bytes.
        learns: whether a model is learned from the counts, which takes further files.
        share: the share of the text that is counted; ``None`` if it is unknown.
        kept: returns the end of a message, on counts that are kept; empty if there are none.
    """

    limit: int | None
    memory: int
    in_memory: int
    learns: bool = False
    share: float | None = field(default=None, init=False)
    kept: Callable[[], str] = field(default=str, init=False)
    _descriptors: list[int] = field(default_factory=list, init=False)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Make a file, whose size counts towards the limit, for the ``with`` block.

        Raises:
            OptionError: the disk is full or fails, or ``TMPDIR`` is no writable folder.
        """
        _check_temporary_folder()
        try:
            file = tempfile.TemporaryFile(prefix="toksmith-")  # noqa: SIM115
        except OSError as wrong:
            raise self._no_room(wrong) from wrong
        descriptor = file.fileno()
        self._descriptors.append(descriptor)
        with file:
            try:
                yield file
            except OSError as wrong:
                if wrong.filename is not None:  # a corpus file; the temporary file has no name
                    raise
                raise self._no_room(wrong) from wrong
            finally:
                self._descriptors.remove(descriptor)

    @property
    def space(self) -> int | None:
        """How large further files may be, in bytes; ``None`` for no limit."""
        return None if self.limit is None else max(self.limit - self._used, 0)

    @contextmanager
    def within_space(self) -> Iterator[None]:
        """Convert the error of a writer without space, for the ``with`` block.

        Raises:
            OptionError: the writer had no space.
        """
        try:
            yield
        except BufferError as wrong:
            raise self._too_much() from wrong

    @property
    def _used(self) -> int:
        """The size of the files in bytes."""
        return sum(os.fstat(descriptor).st_size for descriptor in self._descriptors)

    def check(self) -> None:
        """Raise OptionError if the files exceed the limit."""
        if self.limit is not None and self._used > self.limit:
            raise self._too_much()

    def _too_much(self) -> OptionError:
        assert self.limit is not None
        used = self._used
        what = f": {format_size(used)} are in use" if used else " at the first write"
        if self.share:
            figure = self._space_needed(max(used, self.limit), self.share)
            enough = "is a start, as learning takes further space" if self.learns else "would do"
            advice = f" after {self.share:.0%} of the text, so spill_limit={figure} {enough}"
        else:
            figure = rounded_up(2 * max(used, self.limit))
            advice = f"; twice as much is a start (spill_limit={figure})"
        return OptionError(
            f"temporary files would exceed spill_limit={format_size(self.limit)}{what}"
            f"{advice}, or more memory=, so that less is written{self.kept()}"
        )

    def _space_needed(self, used: int, share: float) -> str:
        """Return the size of the files for the whole text, for a message.

        Args:
            used: their size after a share of the text.
            share: the share.
        """
        # In proportion to the text, with what is in memory; twice, for merging.
        return rounded_up(int(2 * (used / share + self.in_memory)) + _PARTLY_FILLED)

    def _no_room(self, wrong: OSError) -> OptionError:
        used, needed = self._used, ""
        if used and wrong.errno in FULL_DISK:
            needed = f" after {format_size(used)}"
            if self.share:
                figure = self._space_needed(used, self.share)
                needed += f", at {self.share:.0%} of the text; about {figure} are needed"
        return OptionError(
            f"counts larger than memory={format_size(self.memory)} cannot be written to "
            f"{tempfile.gettempdir()}: {wrong.strerror or wrong}{needed}; give more memory, or set "
            f"TMPDIR to a folder on another disk{self.kept()}"
        )


def _check_temporary_folder() -> None:
    """Raise OptionError if ``TMPDIR`` is unusable; ``tempfile`` would silently replace it."""
    folder = os.environ.get("TMPDIR")
    if folder and not (Path(folder).is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise OptionError(
            f"TMPDIR is {folder!r:.200}, which is no writable folder: counts that exceed memory= "
            "are written there; set TMPDIR to a folder on a disk with room, or unset it"
        )
