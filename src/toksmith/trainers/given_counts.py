"""The argument ``counts=`` of ``train``: what it takes, and which models can be trained on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from toksmith.errors import OptionError
from toksmith.splitters import PatternSplitter, splitter
from toksmith.trainers.counting.counts import Counts
from toksmith.trainers.counting.files.parquet import CountsFile
from toksmith.trainers.counting.files.sums import SumOfFiles
from toksmith.trainers.counting.splits import splitter_name

ON_CHUNKS = ("bpe", "word", "char")
"""The models that train on chunk counts of any split."""

AnyCounts: TypeAlias = "Counts | CountsFile | Sequence[CountsFile]"
"""Counts in memory, or files of counts to add, in the order of :class:`SumOfFiles`."""


def given_counts(counts: AnyCounts | None) -> Counts | SumOfFiles | None:
    """Return the counts of an argument ``counts=``.

    Raises:
        OptionError: it is something else, or the chunks were cut by different splitters.
    """
    if isinstance(counts, Counts | None):
        return counts
    files = [counts] if isinstance(counts, CountsFile) else counts
    if not isinstance(files, list | tuple) or not all(
        isinstance(file, CountsFile) for file in files
    ):
        raise OptionError(
            f"counts is {type(counts).__name__}: use Counts, such as Counts.of(…) or "
            "Counts.load(path), a CountsFile, or a list of CountsFile"
        )
    if not files:
        raise OptionError("counts is an empty list: give one file of counts or more")
    return SumOfFiles(files)


def check_counts(
    splitter_of_counts: PatternSplitter | None, model: str, options: Mapping[str, Any]
) -> None:
    """Check that a model can be trained from these counts as from their text.

    Args:
        splitter_of_counts: the splitter that cut the chunks.
        model: the name of the model to train.
        options: the options of the training.

    Raises:
        OptionError: the model needs counts of documents, or ``options`` has another split.
    """
    given = splitter_name(splitter_of_counts)
    if model not in ON_CHUNKS:
        if splitter_of_counts is not None:
            raise OptionError(
                f"counts of chunks (split {given}) cannot train model {model!r}: "
                "count documents or lines (split=None), or train on the text"
            )
    elif (
        "split" in options
        and splitter(options["split"], _gaps(splitter_of_counts)) != splitter_of_counts
    ):
        raise OptionError(
            f"split is {options['split']!r:.80}, but the counts were made with {given}: leave it "
            "out"
        )


def _gaps(cut_by: PatternSplitter | None) -> Literal["keep", "drop"]:
    return cut_by.gaps if cut_by else "keep"
