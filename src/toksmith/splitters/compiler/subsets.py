"""Turns a program into an automaton that finds the same matches (the subset construction).

A state is the list of threads that are alive, in order of priority. Threads after one that matches
are dropped, so the automaton finds the match that a backtracking engine finds first. As a
condition on the next character waits until that is known, each step sorts the classes of the next
character into groups that the threads treat alike.
"""

from __future__ import annotations

from typing import NamedTuple

from toksmith.errors import UnsupportedError
from toksmith.splitters.compiler.automaton import DEAD, Automaton
from toksmith.splitters.compiler.program import Check, Fork, Jump, Program, Take

MOST_STATES = 4_096


class State(NamedTuple):
    """Threads in order of priority, and a class that stands for the last character."""

    threads: tuple[int, ...]
    behind: int


def determinize(program: Program) -> Automaton:
    """Return the automaton of a program.

    Raises:
        UnsupportedError: it has too many states.
    """
    end = program.classes.count
    behind = _behind(program)
    number: dict[State, int] = {}
    for each in behind:
        number.setdefault(State((0,), each), len(number))
    todo = list(number)
    following: list[tuple[int, ...]] = []
    accepts: list[int] = []
    for state in todo:
        groups, accepted = _step(program, state)
        row = [DEAD] * end
        for mask, threads in groups:
            while mask and threads:
                lowest = mask & -mask
                mask ^= lowest
                kind = lowest.bit_length() - 1
                if kind == end:
                    continue
                new = State(threads, behind[kind])
                if new not in number:
                    number[new] = len(number)
                    todo.append(new)
                row[kind] = number[new]
        following.append(tuple(row))
        accepts.append(accepted)
        if len(number) > MOST_STATES:
            raise UnsupportedError(f"its automaton has more than {MOST_STATES:,} states")
    starts = tuple(number[State((0,), each)] for each in behind)
    return Automaton(program.classes, tuple(following), tuple(accepts), starts)


def _behind(program: Program) -> list[int]:
    """Return for each class and the edge the first one that looks behind do not tell from it."""
    masks = [each.mask for each in program.code if isinstance(each, Check) and each.behind]
    first: dict[tuple[int, ...], int] = {}
    return [
        first.setdefault(tuple(mask >> kind & 1 for mask in masks), kind)
        for kind in range(program.classes.count + 1)
    ]


def _step(program: Program, state: State) -> tuple[list[tuple[int, tuple[int, ...]]], int]:
    """Return the threads after the next character, by masks of its class.

    Returns:
        Masks with the threads, and the mask of the classes before which a match ends.
    """
    every = (2 << program.classes.count) - 1
    stack = [(place, every) for place in reversed(state.threads)]
    seen: dict[int, int] = {}
    accepted = 0
    groups: list[tuple[int, tuple[int, ...]]] = [(every, ())]
    while stack:
        place, mask = stack.pop()
        mask &= ~(seen.get(place, 0) | accepted)
        if not mask:
            continue
        seen[place] = seen.get(place, 0) | mask
        match program.code[place]:
            case Take(taken):
                groups = _add(groups, mask & taken, place + 1)
            case Check(fulfilled, behind):
                if not behind:
                    stack.append((place + 1, mask & fulfilled))
                elif fulfilled >> state.behind & 1:
                    stack.append((place + 1, mask))
            case Fork(first, second):
                stack += ((second, mask), (first, mask))
            case Jump(target):
                stack.append((target, mask))
            case _:
                accepted |= mask
    return groups, accepted


def _add(
    groups: list[tuple[int, tuple[int, ...]]], mask: int, thread: int
) -> list[tuple[int, tuple[int, ...]]]:
    """Return the groups after one more thread, of lowest priority, for some classes."""
    if not mask:
        return groups
    found = []
    for group, threads in groups:
        if inside := group & mask:
            found.append((inside, (*threads, thread)))
        if outside := group & ~mask:
            found.append((outside, threads))
    return found
