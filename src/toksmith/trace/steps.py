"""The steps from a chunk to its tokens, as data: one class per kind of step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from toksmith._base.visible import short_repr
from toksmith.reference.unigram import Edge

TraceSymbol: TypeAlias = int | bytes
"""A symbol of a chunk during merging: an id, or text that need not be a token."""


@short_repr
@dataclass(frozen=True)
class MergeStep:
    """Two neighbours become one.

    Attributes:
        before: the symbols of the chunk before it.
        pair: the two symbols that were merged.
        rank: the place of this merge in the model's list, lowest first; for SentencePiece's BPE,
            the score of the new symbol, highest first.
        new: the new symbol.
        position: the index of the pair in ``before``, and of the new symbol in ``after``.
        after: the symbols of the chunk after it.
    """

    before: tuple[TraceSymbol, ...]
    pair: tuple[TraceSymbol, TraceSymbol]
    rank: float
    new: TraceSymbol
    position: int
    after: tuple[TraceSymbol, ...]


@short_repr
@dataclass(frozen=True)
class SplitStep:
    """A piece of type UNUSED, which is no output, is split into its parts again.

    Attributes:
        piece: the piece.
        parts: the pieces that it was merged from.
    """

    piece: bytes
    parts: tuple[bytes, ...]


@short_repr
@dataclass(frozen=True)
class MatchStep:
    """The longest token at a place, or no token.

    Attributes:
        rest: the rest of the chunk, from this place.
        token: the token that was found, as the vocabulary spells it; ``None`` for none.
        size: the number of bytes of ``rest`` that it covers; without a token, those unknown.
        tried: the strings that were looked up before and are no tokens, the longest first.
    """

    rest: bytes
    token: bytes | None
    size: int
    tried: tuple[bytes, ...] = ()


@short_repr
@dataclass(frozen=True)
class UnknownWordStep:
    """A whole word becomes the unknown token (WordPiece).

    Attributes:
        word: the word.
        rest: the rest of the word where no token matches; ``None`` if the word is too long.
        tried: the strings that were looked up there and are no tokens, the longest first.
    """

    word: bytes
    rest: bytes | None
    tried: tuple[bytes, ...] = ()


@short_repr
@dataclass(frozen=True)
class PathStep:
    """One segmentation of a chunk into pieces.

    Attributes:
        pieces: the text of each piece.
        scores: the score of each; unknown characters have one, too.
        best: whether this is the best segmentation, or the second best.
        position: the index of the first piece that differs from the best segmentation.
    """

    pieces: tuple[bytes, ...]
    scores: tuple[float, ...]
    best: bool
    position: int = 0

    @property
    def score(self) -> float:
        """The sum of the scores, by which segmentations are compared."""
        return sum(self.scores)


TraceStep: TypeAlias = MergeStep | SplitStep | MatchStep | UnknownWordStep | PathStep


@short_repr
@dataclass(frozen=True)
class Steps:
    """All steps of a model from a chunk to its tokens.

    Attributes:
        start: the initial symbols of merging; empty for other models.
        steps: the steps, in order.
        whole: whether the chunk was looked up as a whole; the steps are then the merges that give
            the same token, if there are any.
        edges: all pieces that match somewhere in the chunk (Unigram).
    """

    start: tuple[TraceSymbol, ...] = ()
    steps: tuple[TraceStep, ...] = ()
    whole: bool = False
    edges: tuple[Edge, ...] = ()
