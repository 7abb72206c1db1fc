"""What a model does to a chunk, step by step: the kinds of steps, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from toksmith._base.short_repr import short_repr
from toksmith.reference.unigram import Edge

TraceSymbol: TypeAlias = int | bytes
"""A part of a chunk on its way to tokens: an id, or text that need not be a token yet."""


@short_repr
@dataclass(frozen=True)
class MergeStep:
    """Two neighbours become one.

    Attributes:
        before: the symbols of the chunk before it.
        pair: the two that were joined.
        rank: the place of this merge in the model's list, of which the lowest goes first; for
            SentencePiece's BPE the score of what they became, of which the highest does.
        new: what they became.
        position: where the pair stood in ``before``, and the new symbol stands in ``after``.
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
    """A piece that may not come out (of type UNUSED) is taken apart again.

    Attributes:
        piece: what is taken apart.
        parts: what it was merged from.
    """

    piece: bytes
    parts: tuple[bytes, ...]


@short_repr
@dataclass(frozen=True)
class MatchStep:
    """The longest token at a place, or that there is none.

    Attributes:
        rest: what of the chunk is left to do.
        token: the token that was found, as the vocabulary spells it; ``None`` for none.
        size: how many bytes of ``rest`` it stands for; without a token, those that are unknown.
        tried: what was looked up before, and is no token: the longest first.
    """

    rest: bytes
    token: bytes | None
    size: int
    tried: tuple[bytes, ...] = ()


@short_repr
@dataclass(frozen=True)
class UnknownWordStep:
    """A word is given up as a whole, whatever was found in it before (WordPiece).

    Attributes:
        word: the word.
        rest: what no token fits; ``None`` where the word has too many characters to be looked at.
        tried: what was looked up there, and is no token: the longest first.
    """

    word: bytes
    rest: bytes | None
    tried: tuple[bytes, ...] = ()


@short_repr
@dataclass(frozen=True)
class PathStep:
    """One way to put a chunk together from pieces.

    Attributes:
        pieces: the text of each piece.
        scores: the score of each; unknown characters have one, too.
        best: whether this is the way that was taken, or the best of all others.
        position: the first piece that is another than on the best way.
    """

    pieces: tuple[bytes, ...]
    scores: tuple[float, ...]
    best: bool
    position: int = 0

    @property
    def score(self) -> float:
        """The score of the whole, by which ways are compared."""
        return sum(self.scores)


TraceStep: TypeAlias = MergeStep | SplitStep | MatchStep | UnknownWordStep | PathStep


@short_repr
@dataclass(frozen=True)
class Steps:
    """How a model came from a chunk to its tokens.

    Attributes:
        start: the symbols that merging begins with; none for other models.
        steps: what was done, in order.
        whole: the chunk was looked up as it stands; the steps are the merges that would have come
            to the same, if there are such.
        edges: all pieces that fit somewhere in the chunk (Unigram).
    """

    start: tuple[TraceSymbol, ...] = ()
    steps: tuple[TraceStep, ...] = ()
    whole: bool = False
    edges: tuple[Edge, ...] = ()
