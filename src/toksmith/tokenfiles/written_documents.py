"""Whether the documents that are read from token files are those that were written."""

from __future__ import annotations

from toksmith.tokenfiles.formats import format_of
from toksmith.tokenfiles.job import Job
from toksmith.tokenfiles.source import TokenSource
from toksmith.tokenfiles.spool import SplitSize


def has_written_documents(tokens: TokenSource, job: Job, size: SplitSize) -> bool:
    """Return whether the documents read from the files of a split are those that were written.

    They are not if documents were cut to sequences; and if a format does not store their bounds,
    and neither bos nor eos tells them: there is none, some documents have none, or some contain it.

    Args:
        tokens: the split as read.
        job: the job that wrote it.
        size: its size as written.
    """
    form = format_of(job.format)
    if job.sequence_length is not None:
        return False
    if not form.stores_bounds and (job.boundary[0] is None or job.empty == "bare"):
        return False
    return len(tokens) == size.documents
