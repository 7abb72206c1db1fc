"""How many tokens touch each word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toksmith.lazy import np, npt
from toksmith.text import byte_sizes

if TYPE_CHECKING:
    from toksmith.tokenizer import Tokenizer
    from toksmith.types import SpanArray

FREQUENT = 1000
"""How many of the most frequent words make the list for the share of single-token words."""


@dataclass(frozen=True, eq=False)
class Words:
    """The words of a sample.

    Attributes:
        spans: for each passage, int64 of shape ``(words, 2)``: the bytes of each word.
        frequent: the most frequent words, most frequent first.
    """

    spans: list[SpanArray]
    frequent: list[bytes]

    def __len__(self) -> int:
        return sum(map(len, self.spans))


def find_words(passages: Sequence[bytes]) -> Words:
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
    return Words(spans, [word for word, _ in ordered[:FREQUENT]])


def tokens_touching(tokens: SpanArray, words: SpanArray) -> npt.NDArray[np.int64]:
    """Return how many tokens touch each word.

    Args:
        tokens: int64, shape ``(tokens, 2)``: the bytes of each token, in their order.
        words: int64, shape ``(words, 2)``: the bytes of each word.

    Example:
        >>> tokens = np.array([[0, 3], [3, 5], [5, 9]])  # low| n|ewer
        >>> tokens_touching(tokens, np.array([[0, 3], [4, 9]])).tolist()
        [1, 2]
    """
    first = np.searchsorted(tokens[:, 1], words[:, 0], "right")
    behind = np.searchsorted(tokens[:, 0], words[:, 1], "left")
    return behind - first


def tokens_of_list(tokenizer: Tokenizer, words: Iterable[bytes]) -> npt.NDArray[np.int64]:
    """Return how many tokens touch each word of a list, where it stands behind a space."""
    counts = []
    for word in words:
        tokens = byte_spans(tokenizer, b" " + word)[1]
        counts.append(tokens_touching(tokens, np.array([[1, 1 + len(word)]]))[0])
    return np.array(counts, np.int64)


def byte_spans(tokenizer: Tokenizer, text: bytes) -> tuple[npt.NDArray[np.uint32], SpanArray]:
    """Return the ids of a text, and the bytes that each token stands for."""
    return tokenizer._encoder.places(text, "text")
