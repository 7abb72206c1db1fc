r"""The Unigram model on one chunk: the most probable way to put it together from pieces.

The chunk is a *lattice*: between its characters lie places, and each piece that matches somewhere
is an edge from the place where it starts to the place where it ends. A way through the lattice is
a segmentation, and its score, the logarithm of its probability, is the sum of its pieces' scores.
Kudo 2018, "Subword Regularization".

- :func:`viterbi` finds the best way: the best way to a place is the best way to an earlier place
  and one more edge.
- :func:`nbest` keeps the best few ways to each place instead of one.
- :func:`sample` draws a way at random, the probable ones more often.

    >>> from toksmith.models import Unigram
    >>> model = Unigram((b"<unk>", b"a", b"b", b"ab"), [0, -1, -2, -2.5], [2, 1, 1, 1])
    >>> lattice = Lattice(model)
    >>> lattice.edges(b"ab", 0)
    [Edge(id=1, start=0, end=1, score=-1.0), Edge(id=3, start=0, end=2, score=-2.5)]
    >>> viterbi(lattice, b"ab")
    [Edge(id=3, start=0, end=2, score=-2.5)]

Two libraries run such models, and they differ in details that decide between ways that are all
but equally good. With ``single``, the rules are SentencePiece's: sums are rounded to float32 after
each step, and pieces have types. Otherwise they are those of ``tokenizers``: float64, and whatever
stands in the vocabulary is text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import accumulate, groupby
from random import Random
from typing import NamedTuple, TypeAlias

from toksmith._base.lazy import np
from toksmith.errors import UnknownTokenError
from toksmith.models import PieceType, Unigram
from toksmith.reference.tokens import Token

UNKNOWN_PENALTY = 10.0
"""An unknown character scores this much less than the worst piece."""

FAR = 100_000.0
"""When the sum of the best way to a place is further from 0 than this, SentencePiece starts anew
from 0 there: so far out, float32 has no digits left to tell ways apart."""

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


class BestWay(NamedTuple):
    """The best way to a place: how good it is, and its last edge."""

    score: Score
    edge: Edge | None


class Lattice:
    """All pieces of a model, ready to be found in a chunk."""

    def __init__(self, model: Unigram) -> None:
        self.model = model
        self._number = np.float32 if model.single else float
        if model.single:
            text = [PieceType.NORMAL, PieceType.USER_DEFINED]
            normal = model.scores[model.types == PieceType.NORMAL]
        else:
            text = list(PieceType)
            normal = model.scores
        self._pieces = model.ids_of_types(*text)
        self._beginnings = {
            piece[:size] for piece in self._pieces for size in range(1, len(piece) + 1)
        }
        worst = float(normal.min(initial=np.inf))
        if model.single:
            worst = min(worst, float(np.finfo(np.float32).max))
        self.unknown_score = self.number(self.number(worst) - self.number(UNKNOWN_PENALTY))

    def number(self, value: float) -> Score:
        """Return a number as precise as the model's sums are."""
        return self._number(value)

    def edges(self, chunk: bytes, start: int, in_characters: bool = False) -> list[Edge]:
        """Return all edges that start at a place, the short ones first.

        Args:
            chunk: UTF-8.
            start: where a character starts, in bytes.
            in_characters: a user-defined piece scores by its length, which SentencePiece takes in
                bytes for the best way, and in characters for n-best and samples.
        """
        character_end = start + len(character_at(chunk, start))
        found: list[Edge] = []
        for end in range(start + 1, len(chunk) + 1):
            piece = chunk[start:end]
            if piece not in self._beginnings:
                break
            if piece in self._pieces:
                token_id = self._pieces[piece]
                found.append(Edge(token_id, start, end, self._score(token_id, in_characters)))
        # Only where no piece is this very character may it be unknown.
        if not any(edge.end == character_end for edge in found):
            score = float(self.unknown_score)
            found.append(Edge(self.model.unk_id, start, character_end, score))
        return found

    def _score(self, token_id: int, in_characters: bool) -> float:
        if self.model.single and self.model.types[token_id] == PieceType.USER_DEFINED:
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
    """Return the edges of the best way through a chunk.

    Raises:
        UnknownTokenError: it holds an unknown character, and the model has no unknown piece.
    """
    best = best_ways(lattice, chunk)
    path: list[Edge] = []
    place = len(chunk)
    while (edge := best[place].edge) is not None:
        path.append(edge)
        place = edge.start
    return path[::-1]


def best_ways(lattice: Lattice, chunk: bytes) -> dict[int, BestWay]:
    """Return the best way to each place that can be reached, from left to right.

    Of ways that are equally good, the one found first stays, whose last piece is the longest.
    """
    best = {0: BestWay(lattice.number(0), None)}
    for start in starts(chunk):
        if lattice.model.single and abs(best[start].score) > FAR:
            origin = best[start].score
            for place, step in best.items():
                if place >= start:
                    best[place] = BestWay(step.score - origin, step.edge)
        for edge in lattice.edges(chunk, start):
            score = best[start].score + lattice.number(edge.score)
            if edge.end not in best or score > best[edge.end].score:
                if edge.id is None:
                    raise no_unknown_piece(chunk, start)
                best[edge.end] = BestWay(score, edge)
    return best


def starts(chunk: bytes) -> list[int]:
    """Return where each character starts."""
    places = []
    place = 0
    while place < len(chunk):
        places.append(place)
        place += len(character_at(chunk, place))
    return places


