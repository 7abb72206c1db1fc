"""The requests of the page that compares tokenizers."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toksmith.errors import OptionError
from toksmith.explorer.folder import Folder
from toksmith.explorer.jobs import Job, Jobs
from toksmith.explorer.loaded import LoadedTokenizers
from toksmith.explorer.requests import Fields, Reply
from toksmith.show.comparison_page import comparison_body

if TYPE_CHECKING:
    from toksmith.measure.comparison import Comparison

MOST = 8
"""The largest number of tokenizers in one comparison."""

FORMS = {
    "html": "comparison.html",
    "json": "comparison.json",
    "csv": "comparison.csv",
    "markdown": "comparison.md",
    "latex": "comparison.tex",
}


class ComparePage:
    """The requests of the page.

    Args:
        loaded: the tokenizers.
        folder: the files that may be read.
        jobs: runs the comparison.
    """

    def __init__(self, loaded: LoadedTokenizers, folder: Folder, jobs: Jobs) -> None:
        self._loaded = loaded
        self._folder = folder
        self._jobs = jobs
        self._job: Job | None = None
        self._found: Comparison | None = None

    def start(self, fields: Fields) -> Reply:
        """Start a comparison."""
        keys = list(dict.fromkeys(fields.texts("tokenizers")))
        if not 1 <= len(keys) <= MOST:
            raise OptionError(f"choose one to {MOST} tokenizers")
        files, texts = self._folder.choose(fields.texts("files"), fields.text("text"))
        tokenizers = {key: self._pickled(key) for key in keys}
        task = {
            "task": "compare",
            "tokenizers": tokenizers,
            "files": files,
            "texts": texts,
            "separator": fields.text("separator"),
            "result": str(self._jobs.file(".pickle")),
        }
        self._job = self._jobs.start(task)
        self._found = None
        return {"state": "running"}

    def _pickled(self, key: str) -> str:
        path = self._jobs.file(".pickle")
        path.write_bytes(pickle.dumps(self._loaded[key].tokenizer))
        return str(path)

    def progress(self, fields: Fields) -> Reply:
        """Return the progress of the comparison, or its report."""
        job = self._job
        if job is None:
            return {"state": "none"}
        answer: dict[str, Any] = {
            **job.progress,
            "state": job.state,
            "error": self._folder.replace_upload_paths(job.error),
            "warnings": [*map(self._folder.replace_upload_paths, job.warnings)],
        }
        if job.state == "done":
            answer["report"] = comparison_body(self._comparison(job))
        return answer

    def _comparison(self, job: Job) -> Comparison:
        if self._found is None:
            path = Path(job.task["result"])
            self._found = pickle.loads(path.read_bytes())  # our own worker wrote it
            for made in (path, *map(Path, job.task["tokenizers"].values())):
                made.unlink(missing_ok=True)
        assert self._found is not None
        return self._found

    def file(self, fields: Fields) -> Reply:
        """Return the comparison as a file of one of the types in ``FORMS``."""
        if self._found is None:
            raise OptionError("there is no comparison yet: start one first")
        form = fields.text("form")
        if form not in FORMS:
            raise OptionError(f"unknown file type {form!r}: use {', '.join(FORMS)}")
        made = {
            "html": self._found.to_html,
            "json": self._found.to_json,
            "csv": self._found.to_csv,
            "markdown": self._found.to_markdown,
            "latex": self._found.to_latex,
        }
        return {"name": FORMS[form], "text": made[form]()}
