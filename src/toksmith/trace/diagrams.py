"""The merges, lattices and matches of a chunk, as plain data that views draw.

There are three kinds of diagram: merges form a tree, Unigram's pieces a lattice, and the longest
match a list. All are made from a trace (diagram_making.py) and hold only numbers and bytes;
``to_dict`` returns them for JSON, with bytes spelled as every view shows them.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from toksmith._base.arrays import Span
from toksmith._base.visible import short_repr, visible
from toksmith.reference.unigram import Edge
from toksmith.reference.unigram_sampling import paths_through

if TYPE_CHECKING:
    from collections.abc import Iterator


_SPACES = (b" ", "▁".encode())


@short_repr
@dataclass(frozen=True)
class Node:
    """A symbol of a merge tree.

    Attributes:
        token: its bytes, as the vocabulary spells it.
        id: its id; ``None`` for text that is no token.
        parts: the indices, in the tree's ``nodes``, of the two nodes that it was merged from;
            ``None`` for an initial symbol.
        rank: the place of the merge in the model's list, or its score.
    """

    token: bytes
    id: int | None
    parts: tuple[int, int] | None = None
    rank: float | None = None


@short_repr
@dataclass(frozen=True)
class MergeTree:
    """The merges of the bytes or characters of a chunk.

    Attributes:
        text: the chunk.
        ids: its ids.
        tokens: the tokens of the ids, as the vocabulary spells them.
        nodes: first the leaves, from left to right; then one node a merge, in the order of merging.
        leaves: the number of leaves.
        roots: the indices in ``nodes`` of the final symbols, from left to right.
        whole: whether the chunk was looked up as a whole, not merged.
        by_score: merges go by score, the highest first (SentencePiece), and not by rank.
        spans: the byte span of each id in the chunk.

    Example:
        >>> from toksmith import train
        >>> tree = train(texts=["abab"], vocab_size=257).explain("abc").diagrams[0]
        >>> [node.token for node in tree.nodes], tree.leaves, tree.roots
        ([b'a', b'b', b'c', b'ab'], 3, (3, 2))
        >>> tree.nodes[3]
        Node(token=b'ab', id=256, parts=(0, 1), rank=0)
        >>> tree.at(0), tree.at(1)
        ([0, 1, 2], [3, 2])
    """

    text: bytes
    ids: tuple[int, ...]
    tokens: tuple[bytes, ...]
    nodes: tuple[Node, ...]
    leaves: int
    roots: tuple[int, ...]
    whole: bool = False
    by_score: bool = False
    spans: tuple[Span, ...] = ()

    @property
    def parts(self) -> list[MergeTree]:
        """The tree cut before each token that starts with a space, or its mark.

        Nothing merges across the ends of tokens, so each part is a tree of its own; a chunk that
        is a whole text becomes one tree per word.
        """
        ends = list(accumulate(len(node.token) for node in self.nodes[: self.leaves]))
        if not ends or ends[-1] != len(self.text):
            return [self]  # the symbols are not spelled as the text is
        tops, starts = self.tops, {span.start for span in self.spans}
        places = [([0, *ends])[self._first_leaves[top]] for top in tops]
        cuts = [
            i
            for i, top in enumerate(tops)
            if i
            and places[i] in starts
            and self.nodes[top].token.startswith(_SPACES)
            and not self.nodes[tops[i - 1]].token.endswith(_SPACES)
        ]
        bounds = list(pairwise([0, *cuts, len(tops)]))
        return [self._part(tops[a:b]) for a, b in bounds] if cuts else [self]

    def _part(self, tops: list[int]) -> MergeTree:
        inside = sorted(self._below(tops))
        number = {place: i for i, place in enumerate(inside)}
        nodes = tuple(
            replace(node, parts=(number[node.parts[0]], number[node.parts[1]]))
            if node.parts
            else node
            for node in map(self.nodes.__getitem__, inside)
        )
        leaves = sum(place < self.leaves for place in inside)
        text = b"".join(node.token for node in nodes[:leaves])
        start = sum(len(node.token) for node in self.nodes[: inside[0]])
        end = start + len(text)
        tokens = slice(bisect_left(self.spans, (start,)), bisect_left(self.spans, (end,)))
        return replace(
            self,
            text=text,
            ids=self.ids[tokens],
            tokens=self.tokens[tokens],
            spans=tuple(Span(a - start, b - start) for a, b in self.spans[tokens]),
            nodes=nodes,
            leaves=leaves,
            roots=tuple(number[root] for root in self.roots if root in number),
        )

    def _below(self, tops: list[int]) -> Iterator[int]:
        waiting = list(tops)
        while waiting:
            place = waiting.pop()
            yield place
            waiting += self.nodes[place].parts or ()

    @property
    def merges(self) -> int:
        """The number of merges."""
        return len(self.nodes) - self.leaves

    def step(self, place: int) -> int:
        """Return the number of the merge that made a node, from 1; 0 for leaves."""
        return max(place - self.leaves + 1, 0)

    def at(self, step: int) -> list[int]:
        """Return the nodes of the row after a number of merges, from left to right."""
        last = self.leaves + step
        shown: list[int] = []
        waiting = list(reversed(self.tops))
        while waiting:
            place = waiting.pop()
            parts = self.nodes[place].parts
            if place < last or parts is None:
                shown.append(place)
            else:
                waiting += [parts[1], parts[0]]
        return shown

    @cached_property
    def tops(self) -> list[int]:
        """The nodes that are part of no other, from left to right.

        These are the roots, but for pieces that are taken apart again, whose parts are.
        """
        inside = {part for node in self.nodes for part in node.parts or ()}
        first = self._first_leaves
        return sorted((i for i in range(len(self.nodes)) if i not in inside), key=first.__getitem__)

    @cached_property
    def _first_leaves(self) -> list[int]:
        first = list(range(self.leaves))
        for node in self.nodes[self.leaves :]:
            first.append(first[node.parts[0]] if node.parts else 0)
        return first

    @cached_property
    def depths(self) -> list[int]:
        """The height of the tree below each node, in merges."""
        depths = [0] * self.leaves
        for node in self.nodes[self.leaves :]:
            depths.append(1 + max(depths[part] for part in node.parts or ()))
        return depths

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as JSON takes it."""
        nodes = [
            {"token": visible(node.token), "id": node.id, "parts": node.parts, "rank": node.rank}
            for node in self.nodes
        ]
        return {
            "kind": "merges", **_head(self), "nodes": nodes, "leaves": self.leaves,
            "roots": list(self.roots), "whole": self.whole, "by_score": self.by_score,
        }  # fmt: skip


