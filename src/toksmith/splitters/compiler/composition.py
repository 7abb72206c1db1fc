"""Turns transducers that split one after the other into one.

The second transducer of two starts anew at every end that the first one finds. But the first one
finds an end late: only once it has read further characters. So until then the second one is run
both ways, on from before the place and anew at the place, and each run keeps the ends it has found.
Such a run is a thread; it assumes that the first transducer will find certain ends and no others.
When the first one finds an end, or can no longer find it, the threads that assumed otherwise are
dropped. An end is certain once all threads that are left have it.

At each place of a text exactly one set of assumptions comes true, so the last thread has the ends
of the two transducers one after the other. The states are finite, because a thread knows of a place
its distance, up to ``MOST_BACK``, or that it is in the register. There is one register: where two
ends are open further back than that, the transducer loses track.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_
from typing import NamedTuple

from toksmith.errors import UnsupportedError
from toksmith.splitters.compiler.attempts import follow_attempts
from toksmith.splitters.compiler.automaton import Automaton
from toksmith.splitters.compiler.code_points import common_classes
from toksmith.splitters.compiler.transducer import (
    MOST_BACK,
    MOST_CELLS,
    MOST_CLASSES,
    MOST_STATES,
    Transducer,
)

HERE = 1
"""In a set of ends: the place at hand. Bit b is the place b characters back."""

IN_REGISTER = 1 << MOST_BACK
"""In a set of ends: the place in the register."""

NEARLY_IN_REGISTER = IN_REGISTER >> 1

MOST_THREADS = 64


class Thread(NamedTuple):
    """A run of the second transducer.

    Attributes:
        assumed: the ends that the first transducer has yet to find.
        ends: the ends of both that are not certain yet.
        state: the state of the second transducer.
    """

    assumed: int
    ends: int
    state: int


class State(NamedTuple):
    """All that is known at a place: the state of the first transducer, and the threads."""

    first: int
    threads: frozenset[Thread]


LOST = (State(-1, frozenset()), 0, False)
"""The step to the state in which the transducer has lost track."""


def make_transducer(*automata: Automaton) -> Transducer:
    r"""Return the minimal transducer of automata that split one after the other.

    Raises:
        UnsupportedError: there is none of the size that the kernel takes.

    Example:
        >>> from toksmith.splitters.compiler import compile_pattern
        >>> make_transducer(compile_pattern(r"\s?[a-z]+"), compile_pattern("[0-9]")).states
        6
    """
    return reduce(compose, map(follow_attempts, automata))


def compose(first: Transducer, second: Transducer, *, may_lose: bool = False) -> Transducer:
    """Return the minimal transducer of two, of which the second splits the chunks of the first.

    Args:
        first: one that does not lose track.
        second: another one.
        may_lose: where too much is open, lose track instead of refusing.

    Raises:
        UnsupportedError: there is none of the size that the kernel takes.
    """
    classes, (ours, theirs) = common_classes((first.classes, second.classes))
    steps = _Steps(first.with_classes(classes, ours), second.with_classes(classes, theirs))
    start = State(0, frozenset({Thread(0, 0, 0)}))
    number = {start: 0}
    states = [start]
    rows, ends, marks = [], [], []
    for state in states:
        found = [steps.read(state, kind, may_lose=may_lose) for kind in range(classes.count)]
        for following, _, _ in found:
            if following not in number:
                number[following] = len(states)
                states.append(following)
        rows.append(tuple(number[following] for following, _, _ in found))
        ends.append((*(_backs(certain) for _, certain, _ in found), _backs(steps.finish(state))))
        marks.append(tuple(mark for _, _, mark in found))
        if len(states) > MOST_STATES:
            raise UnsupportedError(f"its transducer has more than {MOST_STATES:,} states")
    both = Transducer(classes, tuple(rows), tuple(ends), tuple(marks)).minimal()
    if both.classes.count > MOST_CLASSES:
        raise UnsupportedError(f"it tells more than {MOST_CLASSES} classes of characters apart")
    if both.states << both.classes.count.bit_length() > MOST_CELLS:
        raise UnsupportedError("its tables are too large")
    return both


class _Steps:
    """The steps of a transducer of two: what each character does to a state."""

    def __init__(self, first: Transducer, second: Transducer) -> None:
        self._first = first
        self._second = second
        self._end = first.classes.count
        self._first_ends = [[*map(_mask, row)] for row in first.ends]
        self._second_ends = [[*map(_mask, row)] for row in second.ends]
        self._first_later = _later_ends(first)
        self._second_later = [reduce(or_, each) for each in _later_ends(second)]

    def read(self, state: State, kind: int, *, may_lose: bool) -> tuple[State, int, bool]:
        """Return the state after a character, the ends that are certain, and whether to mark."""
        try:
            return LOST if state == LOST[0] else self._read(state, kind)
        except UnsupportedError:
            if not may_lose:
                raise
            return LOST

    def _read(self, state: State, kind: int) -> tuple[State, int, bool]:
        found = self._first_ends[state.first][kind]
        first = self._first.next[state.first][kind]
        mark = self._first.marks[state.first][kind]
        possible = {found | _before(later, mark) for later in self._first_later[first]}
        threads: set[tuple[Thread, bool]] = set()
        every, either, later = -1, 0, 0
        for assumed, ends, here in self._both_ways(state):
            if assumed not in possible:
                continue
            ends |= self._second_ends[here][kind]
            following = self._second.next[here][kind]
            mark = self._second.marks[here][kind]
            every, either = every & ends, either | ends
            later |= _before(self._second_later[following], mark)
            threads.add((Thread(assumed & ~found, ends, following), mark))
        # Ends are found in their order in the text: the first open one holds up the rest.
        before_open = -1 << (either & ~every | later).bit_length()
        certain = every & before_open
        far = {self._far_places(thread, mark, certain) for thread, mark in threads} - {0}
        if len(far) > 1:
            raise UnsupportedError(f"two ends may lie {MOST_BACK} characters back")
        if len(threads) > MOST_THREADS:
            raise UnsupportedError(
                f"more than {MOST_THREADS} ways to split may have to be followed"
            )
        after = frozenset(
            Thread(_after(assumed), _after(ends & ~certain), following)
            for (assumed, ends, following), _ in threads
        )
        return State(first, after), certain, far == {NEARLY_IN_REGISTER}

    def finish(self, state: State) -> int:
        """Return the ends that become certain where the text ends."""
        if state == LOST[0]:
            return 0
        found = self._first_ends[state.first][self._end]
        (ends,) = {ends for assumed, ends, _ in self._both_ways(state) if assumed == found}
        return ends

    def _both_ways(self, state: State) -> Iterator[Thread]:
        """Yield each thread if the first transducer finds no end at this place, and if it does."""
        for assumed, ends, here in state.threads:
            yield Thread(assumed, ends, here)
            ends |= self._second_ends[here][self._end]
            yield Thread(assumed | HERE, ends, 0)

    def _far_places(self, thread: Thread, mark: bool, certain: int) -> int:
        """Return the places of a thread that have to be, or to stay, in the register."""
        held = thread.assumed | thread.ends & ~certain
        later = _before(self._second_later[thread.state] & IN_REGISTER, mark)
        return (held | later) & (IN_REGISTER | NEARLY_IN_REGISTER)


def _later_ends(transducer: Transducer) -> list[set[int]]:
    """Return for each state the sets of ends up to the place at hand that may yet be found."""
    later = [{_mask(row[-1])} for row in transducer.ends]
    found = [[*map(_mask, row)] for row in transducer.ends]
    changed = True
    while changed:
        changed = False
        for state, row in enumerate(transducer.next):
            size = len(later[state])
            for kind, following in enumerate(row):
                mark = transducer.marks[state][kind]
                later[state] |= {
                    found[state][kind] | _before(each, mark) for each in later[following]
                }
            changed |= len(later[state]) > size
    return later


def _before(ends: int, mark: bool) -> int:
    """Return the same ends as they are one character earlier, without those that come later.

    Args:
        ends: the ends after the character.
        mark: whether the register was set by the character.
    """
    far = ends & IN_REGISTER
    return (ends & ~IN_REGISTER) >> 1 | (far >> 1 if mark else far)


def _after(ends: int) -> int:
    """Return the same ends one character later."""
    far = ends & IN_REGISTER
    return (ends & ~IN_REGISTER) << 1 | far


def _mask(backs: Iterable[int]) -> int:
    return sum(1 << back for back in backs)


def _backs(ends: int) -> tuple[int, ...]:
    return tuple(back for back in range(MOST_BACK, -1, -1) if ends >> back & 1)
