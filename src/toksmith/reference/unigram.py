r"""The Unigram model on one chunk: its most probable segmentation into pieces.

The chunk is a *lattice*: between its characters lie places, and each piece that matches somewhere
is an edge from the place where it starts to the place where it ends. A path through the lattice is
a segmentation, and its score, the logarithm of its probability, is the sum of its pieces' scores.
Kudo 2018, "Subword Regularization".

:func:`viterbi` finds the best path: the best path to a place is the best path to an earlier place
and one more edge. :mod:`~toksmith.reference.unigram_sampling` finds the n best paths, and random
ones.

    >>> from toksmith.models import Unigram
    >>> model = Unigram((b"<unk>", b"a", b"b", b"ab"), [0, -1, -2, -2.5], [2, 1, 1, 1])
    >>> lattice = Lattice(model)
    >>> lattice.edges(b"ab", 0)
    [Edge(id=1, start=0, end=1, score=-1.0), Edge(id=3, start=0, end=2, score=-2.5)]
    >>> viterbi(lattice, b"ab")
    [Edge(id=3, start=0, end=2, score=-2.5)]

Two libraries run such models, and they differ in details that decide between paths of almost equal
score. With ``single``, the rules are SentencePiece's: sums are rounded to float32 after each step,
and pieces have types. Otherwise they are those of ``tokenizers``: float64, and every piece of the
vocabulary is text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

from toksmith._base.lazy import np
from toksmith.errors import UnknownTokenError
from toksmith.models import PieceType, Unigram
from toksmith.reference import Token

UNKNOWN_PENALTY = 10.0
"""An unknown character scores this much less than the worst piece."""

RESET_SUM = 100_000.0
"""If the score of the best path to a place is further from 0 than this, SentencePiece restarts the
sum at 0 there: float32 has too few digits to compare larger scores."""

Score: TypeAlias = "float | np.float32"


class Edge(NamedTuple):
    """A piece at a place of the chunk.

    Attributes:
        id: the piece, or the model's ``unk_id`` for an unknown character.
        start: where it starts, in bytes.
        end: where it ends.
        score: the logarithm of its probability.
    """

    id: int | None
    start: int
    end: int
    score: float


class BestPath(NamedTuple):
    """The best path to a place: how good it is, and its last edge."""

    score: Score
    edge: Edge | None


class Lattice:
    """The pieces of a model, indexed to find them in a chunk."""

    def __init__(self, model: Unigram) -> None:
        self.model = model
        self._number = np.float32 if model.single else float
        if model.single:
            text = [PieceType.NORMAL, PieceType.USER_DEFINED]
            normal = model.scores[model.types == int(PieceType.NORMAL)]
        else:
            text = list(PieceType)
            normal = model.scores
        self._pieces = model.ids_of_types(*text)
        self._prefixes = {
            piece[:size] for piece in self._pieces for size in range(1, len(piece) + 1)
        }
        worst = float(normal.min(initial=np.inf))
        if model.single:
            worst = min(worst, float(np.finfo(np.float32).max))
        self.unknown_score = self.number(self.number(worst) - self.number(UNKNOWN_PENALTY))

    def number(self, value: float) -> Score:
        """Return a number in the precision of the model's sums."""
        return self._number(value)

    def edges(self, chunk: bytes, start: int, in_characters: bool = False) -> list[Edge]:
        """Return all edges that start at a place, the short ones first.

        Args:
            chunk: UTF-8.
            start: the start of a character, in bytes.
            in_characters: whether the score of a user-defined piece counts characters, as in
                SentencePiece's n-best and sampling, or bytes, as in its best path.
        """
        character_end = start + len(character_at(chunk, start))
        found: list[Edge] = []
        for end in range(start + 1, len(chunk) + 1):
            piece = chunk[start:end]
            if piece not in self._prefixes:
                break
            if piece in self._pieces:
                token_id = self._pieces[piece]
                found.append(Edge(token_id, start, end, self._score(token_id, in_characters)))
        # A character is unknown only if it is no piece itself.
        if not any(edge.end == character_end for edge in found):
            score = float(self.unknown_score)
            found.append(Edge(self.model.unk_id, start, character_end, score))
        return found

    def _score(self, token_id: int, in_characters: bool) -> float:
        if self.model.single and int(self.model.types[token_id]) == PieceType.USER_DEFINED:
            piece = self.model.vocab[token_id]
            size = len(piece.decode(errors="replace")) if in_characters else len(piece)
            return float(np.float32(0.1 * (size - 1)))  # more than any probability
        return float(self.number(self.model.scores[token_id]))


