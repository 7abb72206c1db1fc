"""Learns the pieces of SentencePiece's BPE (two characters and more), and their scores."""

from __future__ import annotations

from dataclasses import dataclass

from toksmith._base.lazy import np, npt
from toksmith.engine.training import ENOUGH, merge_pieces
from toksmith.reference.piece_rules import PieceRules
from toksmith.trainers.bpe_merging import watch_merges
from toksmith.trainers.counting.symbol_words import CharacterWords, StoredWords


@dataclass(frozen=True, eq=False)
class LearnedPieces:
    """Learned pieces with their counts.

    Attributes:
        pieces: the pieces in the order in which they were learned.
        counts: uint64, shape ``(pieces,)``: the count of each piece's pair when it was merged.
        tokens_after: uint64, shape ``(pieces,)``: the number of tokens of the training text after
            each merge.
    """

    pieces: list[str]
    counts: npt.NDArray[np.uint64]
    tokens_after: npt.NDArray[np.uint64]


def learn_pieces(
    words: CharacterWords | StoredWords,
    pieces: int,
    rules: PieceRules,
    progress: bool | None = None,
    threads: int = 1,
    memory: int = ENOUGH,
) -> LearnedPieces:
    """Merge the most frequent pair that forms a valid piece, again and again.

    The algorithm is in :mod:`toksmith.reference.sentencepiece_bpe_training`.

    Args:
        words: the counted words, spelled in characters of the alphabet.
        pieces: the number of pieces to learn; the result has fewer if no pair is left.
        rules: the rules for valid pieces.
        progress: whether to show a progress bar; ``None`` if standard error is a terminal.
        threads: the number of threads; the result does not depend on it.
        memory: the memory for merging in bytes, besides that of a store; as for ``threads``.
    """
    characters = words.characters
    with watch_merges([character.encode() for character in characters], pieces, progress) as watch:
        learned = merge_pieces(
            words.words,
            pieces,
            characters,
            rules,
            threads=threads,
            watch=watch,
            memory=memory,
        )
    vocab = list(characters)
    for left, right, _ in learned.merges.tolist():
        vocab.append(vocab[left] + vocab[right])
    return LearnedPieces(vocab[len(characters) :], learned.counts, learned.tokens_after)
