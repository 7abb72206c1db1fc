"""Makes the diagram of a chunk from its trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toksmith.trace.diagrams import Diagram, Lattice, Match, Matches, MergeTree, Node
from toksmith.trace.steps import MatchStep, MergeStep, PathStep, TraceSymbol, UnknownWordStep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toksmith.trace.explain import ChunkTrace


def make_diagram(chunk: ChunkTrace, vocab: Mapping[int, bytes]) -> Diagram:
    """Return the merge tree, lattice or matches of a chunk.

    Args:
        chunk: its trace.
        vocab: the token of each id in the trace.
    """
    tokens = tuple(vocab[token_id] for token_id in chunk.ids)
    if chunk.edges:
        return _lattice(chunk, tokens)
    if chunk.start or chunk.whole:
        return _tree(chunk, tokens, vocab)
    return _matches(chunk, tokens, vocab)


def _tree(chunk: ChunkTrace, tokens: tuple[bytes, ...], vocab: Mapping[int, bytes]) -> MergeTree:
    ids = {token: token_id for token_id, token in vocab.items()}

    def node(symbol: TraceSymbol, *how: Any) -> Node:
        if isinstance(symbol, bytes):
            return Node(symbol, ids.get(symbol), *how)
        return Node(vocab[symbol], symbol, *how)

    merges = [step for step in chunk.steps if isinstance(step, MergeStep)]
    if chunk.whole and not merges:  # no known merges lead to it
        root = Node(tokens[0], chunk.ids[0])
        spans = chunk.spans
        return MergeTree(chunk.text, chunk.ids, tokens, (root,), 1, (0,), whole=True, spans=spans)
    nodes = [node(symbol) for symbol in chunk.start]
    row = list(range(len(nodes)))
    for step in merges:
        at = step.position
        nodes.append(node(step.new, (row[at], row[at + 1]), step.rank))
        row[at : at + 2] = [len(nodes) - 1]
    by_score = any(isinstance(symbol, bytes) for symbol in chunk.start)
    roots = _in_use(row, nodes, tokens) if by_score else tuple(row)
    return MergeTree(
        *(chunk.text, chunk.ids, tokens, tuple(nodes), len(chunk.start), roots),
        *(chunk.whole, by_score, chunk.spans),
    )


def _in_use(row: list[int], nodes: list[Node], tokens: tuple[bytes, ...]) -> tuple[int, ...]:
    """Split merged pieces of type UNUSED, which are no output, into their parts again."""
    out = set(tokens)
    found: list[int] = []
    waiting = row[::-1]
    while waiting:
        place = waiting.pop()
        parts = nodes[place].parts
        if parts is None or nodes[place].token in out:
            found.append(place)
        else:
            waiting += [parts[1], parts[0]]
    return tuple(found)


def _lattice(chunk: ChunkTrace, tokens: tuple[bytes, ...]) -> Lattice:
    places = {(edge.start, edge.end): i for i, edge in enumerate(chunk.edges)}
    ways = [step for step in chunk.steps if isinstance(step, PathStep)]
    chosen = []
    for way in ways:
        at, edges = 0, []
        for piece in way.pieces:
            edges.append(places[at, at + len(piece)])
            at += len(piece)
        chosen.append((tuple(edges), way.score))
    (best, score), (other, other_score) = [*chosen, ((), 0.0)][:2]
    ends = sorted({edge.start for edge in chunk.edges} | {len(chunk.text)})
    return Lattice(
        *(chunk.text, chunk.ids, tokens, chunk.edges, best, score, other, other_score),
        *(tuple(ends), chunk.spans),
    )


def _matches(chunk: ChunkTrace, tokens: tuple[bytes, ...], vocab: Mapping[int, bytes]) -> Matches:
    ids = {token: token_id for token_id, token in vocab.items()}
    found: list[Match] = []
    given_up = None
    for step in chunk.steps:
        at = found[-1].end if found else 0
        if isinstance(step, MatchStep):
            token_id = None if step.token is None else ids.get(step.token)
            found.append(Match(at, at + step.size, step.token, token_id, step.tried))
        elif isinstance(step, UnknownWordStep):
            given_up = "too long" if step.rest is None else "no match"
            found.append(Match(at, len(chunk.text), None, None, step.tried))
    return Matches(chunk.text, chunk.ids, tokens, tuple(found), given_up)