def nbest(lattice: Lattice, chunk: bytes, size: int) -> list[tuple[list[Token], float]]:
    """Return the best ways through a chunk with their scores, the best first.

    Args:
        lattice: the model.
        chunk: UTF-8.
        size: how many; there may be fewer.

    Example:
        >>> from toksmith.models import Unigram
        >>> model = Unigram((b"<unk>", b"a", b"b", b"ab"), [0, -1, -2, -2.5], [2, 1, 1, 1])
        >>> nbest(Lattice(model), b"ab", 2)
        [([Token(id=3, start=0, end=2)], -2.5), \
([Token(id=1, start=0, end=1), Token(id=2, start=1, end=2)], -3.0)]
    """
    model = lattice.model
    return [(tokens(model, chunk, path), score) for path, score in ways(lattice, chunk, size)]


def ways(lattice: Lattice, chunk: bytes, size: int) -> list[tuple[list[Edge], float]]:
    """Return the edges of the best ways through a chunk; see :func:`nbest`."""
    return ways_through(incoming(lattice, chunk), size)


def ways_through(
    edges_to: Mapping[int, Sequence[Edge]], size: int, start: int = 0
) -> list[tuple[list[Edge], float]]:
    """Return the best ways from a place to the last, and the score of each, the best first.

    Args:
        edges_to: the edges that end at each later place, from left to right.
        size: how many; there may be fewer.
        start: the place.
    """
    # A way to a place: its score, its last edge, and which way to the start of that edge it takes.
    best: dict[int, list[tuple[float, Edge | None, int]]] = {start: [(0.0, None, 0)]}
    place = start
    for place, edges in edges_to.items():
        longer = [
            (score + edge.score, edge, rank)
            for edge in edges
            for rank, (score, _, _) in enumerate(best[edge.start])
        ]
        best[place] = nlargest(size, longer, key=lambda way: way[0])
    found = []
    for score, edge, rank in best[place]:
        path: list[Edge] = []
        while edge is not None:
            path.append(edge)
            _, edge, rank = best[edge.start][rank]
        found.append((path[::-1], score))
    return found


def sample(lattice: Lattice, chunk: bytes, alpha: float, rng: Random) -> list[Token]:
    """Draw a way through a chunk, with a probability proportional to ``exp(alpha * score)``.

    Forward filtering, backward sampling: the total weight of all ways to each place is summed up
    from left to right; then edges are drawn from the end back to the start, each by the share of
    the ways through it.

    Args:
        lattice: the model.
        chunk: UTF-8.
        alpha: 0 draws all ways alike; the larger, the more often the best.
        rng: where chance comes from.
    """
    edges_to = incoming(lattice, chunk)
    total = {0: 0.0}  # logarithms
    for place, edges in edges_to.items():
        total[place] = log_sum([total[edge.start] + alpha * edge.score for edge in edges])
    path: list[Edge] = []
    place = len(chunk)
    while place > 0:
        weights = [
            math.exp(total[edge.start] + alpha * edge.score - total[place])
            for edge in edges_to[place]
        ]
        path.append(draw(edges_to[place], weights, rng))
        place = path[-1].start
    return tokens(lattice.model, chunk, path[::-1])


def incoming(lattice: Lattice, chunk: bytes) -> dict[int, list[Edge]]:
    """Return the edges that end at each place where a character ends, from left to right."""
    edges_to: dict[int, list[Edge]] = {place: [] for place in [*starts(chunk)[1:], len(chunk)]}
    if not chunk:
        return {}
    for start in starts(chunk):
        for edge in lattice.edges(chunk, start, in_characters=True):
            if edge.id is None:
                raise no_unknown_piece(chunk, start)
            if edge.end in edges_to:  # a piece that is no UTF-8 may end inside a character
                edges_to[edge.end].append(edge)
    return edges_to


def log_sum(logarithms: Sequence[float]) -> float:
    """Return the logarithm of the sum of numbers that are given by their logarithms."""
    most = max(logarithms)
    return most + math.log(sum(math.exp(value - most) for value in logarithms))


def draw(choices: Sequence[Edge], weights: Sequence[float], rng: Random) -> Edge:
    """Draw one of some choices by their weights."""
    sums = list(accumulate(weights))
    point = rng.random() * sums[-1]
    return next(
        (c for c, reached in zip(choices, sums, strict=True) if point < reached), choices[-1]
    )


def tokens(model: Unigram, chunk: bytes, path: Sequence[Edge]) -> list[Token]:
    """Return the tokens of a way: its pieces, with unknown characters fused or as bytes."""
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
    """Return what stands for unknown text: its bytes, or the unknown piece."""
    if model.byte_fallback:
        return [Token(model.byte_ids[chunk[at]], at, at + 1) for at in range(start, end)]
    if model.unk_id is None:
        raise no_unknown_piece(chunk, start)
    return [Token(model.unk_id, start, end)]


def no_unknown_piece(chunk: bytes, start: int) -> UnknownTokenError:
    """Return the error for a character without a piece in a model that knows no unknown ones."""
    character = character_at(chunk, start).decode(errors="replace")
    return UnknownTokenError(
        f"no piece stands for U+{ord(character[0]):04X} at byte {start} of its chunk, "
        "and the model has no unknown piece"
    )