@short_repr
@dataclass(frozen=True)
class Lattice:
    """All pieces that fit somewhere in a chunk, and the ways through them (Unigram).

    Attributes:
        text: the chunk.
        ids: its ids.
        tokens: the tokens of the ids, as the vocabulary spells them.
        edges: every piece at every place where it fits, from left to right, short ones first.
        best: the places in ``edges`` of the way that was taken.
        score: its score, the sum of its edges'.
        other: those of the best of all other ways; empty where there is no other.
        other_score: its score.
        places: where each character starts, in bytes, and where the last one ends.
        spans: the byte span of each id in the chunk.
    """

    text: bytes
    ids: tuple[int, ...]
    tokens: tuple[bytes, ...]
    edges: tuple[Edge, ...]
    best: tuple[int, ...]
    score: float
    other: tuple[int, ...]
    other_score: float
    places: tuple[int, ...]
    spans: tuple[Span, ...]

    @property
    def parts(self) -> list[Lattice]:
        """The lattice cut at all places that no piece reaches across: mostly, between words.

        Each part has its own second-best way. Unknown characters that are one token stay together.
        """
        reach = list(accumulate((edge.end for edge in self.edges), max, initial=0))
        inside = {place for start, end in self.spans for place in range(start + 1, end)}
        cuts = [
            i
            for i, edge in enumerate(self.edges)
            if reach[i] <= edge.start and edge.start not in inside
        ]
        return [self._part(first, last) for first, last in pairwise([*cuts, len(self.edges)])]

    def _part(self, first: int, last: int) -> Lattice:
        edges = self.edges[first:last]
        start, end = edges[0].start, max(edge.end for edge in edges)
        best = tuple(i - first for i in _within(self.best, first, last))
        places = _within(self.places, start, end + 1)
        edges_to: dict[int, list[Edge]] = {place: [] for place in places[1:]}
        for edge in edges:
            if edge.end in edges_to:
                edges_to[edge.end].append(edge)
        number = {edge: i for i, edge in enumerate(edges)}
        ways = [tuple(map(number.__getitem__, way)) for way, _ in paths_through(edges_to, 2, start)]
        other = next((way for way in ways if way != best), ())
        tokens = slice(bisect_left(self.spans, (start,)), bisect_left(self.spans, (end,)))
        return replace(
            self,
            text=self.text[start:end],
            ids=self.ids[tokens],
            tokens=self.tokens[tokens],
            spans=tuple(Span(a - start, b - start) for a, b in self.spans[tokens]),
            edges=tuple(e._replace(start=e.start - start, end=e.end - start) for e in edges),
            best=best,
            score=sum(edges[i].score for i in best),
            other=other,
            other_score=sum(edges[i].score for i in other),
            places=tuple(place - start for place in places),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the lattice as JSON takes it."""
        edges = [
            {**edge._asdict(), "text": visible(self.text[edge.start : edge.end])}
            for edge in self.edges
        ]
        return {
            "kind": "lattice", **_head(self), "edges": edges, "best": list(self.best),
            "score": self.score, "other": list(self.other), "other_score": self.other_score,
            "places": list(self.places),
        }  # fmt: skip


@short_repr
@dataclass(frozen=True)
class Match:
    """The result of a lookup at a place of a chunk.

    Attributes:
        start: the place, in bytes.
        end: the end of the token, or of the unknown text.
        token: the token as the vocabulary spells it; ``None`` if no token was found.
        id: its id.
        tried: the strings that were looked up before and are no tokens, the longest first.
    """

    start: int
    end: int
    token: bytes | None
    id: int | None
    tried: tuple[bytes, ...]


@short_repr
@dataclass(frozen=True)
class Matches:
    """The longest match at one place after the other (WordPiece, characters, words).

    Attributes:
        text: the chunk.
        ids: its ids.
        tokens: the tokens of the ids, as the vocabulary spells them.
        matches: from left to right.
        given_up: the reason why the whole chunk is unknown: ``"too long"`` or ``"no match"``;
            ``None`` if it is not.
    """

    text: bytes
    ids: tuple[int, ...]
    tokens: tuple[bytes, ...]
    matches: tuple[Match, ...]
    given_up: str | None = None

    @property
    def parts(self) -> list[Matches]:
        """The matches themselves: a chunk is a word already."""
        return [self]

    def to_dict(self) -> dict[str, Any]:
        """Return the matches as JSON takes them."""
        matches = [
            {
                "start": match.start,
                "end": match.end,
                "token": None if match.token is None else visible(match.token),
                "id": match.id,
                "tried": list(map(visible, match.tried)),
            }
            for match in self.matches
        ]
        return {
            "kind": "matches", **_head(self), "matches": matches, "given_up": self.given_up,
        }  # fmt: skip


def _within(ascending: tuple[int, ...], first: int, last: int) -> tuple[int, ...]:
    """Return the numbers from ``first`` up to, but without, ``last``."""
    return ascending[bisect_left(ascending, first) : bisect_left(ascending, last)]


Diagram: TypeAlias = MergeTree | Lattice | Matches


def _head(diagram: Diagram) -> dict[str, Any]:
    return {
        "text": visible(diagram.text),
        "ids": list(diagram.ids),
        "tokens": list(map(visible, diagram.tokens)),
    }
