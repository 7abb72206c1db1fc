"""Uploads from the browser, streamed to disk up to a limit."""

from __future__ import annotations

import threading
from pathlib import Path

from starlette.requests import Request

from toksmith.errors import OptionError
from toksmith.explorer.guard import LARGEST_BODY
from toksmith.explorer.jobs import Jobs

MOST_BYTES = 4 * LARGEST_BODY
"""The largest size of all uploads together, in bytes."""


class Uploads:
    """Writes uploads to the explorer's temporary folder.

    Args:
        jobs: owns that folder.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._lock = threading.Lock()
        self._bytes = 0

    async def take(self, request: Request) -> tuple[str, Path]:
        """Write the body of a request to a file, and return its name and path.

        Raises:
            OptionError: it is too large, or all uploads together are.
        """
        name = Path(request.query_params.get("name", "").replace("\\", "/")).name or "file"
        path = self._jobs.file(f"-{name[-80:]}" if name.isprintable() else "")
        try:
            size = 0
            with path.open("wb") as file:
                async for part in request.stream():
                    size += len(part)
                    self._count(len(part))
                    if size > LARGEST_BODY:
                        raise OptionError(
                            f"the file is too large: at most {LARGEST_BODY:,} bytes are accepted"
                        )
                    file.write(part)
        except BaseException:
            path.unlink(missing_ok=True)
            self._count(-size)
            raise
        return name, path

    def _count(self, more: int) -> None:
        with self._lock:
            self._bytes += more
            if self._bytes > MOST_BYTES:
                raise OptionError(
                    f"uploads are too large: at most {MOST_BYTES:,} bytes are accepted in all; "
                    "restart the explorer to remove them"
                )
