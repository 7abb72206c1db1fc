"""Files that the browser sends: streamed to disk, and no more than a bound of them."""

from __future__ import annotations

import threading
from pathlib import Path

from starlette.requests import Request

from toksmith.errors import OptionError
from toksmith.explorer.guard import LARGEST_BODY
from toksmith.explorer.jobs import Jobs

MOST_BYTES = 4 * LARGEST_BODY
"""Of all uploads together, as long as the explorer runs."""


class Uploads:
    """Takes files into the explorer's temporary folder.

    Args:
        jobs: whose folder that is.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._lock = threading.Lock()
        self._bytes = 0

    async def take(self, request: Request) -> tuple[str, Path]:
        """Write the body of a request to a file, and return its name and place.

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
                        raise OptionError(f"files of {LARGEST_BODY:,} bytes are taken at most")
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
                raise OptionError(f"{MOST_BYTES:,} bytes are taken at most, and no more")
