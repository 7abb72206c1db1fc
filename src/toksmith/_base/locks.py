"""Locks between processes, where the system has them."""

from __future__ import annotations

import time
from pathlib import Path

from toksmith.errors import OptionError

PATIENCE = 5.0
"""Seconds to wait for another process."""


def lock(descriptor: int, folder: Path) -> None:
    """Lock an open file or folder until it is closed, also by the end of the process.

    Where there are no locks, as on Windows and on some network file systems, nothing is done.

    Args:
        descriptor: of the open file or folder.
        folder: named in the error.

    Raises:
        OptionError: another process, or another descriptor of this one, has locked it.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() < deadline:
                time.sleep(0.01)
                continue
            raise OptionError(
                f"another process works on {folder}: wait for it, or stop it"
            ) from None
        except OSError:  # a file system without locks
            return
        return
