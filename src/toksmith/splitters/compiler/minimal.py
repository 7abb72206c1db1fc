"""Makes automata minimal: two patterns find the same matches if their minimal automata are equal.

Besides equivalent states, different in form only are classes that all states treat alike, states
after which no match ends, and places where a match may end although a later end is sure.
"""

from __future__ import annotations

from collections import defaultdict

from toksmith.splitters.compiler.automaton import DEAD, Automaton, sure_states


def minimize(automaton: Automaton) -> Automaton:
    """Return the only minimal automaton that finds the same matches."""
    plain = _without_vain_ends(_without_vain_states(automaton))
    blocks = _equivalent(plain)
    end = plain.classes.count
    starts = [blocks[start] for start in plain.starts]
    rows: dict[int, tuple[tuple[int, ...], int]] = {}
    for state, block in enumerate(blocks):
        row = tuple(DEAD if s == DEAD else blocks[s] for s in plain.next[state])
        rows.setdefault(block, (row, plain.accepts[state]))
    reached = _reached(starts, {block: row for block, (row, _) in rows.items()})

    columns = [
        (starts[kind], *((rows[b][0][kind], rows[b][1] >> kind & 1) for b in reached))
        for kind in range(end)
    ]
    merged: dict[object, int] = {}
    new_class = [merged.setdefault(column, len(merged)) for column in columns]
    kept = [new_class.index(kind) for kind in range(len(merged))]  # a member of each

    starts = [*(starts[kind] for kind in kept), starts[end]]
    order = _reached(starts, {b: tuple(rows[b][0][kind] for kind in kept) for b in reached})
    number = {block: place for place, block in enumerate(order)} | {DEAD: DEAD}
    return Automaton(
        plain.classes.merge(new_class),
        tuple(tuple(number[rows[block][0][kind]] for kind in kept) for block in order),
        tuple(
            sum((rows[block][1] >> kind & 1) << place for place, kind in enumerate([*kept, end]))
            for block in order
        ),
        tuple(number[start] for start in starts),
    )


def _reached(starts: list[int], rows: dict[int, tuple[int, ...]]) -> list[int]:
    """Return the states that are reached, in the order in which they are found."""
    order = list(dict.fromkeys(starts))
    seen = {DEAD, *order}
    for state in order:
        for following in rows[state]:
            if following not in seen:
                seen.add(following)
                order.append(following)
    return order


def _without_vain_states(automaton: Automaton) -> Automaton:
    """Return the automaton with states after which no match ends replaced by ``DEAD``."""
    before = defaultdict(list)
    for state, row in enumerate(automaton.next):
        for following in set(row):
            before[following].append(state)
    todo = [state for state, accepted in enumerate(automaton.accepts) if accepted]
    useful = set(todo)
    while todo:
        for state in before[todo.pop()]:
            if state not in useful:
                useful.add(state)
                todo.append(state)
    rows = tuple(tuple(s if s in useful else DEAD for s in row) for row in automaton.next)
    return Automaton(automaton.classes, rows, automaton.accepts, automaton.starts)


def _without_vain_ends(automaton: Automaton) -> Automaton:
    """Return the automaton without ends of matches before a character after which it surely ends.

    The last end counts, so these never do.
    """
    sure = sure_states(automaton)
    accepts = tuple(
        accepted & ~sum(1 << kind for kind, following in enumerate(row) if following in sure)
        for row, accepted in zip(automaton.next, automaton.accepts, strict=True)
    )
    return Automaton(automaton.classes, automaton.next, accepts, automaton.starts)


def _equivalent(automaton: Automaton) -> list[int]:
    """Return the number of the block of equivalent states that each state is in (Hopcroft 1971)."""
    dead = automaton.states
    before: list[dict[int, list[int]]] = []
    for column in zip(*automaton.next, strict=True):
        sources: dict[int, list[int]] = defaultdict(list)
        for state, following in enumerate(column):
            sources[dead if following == DEAD else following].append(state)
        sources[dead].append(dead)
        before.append(sources)
    by_accepts: dict[int, set[int]] = defaultdict(set)
    for state, accepted in enumerate((*automaton.accepts, 0)):
        by_accepts[accepted].add(state)
    blocks = list(by_accepts.values())
    block_of = {state: number for number, block in enumerate(blocks) for state in block}
    todo = set(range(len(blocks)))
    while todo:
        splitter = tuple(blocks[todo.pop()])
        for sources in before:
            touched: dict[int, set[int]] = defaultdict(set)
            for target in splitter:
                for state in sources.get(target, ()):
                    touched[block_of[state]].add(state)
            for number, inside in touched.items():
                if len(inside) == len(blocks[number]):
                    continue
                outside = blocks[number] - inside
                small, large = sorted((inside, outside), key=len)
                blocks[number] = large
                blocks.append(small)
                new = len(blocks) - 1
                for state in small:
                    block_of[state] = new
                todo.add(new)  # the larger part stays in `todo` if the block was in it
    return [block_of[state] for state in range(dead)]
