"""Counts of neighbouring pairs in words, updated merge by merge: the index of BPE training."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Generic, TypeVar

Symbol = TypeVar("Symbol", bound=Hashable)


class PairIndex(Generic[Symbol]):
    """The number of occurrences of each neighbouring pair, and the words that contain it.

    Overlapping pairs all count ("aaa" holds (a, a) twice), and are merged from left to right ("aaa"
    becomes (aa, a)).

    Args:
        words: the words as symbols; merging changes them.
        weights: the number of occurrences of each word in the text.

    Example:
        >>> index = PairIndex([list("aab"), list("ab")], [1, 5])
        >>> index.most_frequent()
        ({('a', 'b')}, 6)
        >>> index.merge(("a", "b"), "ab")
        >>> index.words, dict(index.counts)
        ([['a', 'ab'], ['ab']], {('a', 'ab'): 1})
    """

    def __init__(self, words: list[list[Symbol]], weights: Sequence[int]) -> None:
        self.words = words
        self.weights = weights
        self.counts: Counter[tuple[Symbol, Symbol]] = Counter()
        self.where: defaultdict[tuple[Symbol, Symbol], set[int]] = defaultdict(set)
        self._forbidden: set[tuple[Symbol, Symbol]] = set()
        self._pair_counts: list[Counter[tuple[Symbol, Symbol]]] = [Counter() for _ in words]
        for number in range(len(words)):
            self._recount(number)

    def most_frequent(self) -> tuple[set[tuple[Symbol, Symbol]], int]:
        """Return the most frequent pairs and their count (0 when no pair is left)."""
        best = max(self.counts.values(), default=0)
        return {pair for pair, count in self.counts.items() if count == best}, best

    def first_seen(self, pairs: set[tuple[Symbol, Symbol]]) -> tuple[Symbol, Symbol]:
        """Return the pair that occurs first in the words."""
        word = self.words[min(min(self.where[pair]) for pair in pairs)]
        return next(pair for pair in pairwise(word) if pair in pairs)

    def forbid(self, pair: tuple[Symbol, Symbol]) -> None:
        """Exclude a pair from now on."""
        self._forbidden.add(pair)
        del self.counts[pair], self.where[pair]

    def merge(self, pair: tuple[Symbol, Symbol], new: Symbol) -> None:
        """Replace the pair by ``new`` in every word that contains it."""
        for number in list(self.where[pair]):
            self.words[number] = merge(self.words[number], pair, new)
            self._recount(number)

    def _recount(self, number: int) -> None:
        """Update the counts for one changed word."""
        before, after = self._pair_counts[number], Counter(pairwise(self.words[number]))
        self._pair_counts[number] = after
        for pair in (before.keys() | after.keys()) - self._forbidden:
            now = after.get(pair, 0)
            if change := now - before.get(pair, 0):
                self.counts[pair] += change * self.weights[number]
                if now == 0:
                    self.where[pair].discard(number)
                else:
                    self.where[pair].add(number)
                if not self.where[pair]:
                    del self.counts[pair], self.where[pair]


def merge(symbols: Sequence[Symbol], pair: tuple[Symbol, Symbol], new: Symbol) -> list[Symbol]:
    """Return the symbols with ``new`` in place of each occurrence of the pair, from left to right.

    Example:
        >>> merge([1, 1, 1, 2], (1, 1), 9)
        [9, 1, 2]
    """
    left, right = pair
    merged: list[Symbol] = []
    position, last = 0, len(symbols) - 1
    while position <= last:
        if symbols[position] == left and position < last and symbols[position + 1] == right:
            merged.append(new)
            position += 2
        else:
            merged.append(symbols[position])
            position += 1
    return merged
