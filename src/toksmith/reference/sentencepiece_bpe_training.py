"""Learn SentencePiece's BPE pieces: join the most frequent pair that makes a piece.

Words start as their characters. As in :mod:`~toksmith.reference.bpe_training`, the most frequent
pair of neighbours is joined everywhere, again and again; but only where what comes out may be a
piece (:mod:`~toksmith.reference.piece_rules`). Of equally frequent pairs the one of fewer
characters goes first, then the one whose text comes first by code points. A piece that was learned
earlier has the higher score: 0, −1, −2, …; the characters come last, the most frequent first.
Kudo & Richardson 2018, "SentencePiece: A simple and language independent subword tokenizer".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from toksmith.reference.pair_index import PairIndex
from toksmith.reference.piece_rules import PieceRules


@dataclass(frozen=True)
class PieceStep:
    """One piece, as it was learned.

    Attributes:
        left: its left half.
        right: its right half.
        count: the number of times the pair occurred.
        words: every distinct word as pieces, after this step. The list is
            alive: the next step changes it.
    """

    left: str
    right: str
    count: int
    words: Sequence[Sequence[str]]

    @property
    def piece(self) -> str:
        """The piece."""
        return self.left + self.right


def training_steps(
    counts: Mapping[str, int], pieces: int, rules: PieceRules | None = None
) -> Iterator[PieceStep]:
    """Learn pieces of two characters and more.

    Args:
        counts: the number of occurrences of each word.
        pieces: the number of pieces to learn; the result has fewer if no pair is left.
        rules: what may be a piece.

    Example:
        >>> [step.piece for step in training_steps({"▁low": 5, "▁lower": 2, "▁new": 6}, 4)]
        ['lo', 'low', '▁low', 'ew']
    """
    rules = rules or PieceRules()
    index = PairIndex([list(word) for word in counts], list(counts.values()))
    learned = 0
    while learned < pieces:
        tied, count = index.most_frequent()
        if count == 0:
            return
        left, right = min(tied, key=lambda pair: (len(pair[0] + pair[1]), pair[0] + pair[1]))
        if not rules.allow(left + right):
            index.forbid((left, right))
            continue
        index.merge((left, right), left + right)
        learned += 1
        yield PieceStep(left, right, count, index.words)
