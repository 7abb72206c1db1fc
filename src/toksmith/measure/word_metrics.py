"""Metrics of the number of tokens per word.

Words are those of UAX #29 that hold a letter, a digit or an ideograph. The tokens *of a word* are
those that touch it in its text: the token ``␣the`` is one token of ``the``, and a
token that holds a space alone is a token of no word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, TypeAlias

from toksmith._base.checks import ratio, vector
from toksmith._base.lazy import np, npt
from toksmith._base.text import byte_sizes

if TYPE_CHECKING:
    import numpy.typing as npt

    Counts: TypeAlias = "Sequence[int] | npt.NDArray[np.integer]"
    from toksmith._base.arrays import SpanArray
    from toksmith.tokenizer import Tokenizer


FREQUENT = 1000
"""The number of most frequent words that the share of single-token words looks at."""


@dataclass(frozen=True, eq=False)
class SampleWords:
    """The words of a sample.

    Attributes:
        spans: for each passage, int64 of shape ``(words, 2)``: the bytes of each word.
        frequent: the most frequent words, most frequent first.
    """

    spans: list[SpanArray]
    frequent: list[bytes]

    def __len__(self) -> int:
        return sum(map(len, self.spans))


def find_words(passages: Sequence[bytes]) -> SampleWords:
    """Return the words of passages, by UAX #29.

    Raises:
        ImportError: what finds words is not installed (``pip install toksmith[segment]``).
    """
    from toksmith.segment import words

    spans = []
    counts: Counter[bytes] = Counter()
    for passage in passages:
        found = words(passage)
        # Each invalid byte is a character of one byte.
        sizes = byte_sizes(passage.decode("utf-8", "surrogateescape"))
        bounds = np.concatenate([[0], np.cumsum(sizes)])[found.bounds]
        spans.append(np.stack([bounds[:-1], bounds[1:]], axis=1)[found.is_word])
        counts.update([passage[start:end] for start, end in spans[-1].tolist()])
    # Equally frequent ones by their bytes, so that the order of the passages means nothing.
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return SampleWords(spans, [word for word, _ in ordered[:FREQUENT]])


def tokens_touching(tokens: SpanArray, words: SpanArray) -> npt.NDArray[np.int64]:
    """Return the number of tokens that touch each word.

    Args:
        tokens: int64, shape ``(tokens, 2)``: the bytes of each token, in their order.
        words: int64, shape ``(words, 2)``: the bytes of each word.

    Example:
        >>> tokens = np.array([[0, 3], [3, 5], [5, 9]])  # low| n|ewer
        >>> tokens_touching(tokens, np.array([[0, 3], [4, 9]])).tolist()
        [1, 2]
    """
    first = np.searchsorted(tokens[:, 1], words[:, 0], "right")
    end = np.searchsorted(tokens[:, 0], words[:, 1], "left")
    return end - first


def tokens_of_list(tokenizer: Tokenizer, words: Iterable[bytes]) -> npt.NDArray[np.int64]:
    """Return the number of tokens that touch each word of a list, each after a space."""
    counts = []
    for word in words:
        tokens = byte_spans(tokenizer, b" " + word)[1]
        counts.append(tokens_touching(tokens, np.array([[1, 1 + len(word)]]))[0])
    return np.array(counts, np.int64)


def byte_spans(tokenizer: Tokenizer, text: bytes) -> tuple[npt.NDArray[np.uint32], SpanArray]:
    """Return the ids of a text, and the span of bytes of each token."""
    return tokenizer._encoder.places(text, "text")


def fertility(tokens: int, words: int) -> float:
    """Return Σ tokens / Σ words: all tokens of a text, those of spaces and marks too, a word.

    Source: Ács 2019; Rust et al. 2021 (arXiv 2012.15613).
    Unit: tokens a word; 1 where each word is one token and nothing else is left.
    Caveat: it does not always predict the quality of a model (Ali et al. 2024, arXiv 2310.08754);
    what a word is differs by language, and in code it says little.

    Args:
        tokens: of the text.
        words: of the same text.

    Example:
        >>> fertility(30, 20)
        1.5
    """
    return ratio(tokens, words)


def split_words(tokens_of_words: Counts) -> float:
    """Return the share of words of more than one token.

    Source: the proportion of continued words of Rust et al. 2021 (arXiv 2012.15613).
    Unit: a share of the words of a running text, 0 to 1.
    Caveat: as :func:`fertility`; a word that became the unknown token counts as whole.

    Args:
        tokens_of_words: the number of tokens touch each word; words that none touches do not count.

    Example:
        >>> split_words([1, 1, 3, 2])
        0.5
    """
    counts = _touched(tokens_of_words)
    return float(np.mean(counts > 1)) if len(counts) else nan


def continuation(tokens_of_words: Counts) -> float:
    """Return Σ(nᵢ − 1) / Σ nᵢ: the share of the words' tokens that only go on with a word.

    Source: the share of ``##`` pieces; after Rust et al. 2021 (arXiv 2012.15613).
    Unit: a share of the tokens that touch words, 0 to 1.
    Caveat: as :func:`fertility`.

    Args:
        tokens_of_words: the number of tokens touch each word; words that none touches do not count.

    Example:
        >>> continuation([1, 1, 3, 3])
        0.5
    """
    counts = _touched(tokens_of_words)
    return float((counts - 1).sum() / counts.sum()) if len(counts) else nan


def single_token_words(tokens_of_words: Counts) -> float:
    """Return the share of a list of words, each there once, that are one token.

    Source: STRR, which is 100 times this: Nayeem et al. 2025 (arXiv 2510.09947).
    Unit: a share of distinct words, 0 to 1.
    Caveat: it is as good as the list; rare words weigh as much as frequent ones.

    Args:
        tokens_of_words: the number of tokens of each word of the list.

    Example:
        >>> single_token_words([1, 1, 3, 2, 1])
        0.6
    """
    counts = vector("tokens_of_words", tokens_of_words, np.int64)
    return float(np.mean(counts == 1)) if len(counts) else nan


def _touched(counts: Counts) -> npt.NDArray[np.int64]:
    array = vector("tokens_of_words", counts, np.int64)
    return array[array > 0]
