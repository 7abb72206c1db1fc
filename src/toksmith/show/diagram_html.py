"""Diagrams as HTML fragments: trees of merges, lattices, longest matches.

A tree of merges can have buttons that step through it and explain each step.

A fragment is an element of class ``ts`` and needs the style sheet ``base`` on its page. It holds no
script. Everything is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from toksmith._base.checks import assert_never
from toksmith._base.report import shows
from toksmith._base.visible import hex_start, visible_start
from toksmith.reference.unigram import Edge
from toksmith.show.notebook import visible_html
from toksmith.show.style import PALETTE, read_styles
from toksmith.trace.diagrams import Diagram, Lattice, Matches, MergeTree
from toksmith.trace.explain import Explanation

DEEPEST = 100
"""Deeper trees are shown as rows of tokens, because browsers draw no deeper nesting."""

_MOST_TRIED = 8


def diagrams_html(diagrams: Sequence[Diagram], most: int = 50) -> str:
    """Return diagrams one below the other with their style, for notebooks.

    Args:
        diagrams: equal ones are drawn once.
        most: the number of diagrams to draw; a note counts the rest.
    """
    distinct = {(each.text, each.ids): each for each in diagrams}
    shown = list(distinct.values())[:most]
    rest = len(distinct) - len(shown)
    more = f'<p class="ts ts-note">… and {rest:,} more</p>' if rest else ""
    return f"<style>{read_styles('base')}</style>{''.join(map(diagram_html, shown))}{more}"


def diagram_html(diagram: Diagram, *, first: int = 0) -> str:
    """Return a diagram as an HTML fragment; see the functions for each kind.

    Args:
        diagram: what to draw.
        first: the index in the palette of its first token's colour.
    """
    match diagram:
        case MergeTree():
            return tree_html(diagram, first=first)
        case Lattice():
            return lattice_html(diagram, first=first)
        case Matches():
            return matches_html(diagram, first=first)
        case _:
            assert_never(diagram)


def tree_html(tree: MergeTree, step: int | None = None, *, first: int = 0) -> str:
    """Return a tree of merges: its leaves above, the final tokens below.

    The attribute ``data-step`` of a node is the number of the merge that made it. Nodes that do not
    exist yet at ``step`` keep their place, so that nothing moves between steps: they have the class
    ``ts-later``; nodes that are part of others have ``ts-used``, and the newest has ``ts-now``.

    Args:
        tree: what to draw.
        step: the number of merges done; ``None`` for all.
        first: the index in the palette of its first token's colour.

    Example:
        >>> from toksmith import train
        >>> tree = train(texts=["abab"], vocab_size=257).explain("ab").diagrams[0]
        >>> "merge 0" in tree_html(tree), "ts-later" in tree_html(tree, step=0)
        (True, True)
    """
    at = tree.merges if step is None else step
    if max(tree.depths, default=0) > DEEPEST:
        return _rows_html(tree, at, first)
    above = {part: place for place, node in enumerate(tree.nodes) for part in node.parts or ()}
    colours = {place: _colour(i) for i, place in enumerate(tree.roots, first)}
    html: list[str] = []
    for place, node in enumerate(tree.nodes):
        made = tree.step(place)
        used = place in above and tree.step(above[place]) <= at
        is_root = place in colours
        states = {
            "ts-later": made > at,
            "ts-used": used and not (is_root and at == tree.merges),
            "ts-now": made == at and made > 0 and step is not None,
            "ts-apart": place not in above and not is_root,
        }
        names = " ".join(["ts-node", *(name for name, is_so in states.items() if is_so)])
        fill = f"ts-fill {colours[place]}" if is_root else ""
        parts = "".join(f'<div class="ts-part">{html[part]}</div>' for part in node.parts or ())
        joined = f'<div class="ts-parts">{parts}</div><div class="ts-join"></div>' if parts else ""
        if is_root and not parts and tree.merges:  # drawn above as a symbol, below as a token
            joined = _box(node.token, "ts-faint") + '<div class="ts-down"></div>'
        below = [f"{_kind(tree)} {_number(node.rank)}"] if node.parts else []
        below += [f"id {node.id}"] if is_root and node.id is not None else []
        box = _box(node.token, fill, *below, title=_title(tree, place))
        html.append(f'<div class="{names}" data-step="{made}">{joined}{box}</div>')
    tops = "".join(html[place] for place in tree.tops)
    return f'<div class="ts ts-diagram"><div class="ts-tree">{tops}</div></div>'


def step_html(tree: MergeTree, step: int) -> str:
    """Return one line of HTML about a step: the two parts, the merged token, and its rank."""
    if step <= 0:
        return f"{_count(tree.leaves, 'symbol')} to begin with"
    node = tree.nodes[tree.leaves + step - 1]
    left, right = (tree.nodes[part].token for part in node.parts or (0, 0))
    return (
        f"{_bold(left)} + {_bold(right)} → {_bold(node.token)}, "
        f"{_kind(tree)} {_number(node.rank)}, step {step} of {tree.merges}"
    )


def _rows_html(tree: MergeTree, at: int, first: int) -> str:
    """Return the row of tokens at a step, for a tree that is too deep to draw."""
    boxes = "".join(
        _box(tree.nodes[place].token, f"ts-fill {_colour(i)}")
        for i, place in enumerate(tree.at(at), first)
    )
    note = f"{_count(tree.merges, 'merge')}, too many on top of each other to draw"
    return (
        f'<div class="ts ts-diagram"><p class="ts-note">{note}</p>'
        f'<div class="ts-tree">{boxes}</div></div>'
    )


def lattice_html(lattice: Lattice, *, first: int = 0) -> str:
    """Return a lattice: the characters above, each piece as a bar over those that it covers.

    The best path is in colour; below it are the pieces of the second-best path that are not on the
    best one, then all others. Each bar has its score.
    """
    columns = {place: i + 2 for i, place in enumerate(lattice.places)}
    cells = _characters([lattice.text[a:b] for a, b in _pairs(lattice.places)])
    cells.append(_label(2, "best", lattice.score))
    best, other = set(lattice.best), set(lattice.other)
    colours = {place: _colour(i) for i, place in enumerate(lattice.best, first)}
    rest = [i for i in range(len(lattice.edges)) if i not in best | other]
    rows = dict.fromkeys(lattice.best, 2)
    if other:
        cells.append(_label(3, "second", lattice.other_score))
        rows |= dict.fromkeys(other - best, 3)
    below = 4 if other else 3
    rows |= {
        i: below + row for i, row in _assign_rows([lattice.edges[i] for i in rest], rest).items()
    }
    if rest:
        cells.append(f'<div class="ts-label" style="grid-row:{below}">others</div>')
    for place, row in sorted(rows.items(), key=lambda item: (item[1], item[0])):
        edge = lattice.edges[place]
        is_best = place in best
        name = f"ts-fill {colours[place]}" if is_best else "ts-second" if row == 3 else "ts-faint"
        text = lattice.text[edge.start : edge.end]
        title = f"id {edge.id}, score {edge.score:.6g}, {_count(edge.end - edge.start, 'byte')}"
        where = (row, columns[edge.start], columns.get(edge.end, columns[edge.start] + 1))
        cells.append(_box(text, name, _number(edge.score), title=title, where=where))
    return f'<div class="ts ts-diagram"><div class="ts-grid">{"".join(cells)}</div></div>'


def matches_html(matches: Matches, *, first: int = 0) -> str:
    """Return longest matches: at each place the candidates, the longest first, and the match."""
    places = _places(matches.text)
    columns = {place: i + 2 for i, place in enumerate(places)}
    cells = _characters([matches.text[a:b] for a, b in _pairs(places)])
    row = 2
    for number, match in enumerate(matches.matches):
        tried = match.tried[:_MOST_TRIED]
        if len(match.tried) > len(tried):
            tried = (*match.tried[:2], *match.tried[len(match.tried) - _MOST_TRIED + 2 :])
        cells.append(f'<div class="ts-label" style="grid-row:{row}">place {number + 1}</div>')
        start = columns[match.start]
        sizes = _tried_ends(matches, number)
        for i, token in enumerate(tried):
            end = columns[sizes[match.tried.index(token)]]
            where = (row, start, end)
            cells.append(_box(token, "ts-tried", title="no token", where=where))
            row += 1
            if i == 1 and len(tried) < len(match.tried):
                left_out = len(match.tried) - len(tried)
                cells.append(
                    f'<div class="ts-label" style="grid-row:{row};grid-column:{start}/-1">'
                    f"… {left_out:,} more …</div>"
                )
                row += 1
        where = (row, start, columns[match.end])
        if match.token is None:
            text = matches.text[match.start : match.end]
            cells.append(_box(text, "ts-unknown", "unknown", where=where))
        else:
            name = f"ts-fill {_colour(first + number)}"
            cells.append(_box(match.token, name, f"id {match.id}", where=where))
        row += 1
    why = {"too long": "it has too many characters", "no match": "no token fits there"}
    note = (
        f'<p class="ts-note">The whole is <b>unknown</b>: {why[matches.given_up]}.</p>'
        if matches.given_up
        else ""
    )
    return f'<div class="ts ts-diagram"><div class="ts-grid">{"".join(cells)}</div>{note}</div>'


def _tried_ends(matches: Matches, number: int) -> list[int]:
    """Return the end of each candidate match at a position, from the longest to the shortest."""
    match = matches.matches[number]
    end = match.end if match.token is not None else match.start
    later = [place for place in _places(matches.text) if place > end]
    return later[: len(match.tried)][::-1]


def _box(
    token: bytes,
    name: str,
    *below: str,
    title: str = "",
    where: tuple[int, int, int] | None = None,
) -> str:
    """Return a token in a box with lines below it; ``where`` is its row, first and end column."""
    small = "".join(f"<small>{escape(line)}</small>" for line in below)
    classes = f"ts-box {name}".strip()
    hint = f' title="{escape(title)}"' if title else ""
    place = f' style="grid-row:{where[0]};grid-column:{where[1]}/{where[2]}"' if where else ""
    return f'<div class="{classes}"{place}{hint}>{_token(token)}{small}</div>'


def _colour(place: int) -> str:
    """Return the CSS class of the colour of the token at a place."""
    return f"ts-c{place % len(PALETTE)}"


def _characters(characters: list[bytes]) -> list[str]:
    return [
        f'<div class="ts-character" style="grid-column:{column}">{visible_html(character)}</div>'
        for column, character in enumerate(characters, 2)
    ]


def _label(row: int, name: str, score: float) -> str:
    return f'<div class="ts-label" style="grid-row:{row}">{name} <b>{_number(score)}</b></div>'


def _assign_rows(edges: list[Edge], places: list[int]) -> dict[int, int]:
    """Return a row for each edge so that no two of a row overlap, placing long edges first."""
    order = sorted(range(len(edges)), key=lambda i: (edges[i].start - edges[i].end, edges[i].start))
    rows: list[list[Edge]] = []
    found: dict[int, int] = {}
    for i in order:
        edge = edges[i]
        row = next(
            (n for n, others in enumerate(rows)
             if all(edge.end <= other.start or other.end <= edge.start for other in others)),
            len(rows),
        )  # fmt: skip
        if row == len(rows):
            rows.append([])
        rows[row].append(edge)
        found[places[i]] = row
    return found


def _kind(tree: MergeTree) -> str:
    return "score" if tree.by_score else "merge"


def _title(tree: MergeTree, place: int) -> str:
    node = tree.nodes[place]
    what = "no token" if node.id is None else f"id {node.id}"
    if node.parts is None:
        return f"{what}, bytes {hex_start(node.token)}"
    left, right = (visible_start(tree.nodes[part].token) for part in node.parts)
    return (
        f"{what}, step {tree.step(place)}: {left} + {right}, {_kind(tree)} {_number(node.rank)}, "
        f"bytes {hex_start(node.token)}"
    )


def _token(token: bytes) -> str:
    return f'<span class="ts-token">{visible_html(token)}</span>'


def _bold(token: bytes) -> str:
    return f"<b>{visible_html(token)}</b>"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}".replace("-", "−")
    return f"{value:.4g}".replace("-", "−")


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _pairs(places: tuple[int, ...] | list[int]) -> list[tuple[int, int]]:
    return list(pairwise(places))


def _places(text: bytes) -> list[int]:
    from toksmith.reference.wordpiece import character_places

    return character_places(text)


shows(Explanation, html=lambda explanation: diagrams_html(explanation.diagrams))


_MOST_STEPS = 400
_BUTTONS = (
    ("first", "First step", "⇤"),
    ("back", "Step back", "←"),
    ("on", "Step forward", "→"),
    ("last", "Last step", "⇥"),
)


def stepper_html(diagram: Diagram, *, first: int = 0) -> str:
    """Return a diagram as an HTML fragment; the script ``stepper`` makes its buttons work.

    Only a tree of merges has buttons, unless it has no merges, too many, or is too deep to draw.

    Args:
        diagram: what to draw, with all merges done.
        first: the index in the palette of its first token's colour.

    Example:
        >>> from toksmith import train
        >>> tree = train(texts=["abab"], vocab_size=257).explain("ab").diagrams[0]
        >>> stepper_html(tree).count("<li>")
        2
    """
    drawn = diagram_html(diagram, first=first)
    if not isinstance(diagram, MergeTree) or not 0 < diagram.merges <= _MOST_STEPS:
        return drawn
    if max(diagram.depths) > DEEPEST:
        return drawn
    buttons = "".join(
        f'<button type="button" data-go="{go}" aria-label="{name}" title="{name}">{sign}</button>'
        for go, name, sign in _BUTTONS
    )
    lines = "".join(f"<li>{step_html(diagram, step)}</li>" for step in range(diagram.merges + 1))
    return (
        '<div class="ts ts-figure"><div class="ts-steps" role="group" tabindex="0" '
        f'aria-label="Steps of merging: arrow keys step" hidden>{buttons}<output></output></div>'
        f"<ol hidden>{lines}</ol>{drawn}</div>"
    )
