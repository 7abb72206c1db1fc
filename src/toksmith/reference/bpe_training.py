"""Learn a byte-pair vocabulary: join the most frequent pair, again and again.

Start with the 256 bytes. Count all neighbouring pairs of tokens in the text; give the most
frequent pair an id of its own; write it in place of the pair everywhere; repeat. Gage 1994, "A New
Algorithm for Data Compression"; for tokens Sennrich et al. 2016, "Neural Machine Translation of
Rare Words with Subword Units".

The text comes as counted chunks: a chunk that stands in the text a thousand times is looked at
once and counted a thousand times. Overlapping pairs all count ("aaa" holds (a, a) twice), and are
merged from left to right ("aaa" becomes (aa, a)).

Which of two equally frequent pairs goes first is a matter of taste, and changes the result:

- ``"first-seen"``: the one that stands first in the text as it is now (minbpe).
- ``"smallest-pair"``: the one of the smaller left token, then of the smaller right token, by age:
  bytes in GPT-2's order, then merged tokens as they were made (Hugging Face).

No two merges ever make the same bytes: what happens inside the bytes of a token until they are
two parts does not depend on what stands around them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from toksmith.reference.bpe import Pair

GPT2_BYTE_ORDER = (
    *range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100),
    *range(0x21), *range(0x7F, 0xA1), 0xAD,
)  # fmt: skip
"""The bytes in the order of the characters that GPT-2's files show them as."""


@dataclass(frozen=True)
class TrainingStep:
    """One merge, as it was learned.

    Attributes:
        pair: the two ids that were joined.
        count: how often the pair stood in the text.
        new: the id they became.
        token: the bytes of that id.
        chunks: every distinct chunk as ids, as the text stands after this merge. The list is
            alive: the next step changes it.
    """

    pair: Pair
    count: int
    new: int
    token: bytes
    chunks: Sequence[Sequence[int]]


def training_steps(
    counts: Mapping[bytes, int],
    vocab_size: int,
    *,
    ties: Literal["first-seen", "smallest-pair"] = "first-seen",
    min_frequency: int = 1,
    max_token_length: int | None = None,
) -> Iterator[TrainingStep]:
    """Learn merges until the vocabulary is full or no pair is left.

    Args:
        counts: how often each chunk stands in the text, in order of first appearance.
        vocab_size: how many tokens to stop at, the 256 bytes included.
        ties: which of equally frequent pairs goes first.
        min_frequency: stop when the most frequent pair is rarer than this.
        max_token_length: in bytes; a pair that would be longer is never merged.

    Example:
        >>> for step in training_steps({b"aaabdaaabac": 1}, 259):
        ...     print(step.pair, step.count, step.new, step.token)
        (97, 97) 4 256 b'aa'
        (256, 97) 2 257 b'aaa'
        (257, 98) 2 258 b'aaab'
    """
    vocab = [bytes([byte]) for byte in range(256)]
    words = [list(chunk) for chunk in counts]
    index = _PairIndex(words, list(counts.values()))
    while len(vocab) < vocab_size:
        pair, count = index.most_frequent(ties)
        if count < max(min_frequency, 1):
            return
        token = vocab[pair[0]] + vocab[pair[1]]
        if max_token_length is not None and len(token) > max_token_length:
            index.forbid(pair)
            continue
        index.merge(pair, len(vocab))
        yield TrainingStep(pair, count, len(vocab), token, words)
        vocab.append(token)


class _PairIndex:
    """How often each pair stands in the words, and in which."""

    def __init__(self, words: list[list[int]], weights: Sequence[int]) -> None:
        self.words = words
        self.weights = weights
        self.counts: Counter[Pair] = Counter()
        self.where: defaultdict[Pair, set[int]] = defaultdict(set)
        self.forbidden: set[Pair] = set()
        self.held: list[Counter[Pair]] = [Counter() for _ in words]  # the pairs of each word
        for number in range(len(words)):
            self._recount(number)

    def _recount(self, number: int) -> None:
        """Note which pairs one word holds now."""
        before, after = self.held[number], Counter(pairwise(self.words[number]))
        self.held[number] = after
        for pair in (before.keys() | after.keys()) - self.forbidden:
            now = after.get(pair, 0)
            if change := now - before.get(pair, 0):
                self.counts[pair] += change * self.weights[number]
                if now == 0:
                    self.where[pair].discard(number)
                else:
                    self.where[pair].add(number)
                if not self.where[pair]:
                    del self.counts[pair], self.where[pair]

    def most_frequent(self, ties: str) -> tuple[Pair, int]:
        """Return the pair to merge next and its count (0 when no pair is left)."""
        best = max(self.counts.values(), default=0)
        tied = {pair for pair, count in self.counts.items() if count == best}
        if not tied:
            return (0, 0), 0
        if ties == "smallest-pair":
            return min(tied, key=lambda pair: (_age(pair[0]), _age(pair[1]))), best
        first_word = self.words[min(min(self.where[pair]) for pair in tied)]
        return next(pair for pair in pairwise(first_word) if pair in tied), best

    def forbid(self, pair: Pair) -> None:
        """Leave a pair out from now on."""
        self.forbidden.add(pair)
        del self.counts[pair], self.where[pair]

    def merge(self, pair: Pair, new: int) -> None:
        """Write ``new`` in place of the pair in every word that holds it."""
        for number in list(self.where[pair]):
            self.words[number] = merge(self.words[number], pair, new)
            self._recount(number)


def merge(ids: Sequence[int], pair: Pair, new: int) -> list[int]:
    """Return the ids with ``new`` in place of each occurrence of the pair, from left to right.

    Example:
        >>> merge([1, 1, 1, 2], (1, 1), 9)
        [9, 1, 2]
    """
    left, right = pair
    merged: list[int] = []
    position, last = 0, len(ids) - 1
    while position <= last:
        if ids[position] == left and position < last and ids[position + 1] == right:
            merged.append(new)
            position += 2
        else:
            merged.append(ids[position])
            position += 1
    return merged


_PLACE = {byte: place for place, byte in enumerate(GPT2_BYTE_ORDER)}


def _age(token_id: int) -> int:
    return _PLACE.get(token_id, token_id)
