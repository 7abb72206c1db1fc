"""Counts the words of a corpus with any normalizer and splitter.

Documents are normalized one by one. The kernel counts the chunks that the first steps of the
splitter make, as far as it can run them, and each distinct chunk goes through the other steps once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from toksmith._base.arrays import Bounds
from toksmith._base.text import Text
from toksmith.engine.counting import ChunkCounter, CountedChunks, valid_utf8
from toksmith.engine.normalized import make_normalizer
from toksmith.engine.split_tables import kernel_splitter
from toksmith.errors import UnsupportedError
from toksmith.normalizers import Normalizer
from toksmith.splitters import (
    LeadingSpace,
    Metaspace,
    PatternSplitter,
    Splitter,
    SplitterSequence,
)
from toksmith.stages.split_classes import iter_chunks, marks_only_first
from toksmith.trainers.counting.bulk_splitting import blocks, split_in_bulk
from toksmith.trainers.counting.corpus import Corpus
from toksmith.trainers.counting.word_feeds import Feed, add_words, items_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

_AT_SPACES = PatternSplitter(" [^ ]*|[^ ]+")
"""Cuts before each space."""


@contextmanager
def document_feed(
    corpus: Corpus, normalizer: Normalizer, splitter: Splitter | None
) -> Iterator[Feed]:
    """Count the chunks of documents; yields a function that passes on their words."""
    first, steps = _kernel_steps(splitter)
    rest = _sequence(steps)
    with corpus.lines(
        lambda: _DocumentCounter(normalizer, first, None if first else rest, corpus.threads)
    ) as found:
        if first and rest is not None:
            yield lambda counter: found.pass_chunks(partial(_add_split, counter, rest))
        else:  # chunks are words
            yield lambda counter: found.pass_chunks(counter.add_counted)


def _add_split(counter: ChunkCounter, splitter: Splitter, *counted: Unpack[CountedChunks]) -> None:
    """Split counted chunks into words, and count these."""
    for block, words in zip(blocks(counted), split_in_bulk(splitter, counted), strict=True):
        if words is not None:
            counter.add_counted(*words)
            continue
        add_words(
            counter,
            (
                (word, count)
                for chunk, count in items_of(block)
                for word in iter_chunks(splitter, chunk.decode())
            ),
        )


def _kernel_steps(
    splitter: Splitter | None,
) -> tuple[tuple[Splitter, ...], tuple[Splitter, ...]]:
    """Return the first steps of a splitter, which the kernel can run, and the others.

    A step that needs to know where a document starts can only be the first one.
    """
    steps = splitter.steps if isinstance(splitter, SplitterSequence) else (splitter,)
    steps = tuple(step for step in steps if step is not None)
    leads = steps[:1] == (LeadingSpace(),)
    if (
        LeadingSpace() in steps[leads:]
        or any(map(marks_only_first, steps))
        or any(isinstance(step, Metaspace) and not step.split for step in steps)
    ):
        return (), steps
    first, rest = steps[:leads], steps[leads:]
    for count in range(len(rest), 0, -1):
        if _runs(rest[:count]):
            first, rest = steps[: leads + count], rest[count:]
            break
    if isinstance(rest[0] if rest else None, Metaspace) and _runs((*first[leads:], _AT_SPACES)):
        first = (*first, _AT_SPACES)  # it cuts where Metaspace will
    return first, rest


def _runs(steps: tuple[Splitter, ...]) -> bool:
    """Return whether the kernel can run steps."""
    try:
        kernel_splitter(_sequence(steps))
    except UnsupportedError:
        return False
    return True


def _sequence(steps: tuple[Splitter, ...]) -> Splitter | None:
    return SplitterSequence(steps) if len(steps) > 1 else steps[0] if steps else None


class _DocumentCounter:
    """Counts the words of documents, or chunks that are not yet split into words.

    Args:
        normalizer: the normalizer of documents.
        first: the steps of the splitter that the kernel runs, perhaps after a ``LeadingSpace``.
        cut: the splitter if the kernel runs none of its steps.
        threads: the number of threads.

    Attributes:
        counter: counts the chunks.
    """

    def __init__(
        self,
        normalizer: Normalizer,
        first: tuple[Splitter, ...],
        cut: Splitter | None,
        threads: int,
    ) -> None:
        self._normalize = make_normalizer(normalizer)
        self._leads = first[:1] == (LeadingSpace(),)
        self._in_kernel = bool(first)
        self._cut = cut
        self.counter = ChunkCounter(_sequence(first[self._leads :]) if first else None, threads)

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count documents."""
        documents = [self._normalize(valid_utf8(text)) for text in texts]
        if not self._in_kernel:
            for document in documents:
                self.counter.add_texts([*iter_chunks(self._cut, document.decode())])
            return
        if self._leads:
            documents = [
                text if text.startswith(b" ") or not text else b" " + text for text in documents
            ]
        self.counter.add_texts(documents)

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count slices of a text as documents."""
        data = memoryview(text.encode() if isinstance(text, str) else text)
        self.add_texts([data[start:end].tobytes() for start, end in bounds.tolist()])

    def cut(self, text: Text, start: int, end: int) -> int:
        """Return the end, because documents are not cut."""
        return end

    def end(self) -> None:
        """Do nothing: nothing is left to be counted."""

    def lines(self) -> tuple[int, int, int]:
        """Return zeros, because lines are not counted."""
        return 0, 0, 0