def character_at(chunk: bytes, start: int) -> bytes:
    """Return the UTF-8 of the character that starts at a place."""
    lead = chunk[start]
    size = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
    return chunk[start : start + size]


def viterbi(lattice: Lattice, chunk: bytes) -> list[Edge]:
    """Return the edges of the best path through a chunk.

    Raises:
        UnknownTokenError: the chunk has an unknown character, and the model no unknown piece.
    """
    best = best_paths(lattice, chunk)
    path: list[Edge] = []
    place = len(chunk)
    while (edge := best[place].edge) is not None:
        path.append(edge)
        place = edge.start
    return path[::-1]


def best_paths(lattice: Lattice, chunk: bytes) -> dict[int, BestPath]:
    """Return the best path to each reachable place, from left to right.

    Of equally good paths, the first one found stays: its last piece is the longest.
    """
    best = {0: BestPath(lattice.number(0), None)}
    for start in starts(chunk):
        if lattice.model.single and abs(best[start].score) > RESET_SUM:
            origin = best[start].score
            for place, step in best.items():
                if place >= start:
                    best[place] = BestPath(step.score - origin, step.edge)
        for edge in lattice.edges(chunk, start):
            score = best[start].score + lattice.number(edge.score)
            if edge.end not in best or score > best[edge.end].score:
                if edge.id is None:
                    raise no_unknown_piece(chunk, start)
                best[edge.end] = BestPath(score, edge)
    return best


def starts(chunk: bytes) -> list[int]:
    """Return the start of each character."""
    places = []
    place = 0
    while place < len(chunk):
        places.append(place)
        place += len(character_at(chunk, place))
    return places


def tokens(model: Unigram, chunk: bytes, path: Sequence[Edge]) -> list[Token]:
    """Return the tokens of a path: its pieces, with unknown characters fused or as bytes."""
    found: list[Token] = []
    for unknown, run in groupby(path, key=lambda edge: edge.id == model.unk_id):
        edges = [(edge.id, edge.start, edge.end) for edge in run]
        if unknown and model.fuse_unk:
            edges = [(model.unk_id, edges[0][1], edges[-1][2])]
        for token_id, start, end in edges:
            if unknown and not model.single:  # tokenizers looks fused characters up once more
                token_id = model.ids.get(chunk[start:end])
            if token_id is None or (unknown and model.single):
                found += unknown_tokens(model, chunk, start, end)
            else:
                found.append(Token(token_id, start, end))
    return found


def unknown_tokens(model: Unigram, chunk: bytes, start: int, end: int) -> list[Token]:
    """Return the tokens of unknown text: its bytes, or the unknown piece."""
    if model.byte_fallback:
        return [Token(model.byte_ids[chunk[at]], at, at + 1) for at in range(start, end)]
    if model.unk_id is None:
        raise no_unknown_piece(chunk, start)
    return [Token(model.unk_id, start, end)]


def no_unknown_piece(chunk: bytes, start: int) -> UnknownTokenError:
    """Return the error for an unknown character in a model without an unknown piece."""
    character = character_at(chunk, start).decode(errors="replace")
    return UnknownTokenError(
        f"no piece matches U+{ord(character[0]):04X} at byte {start} of its chunk, "
        "and the model has no unknown piece"
    )
