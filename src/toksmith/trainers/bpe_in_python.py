"""Training byte-level BPE without the compiled module, by the reference's algorithm.

It is for machines that no wheel fits, such as a browser, and for small texts: a megabyte takes
minutes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from toksmith._base.arrays import Bounds
from toksmith._base.lazy import np
from toksmith._base.text import Text, utf8
from toksmith.engine.training import MergeRules, Merges
from toksmith.errors import EngineError
from toksmith.reference.bpe_training import training_steps
from toksmith.splitters import PatternSplitter
from toksmith.stages.split_patterns import chunk_spans
from toksmith.trainers.counting.corpus import Corpus


class ChunkSink:
    """Counts the chunks of documents (a ``DocumentSink``).

    Attributes:
        counts: the number of occurrences of each chunk, in order of first appearance.
    """

    def __init__(self, splitter: PatternSplitter | None) -> None:
        self._splitter = splitter
        self.counts: Counter[bytes] = Counter()

    def add_texts(self, texts: Sequence[Text]) -> None:
        """Count the chunks of documents."""
        for text in map(utf8, texts):
            spans = chunk_spans(self._splitter, text)
            self.counts.update(text[start:end] for start, end in spans)

    def add_slices(self, text: Text, bounds: Bounds) -> None:
        """Count the chunks of slices of a text, each of which is a document."""
        data = utf8(text)
        self.add_texts([data[start:end] for start, end in bounds.tolist()])

    def cut(self, text: Text, start: int, end: int) -> int:
        """Return the end: documents are counted whole."""
        return end


def learn_in_python(
    corpus: Corpus, splitter: PatternSplitter | None, tokens: int, rules: MergeRules
) -> tuple[Merges, int]:
    """Learn merges from the 256 bytes, and return them with the number of distinct chunks.

    Args:
        corpus: the training text: texts or files, without weights and limits.
        splitter: cuts the text into chunks.
        tokens: the number of merges to learn.
        rules: the rules that choose the pairs to merge.

    Raises:
        EngineError: the training needs the compiled module.
        TrainingError: there is no text.
    """
    _check(corpus)
    sink = ChunkSink(splitter)
    corpus.feed(sink)
    counts = list(sink.counts.values())

    def steps() -> Iterator[tuple[tuple[int, int, int], int, int]]:
        for step in training_steps(
            sink.counts,
            256 + tokens,
            ties=rules.ties,
            min_frequency=rules.min_frequency,
            max_token_length=rules.max_token_length,
        ):
            left = sum(len(chunk) * count for chunk, count in zip(step.chunks, counts, strict=True))
            yield (*step.pair, step.new), step.count, left

    found = list(steps())
    return Merges(
        np.array([merge for merge, _, _ in found], np.uint32).reshape(-1, 3),
        np.array([count for _, count, _ in found], np.uint64),
        np.array([left for _, _, left in found], np.uint64),
    ), len(counts)


def _check(corpus: Corpus) -> None:
    needed = {
        "counts=": corpus.given_counts is not None,
        "weights=": bool(corpus.reading.weights),
        "checkpoint=": corpus.kept_parts is not None,
        "memory=": corpus.limits.limit is not None,
        "min_count=": corpus.limits.min_count > 1,
    }
    if given := [option for option, is_given in needed.items() if is_given]:
        raise EngineError(
            f"{' and '.join(given)} needs the compiled module of toksmith, which is missing here: "
            "install a wheel for this Python and platform, or leave the option out"
        )
