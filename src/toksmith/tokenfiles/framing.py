"""The frame of documents: their bos and eos, and their division among the splits."""

from __future__ import annotations

from typing import Any

from toksmith._base.arrays import OffsetArray
from toksmith._base.lazy import np
from toksmith.corpus.blocks import Block
from toksmith.results import Batch
from toksmith.tokenfiles.job import Job
from toksmith.tokenfiles.source import Tokens
from toksmith.tokenfiles.spool import SplitSize


class Framing:
    """Puts bos and eos around documents, and divides them among the splits.

    Args:
        job: the job.

    Attributes:
        before: the ids before each document.
        after: the ids after it.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._dtype = np.dtype(job.dtype)
        before = [job.bos] if job.bos is not None else []
        after: list[int] = []
        if job.eos is not None:
            (before if job.eos_place == "before" else after).append(job.eos)
        self.before, self.after = before, after

    def owners(self, block: Block) -> OffsetArray:
        """Return the number of the split of each document of a block: int64."""
        if len(self._job.splits) == 1:
            return np.zeros(len(block.bounds), np.int64)
        view = memoryview(block.data)  # type: ignore[arg-type]  # no block is a str
        return np.array(
            [self._job.split_of(view[start:end]) for start, end in block.bounds.tolist()],  # type: ignore[arg-type]
            np.int64,
        )

    def split(
        self, block: Block, batch: Batch, sizes: Any
    ) -> tuple[dict[str, tuple[Tokens, OffsetArray]], dict[str, SplitSize]]:
        """Return the framed documents of each split, and the sizes of the splits with them."""
        lengths = np.diff(batch.offsets)
        names = self._job.split_names
        documents = {}
        if len(names) == 1:
            documents[names[0]] = self.frame(batch.ids, lengths)
        else:
            owners = self.owners(block)
            of_token = np.repeat(owners, lengths)
            for number, name in enumerate(names):
                documents[name] = self.frame(
                    batch.ids[of_token == number], lengths[owners == number]
                )
        return documents, {
            name: sizes[name].plus(lengths) for name, (_, lengths) in documents.items()
        }

    def frame(self, ids: Tokens, lengths: OffsetArray) -> tuple[Tokens, OffsetArray]:
        """Return documents with bos and eos, in the type of the job, and their lengths.

        Args:
            ids: the ids of the documents, end to end.
            lengths: the number of ids of each.
        """
        empty = self._job.empty
        if empty == "drop":
            lengths = lengths[lengths > 0]
        count = len(self.before) + len(self.after)
        if not count:
            return ids.astype(self._dtype), lengths
        framed = lengths + count
        if empty == "bare":
            framed[lengths == 0] = 0
        ends = np.cumsum(framed)
        out = np.empty(int(ends[-1]) if len(ends) else 0, self._dtype)
        is_text = np.ones(len(out), bool)
        has = framed > 0
        starts = (ends - framed)[has]
        for place, token in enumerate(self.before):
            is_text[starts + place] = False
            out[starts + place] = token
        for place, token in enumerate(reversed(self.after)):
            is_text[ends[has] - 1 - place] = False
            out[ends[has] - 1 - place] = token
        out[is_text] = ids
        return out, framed
