"""Jobs: long work in a process of its own, which can be watched and ended at any moment."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections import deque
from pathlib import Path
from typing import Any

from toksmith.errors import OptionError

_MOST_MERGES = 500
_MOST_WARNINGS = 20
_MOST_POINTS = 400


class Job:
    """A task and the process that works on it.

    Args:
        task: the message for the worker.

    Attributes:
        state: ``"running"``, ``"done"``, ``"failed"`` or ``"cancelled"``.
        error: the reason of a failure.
        progress: the last report of the worker: ``stage``, ``done``, ``total`` and ``now``.
        merges: the last merges: number, start of the token, what is left out of it, count.
        curve: the number of merges and of tokens of the text, a few times a second.
        warnings: of the worker.
    """

    def __init__(self, task: dict[str, Any]) -> None:
        self.task = task
        self.state = "running"
        self.error = ""
        self.progress: dict[str, Any] = {}
        self.merges: deque[tuple[int, bytes, str, int]] = deque(maxlen=_MOST_MERGES)
        self.curve: list[tuple[int, int]] = []
        self.warnings: list[str] = []
        # Standard error of the worker: its last line is the error if the worker crashes.
        self._last_words = tempfile.TemporaryFile()  # noqa: SIM115  # closed when it has ended
        self._process = subprocess.Popen(
            [sys.executable, "-m", "toksmith.explorer.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._last_words,
            encoding="utf-8",
        )
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            with self._process.stdin as stdin:
                json.dump(self.task, stdin)
        except OSError:
            pass  # it has ended already; its reason is reported below
        with self._process.stdout as stdout:
            for line in stdout:
                self._take(json.loads(line))
        self._process.wait()
        if self.state == "running":
            self.state, self.error = "failed", self._reason()
        self._last_words.close()

    def _take(self, said: dict[str, Any]) -> None:
        if warning := said.get("warning"):
            self.warnings = [*self.warnings, warning][-_MOST_WARNINGS:]
        elif state := said.get("state"):
            if self.state == "running":
                self.error = said.get("error", "")
                self.state = state
        else:
            self.merges.extend(
                (n, bytes.fromhex(start), rest, count) for n, start, rest, count in said["merges"]
            )
            if said["tokens"]:
                self.curve.append((said["done"], said["tokens"]))
                if len(self.curve) > _MOST_POINTS:  # every other one will do
                    self.curve = self.curve[::2]
            self.progress = {name: said[name] for name in ("stage", "done", "total", "now")}

    def _reason(self) -> str:
        self._last_words.seek(0)
        lines = self._last_words.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"the worker ended with status {self._process.returncode}"

    def cancel(self) -> None:
        """End the process at once."""
        if self.state == "running":
            self.state = "cancelled"
        self._process.kill()
        self._thread.join(5)

    def wait(self, seconds: float) -> None:
        """Wait for its end, at most this long."""
        self._thread.join(seconds)


class Jobs:
    """The running job, of which there is at most one, or else the last one.

    Example:
        >>> jobs = Jobs()
        >>> job = jobs.start({"task": "nothing"})
        >>> job.wait(60)
        >>> job.state
        'failed'
        >>> jobs.close()
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="toksmith-")
        self._lock = threading.Lock()
        self._made = 0
        self._is_closed = False
        self.last: Job | None = None

    @property
    def folder(self) -> Path:
        """A folder that lives as long as the explorer."""
        return Path(self._folder.name)

    def file(self, name: str = "") -> Path:
        """Return the path of a new file in that folder."""
        with self._lock:
            self._made += 1
            return self.folder / f"{self._made}{name}"

    def start(self, task: dict[str, Any]) -> Job:
        """Start a job.

        Raises:
            OptionError: another job is running, or the explorer ends.
        """
        with self._lock:
            if self._is_closed:
                raise OptionError("the explorer has ended: start it again")
            if self.last is not None and self.last.state == "running":
                raise OptionError("something is being trained or measured already: cancel it first")
            self.last = Job(task)
            return self.last

    def cancel(self) -> None:
        """End the running job."""
        if self.last is not None:
            self.last.cancel()

    def close(self) -> None:
        """End the running job and remove all files; no other job can be started."""
        with self._lock:
            self._is_closed = True
        self.cancel()
        self._folder.cleanup()
