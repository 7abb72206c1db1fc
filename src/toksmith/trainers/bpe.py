"""Training byte-level BPE from counted chunks."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from toksmith import engine
from toksmith.arguments import whole
from toksmith.errors import OptionError
from toksmith.models import BPE
from toksmith.progress import training_progress
from toksmith.trainers.counts import Counts

TIES = ("first-seen", "smallest-pair")

Trained = tuple[BPE, npt.NDArray[np.uint64], npt.NDArray[np.uint64]]
"""A model, how often the pair of each merge stood, and the text's tokens after each merge."""


def check_options(tokens: int, ties: str, min_frequency: int, max_token_length: int | None) -> None:
    """Check what :func:`train_bpe` is told, before anything is counted for it.

    Raises:
        OptionError: an option is out of range.
    """
    whole("the number of tokens", tokens, least=256)
    if ties not in TIES:
        raise OptionError(f"ties is {ties!r}: use {' or '.join(map(repr, TIES))}")
    whole("min_frequency", min_frequency, least=1)
    if max_token_length is not None:
        whole("max_token_length", max_token_length, least=1, otherwise=", or None")


def train_bpe(
    counts: Counts,
    tokens: int,
    *,
    ties: str = "first-seen",
    min_frequency: int = 1,
    max_token_length: int | None = None,
    progress: bool | None = None,
) -> Trained:
    """Merge the most frequent pair, again and again (Gage 1994; Sennrich et al. 2016).

    Args:
        counts: the chunks of the text.
        tokens: how many tokens to make, the 256 bytes included.
        ties: which pair goes first where several are as frequent: ``"first-seen"``, the one that
            stands first in the text (minbpe), or ``"smallest-pair"``, the smaller ids, bytes
            ordered as in Hugging Face's byte alphabet (tokenizers).
        min_frequency: a pair that is rarer is never merged.
        max_token_length: in bytes; a pair that would be longer is never merged.
        progress: whether to show it; ``None`` where standard error is a terminal.

    Raises:
        OptionError: an option is out of range.
    """
    check_options(tokens, ties, min_frequency, max_token_length)
    vocab = [bytes([byte]) for byte in range(256)]
    with training_progress(tokens - 256, progress) as report:
        known = dict(enumerate(vocab))

        def watch(done: int, left: int, right: int, count: int) -> None:
            report(done, known.get(left, b"") + known.get(right, b""), count)

        merges, pair_counts, tokens_after = engine.train_bpe(
            counts.chunks,
            counts.ends,
            counts.counts,
            tokens=tokens - 256,
            ties=ties,
            min_frequency=min_frequency,
            max_token_length=max_token_length or 0,
            watch=watch,
        )
    for left, right, _ in merges.tolist():
        vocab.append(vocab[left] + vocab[right])
    if len(vocab) < tokens:
        warnings.warn(
            f"training ended at {len(vocab):,} of {tokens:,} tokens: no pair of neighbours stands "
            f"in the text {min_frequency:,} times or more",
            stacklevel=4,
        )
    return BPE(tuple(vocab), merges), pair_counts, tokens_after
