"""Learn a WordPiece vocabulary: join pairs inside words, again and again.

Words start as their characters, each but the first with ``##`` before it. Which pair is joined next
depends on the objective:

- ``"likelihood"``: the one with the highest count(pair) / (count(left) · count(right)): the two are
  found together more often than they should be by chance (Schuster & Nakajima 2012). Every merge
  makes its halves rarer, and so the other pairs that hold them worth more.
- ``"frequency"``: the most frequent one, as in BPE. Hugging Face's trainer does this.

Of equal pairs, the more frequent one goes first, then the one of the older left half, then that of
the older right half; the characters that start words are the oldest, then those with ``##``, each
by code point.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from toksmith.reference.pair_index import PairIndex

Symbol = int


@dataclass(frozen=True)
class WordPieceStep:
    """One merge, as it was learned.

    Attributes:
        left: its left half.
        right: its right half.
        piece: the merged piece.
        count: the number of times the pair occurred.
        score: the score that it was chosen by.
        words: every distinct word as pieces, after this step.
    """

    left: str
    right: str
    piece: str
    count: int
    score: float
    words: Sequence[Sequence[str]]


def alphabet(words: Mapping[str, int], prefix: str = "##") -> list[str]:
    """Return the first pieces: all characters, and those that continue words with the prefix.

    Example:
        >>> alphabet({"ab": 1, "ba": 1, "c": 1})
        ['a', 'b', 'c', '##a', '##b']
    """
    characters = sorted({character for word in words for character in word})
    continuing = sorted({character for word in words for character in word[1:]})
    return characters + [prefix + character for character in continuing]


def training_steps(
    words: Mapping[str, int],
    pieces: int,
    *,
    objective: Literal["likelihood", "frequency"] = "likelihood",
    min_frequency: int = 1,
    prefix: str = "##",
) -> Iterator[WordPieceStep]:
    """Learn pieces of two characters and more.

    Args:
        words: the number of occurrences of each word.
        pieces: the number of merges to make; the result has fewer if no pair is left.
        objective: see above.
        min_frequency: a pair that is rarer is never joined.
        prefix: what marks a piece that continues a word.

    Example:
        >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
        >>> [step.piece for step in training_steps(words, 3)]
        ['##gs', 'pu', 'hu']
        >>> [step.piece for step in training_steps(words, 3, objective="frequency")]
        ['##ug', '##un', 'hug']
    """
    vocab = alphabet(words, prefix)
    age = {piece: place for place, piece in enumerate(vocab)}
    spelled = [[age[c if i == 0 else prefix + c] for i, c in enumerate(word)] for word in words]
    weights = list(words.values())
    index = PairIndex(spelled, weights)
    for _ in range(pieces):
        counted = {pair: n for pair, n in index.counts.items() if n >= max(min_frequency, 1)}
        if not counted:
            return
        scores = {pair: float(count) for pair, count in counted.items()}
        if objective == "likelihood":
            occurrences = _symbol_counts(index.words, weights)
            for pair in scores:
                scores[pair] /= float(occurrences[pair[0]]) * float(occurrences[pair[1]])
        pair = min(scores, key=lambda pair: (-scores[pair], -counted[pair], pair))
        count = counted[pair]
        left, right = vocab[pair[0]], vocab[pair[1]]
        index.merge(pair, len(vocab))
        vocab.append(left + right.removeprefix(prefix))
        shown = [[vocab[symbol] for symbol in word] for word in index.words]
        yield WordPieceStep(left, right, vocab[-1], count, scores[pair], shown)


def _symbol_counts(words: Sequence[Sequence[Symbol]], weights: Sequence[int]) -> Counter[Symbol]:
    counts: Counter[Symbol] = Counter()
    for word, weight in zip(words, weights, strict=True):
        for symbol in word:
            counts[symbol] += weight
    return counts
