"""Unigram: the most probable way to put a text together from pieces."""

from __future__ import annotations

from dataclasses import dataclass

from toksmith.models.pieces import Pieces
from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True, eq=False)
class Unigram(Pieces):
    """The Unigram language model (Kudo 2018, "Subword Regularization").

    Of all ways to cut the text into pieces, the one with the highest sum of scores is taken
    (Viterbi). A place where no piece of one character matches may be crossed by an unknown
    character, at the lowest score minus 10.

    Attributes:
        single: scores are added in float32, as SentencePiece does; otherwise in float64, as
            ``tokenizers`` does. It decides between paths that are all but equal.
        fuse_unk: unknown characters that stand side by side are one unknown token.
    """

    single: bool = True
    fuse_unk: bool = True

    def __eq__(self, other: object) -> bool:
        same = super().__eq__(other)
        if same is not True or not isinstance(other, Unigram):
            return same
        return (self.single, self.fuse_unk) == (other.single, other.fuse_unk)

    __hash__ = None  # it holds arrays
