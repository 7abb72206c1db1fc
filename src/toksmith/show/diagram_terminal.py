"""Diagrams in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from toksmith._base.checks import assert_never
from toksmith._base.visible import visible_start
from toksmith.show.style import FOREGROUND, TERMINAL
from toksmith.trace.diagrams import Diagram, Lattice, Match, Matches, MergeTree

_MOST_TRIED = 6


def diagram_view(diagram: Diagram, *, colour: bool = True) -> RenderableType:
    """Return a diagram for the terminal.

    Args:
        diagram: the diagram.
        colour: ``False`` leaves the tokens without backgrounds.
    """
    match diagram:
        case MergeTree():
            return _view_merge_tree(diagram, colour=colour)
        case Lattice():
            return _view_lattice(diagram, colour=colour)
        case Matches():
            return _view_matches(diagram, colour=colour)
        case _:
            assert_never(diagram)


def _view_merge_tree(tree: MergeTree, *, colour: bool = True) -> RenderableType:
    """Return each token with the tokens that it was merged from below it, recursively."""
    kind = "score" if tree.by_score else "merge"
    styles = {place: _style(i, colour) for i, place in enumerate(tree.roots)}
    note = "; looked up as a whole" if tree.whole and tree.merges else ""
    made: dict[int, Tree] = {}
    for place, node in enumerate(tree.nodes):
        label = Text().append(visible_start(node.token), styles.get(place, ""))
        if place in styles and node.id is not None:
            label.append(f"  id {node.id}")
        if node.parts:
            rank = f"{node.rank:,}" if isinstance(node.rank, int) else f"{node.rank:g}"
            label.append(f"  {kind} {rank}, step {tree.step(place)}", "dim")
            label.append(note if place in styles else "", "dim")
            if place not in styles and place in tree.tops:
                label.append(", taken apart again", "dim")
        branch = made[place] = Tree(label, guide_style="dim" if colour else "")
        for part in node.parts or ():
            if part not in styles:  # a part that is itself a token has its own tree
                branch.children.append(made[part])
    tops = [place for place in range(len(tree.nodes)) if place in tree.tops and place not in styles]
    return Group(*(made[place] for place in (*tree.roots, *tops)))


def _view_lattice(lattice: Lattice, *, colour: bool = True) -> RenderableType:
    """Return the best paths through each part of a lattice, and the other pieces that fit."""
    return Group(*(_part(part, colour) for part in lattice.parts))


def _part(lattice: Lattice, colour: bool) -> Tree:
    head = Tree(Text(visible_start(lattice.text), "bold" if colour else ""), guide_style="dim")
    rows = Table.grid(padding=(0, 2))
    rows.add_column()
    rows.add_column(justify="right")
    rows.add_column(overflow="fold")
    styles = [_style(i, colour) for i in range(len(lattice.best))]
    rows.add_row("best", _score(lattice.score), _pieces(lattice, lattice.best, styles))
    if lattice.other:
        rows.add_row("second", _score(lattice.other_score), _pieces(lattice, lattice.other))
    rest = sorted(set(range(len(lattice.edges))) - {*lattice.best, *lattice.other})
    if rest:
        rows.add_row("others", "", _pieces(lattice, rest))
    head.add(rows)
    return head


def _pieces(lattice: Lattice, places: Sequence[int], styles: Sequence[str] = ()) -> Columns:
    """Return pieces, each with its score; a line ends between two of them."""
    pieces = []
    for i, place in enumerate(places):
        edge = lattice.edges[place]
        text = visible_start(lattice.text[edge.start : edge.end])
        pieces.append(Text().append(text, styles[i] if styles else ""))
        pieces[-1].append(f" {_score(edge.score)}", "dim")
    return Columns(pieces, padding=(0, 2))


def _score(score: float) -> str:
    return f"{score:.4g}"


def _view_matches(matches: Matches, *, colour: bool = True) -> RenderableType:
    """Return the match at each place, and the candidates tried before it."""
    head = Tree(Text(visible_start(matches.text), "bold" if colour else ""), guide_style="dim")
    for number, match in enumerate(matches.matches):
        head.add(_match(matches, match, _style(number, colour)))
    if matches.given_up:
        why = "it has too many characters" if matches.given_up == "too long" else "nothing fits"
        head.add(Text(f"unknown as a whole: {why}"))
    return head


def _match(matches: Matches, match: Match, style: str) -> Text:
    if match.token is None:
        line = Text(visible_start(matches.text[match.start : match.end]))
        line.append("  is unknown")
        return line
    line = Text().append(visible_start(match.token), style)
    line.append(f"  id {match.id}")
    if match.tried:
        shown = ", ".join(map(visible_start, match.tried[:_MOST_TRIED]))
        more = len(match.tried) - _MOST_TRIED
        line.append(f"  not {shown}{f' … {more:,} more' if more > 0 else ''}", "dim")
    return line


def _style(number: int, colour: bool) -> str:
    return f"{FOREGROUND} on {TERMINAL[number % len(TERMINAL)]}" if colour else ""
