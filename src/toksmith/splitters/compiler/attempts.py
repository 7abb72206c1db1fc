"""Turns an automaton into a transducer, which reads each character of a text once.

The automaton reads on after a possible end of a match, in case a later end follows, and has to go
back to the last end if none does. The transducer instead follows several attempts at once: the
match at hand, the match that would start at its last end, and so on. All have read the same
characters, so each step is one look-up, without going back.

Text that no match covers is a chunk of its own, however long.
"""

from __future__ import annotations

from typing import NamedTuple

from toksmith.errors import UnsupportedError
from toksmith.splitters.compiler.automaton import DEAD, Automaton, sure_states
from toksmith.splitters.compiler.transducer import MOST_BACK, MOST_CLASSES, MOST_STATES, Transducer

SURE = -1

MOST_ATTEMPTS = 8


class Attempt(NamedTuple):
    """A match that is being read.

    Attributes:
        state: the state of the automaton; ``DEAD`` if it ends at its last possible end.
        back: how many characters ago its last possible end was, at most ``MOST_BACK``; ``None`` if
            it has read no more than one character; ``SURE`` if a later end is sure.
        is_gap: whether it has no end but the one after its first character, so that it is a gap.
    """

    state: int
    back: int | None
    is_gap: bool

    @property
    def is_over(self) -> bool:
        """Whether it ends at its last possible end."""
        return self.state == DEAD and self.back is not None

    @property
    def is_match(self) -> bool:
        """Whether it is certain not to be a gap."""
        return self.back is not None and not self.is_gap


class State(NamedTuple):
    """All that is known at a place between two characters.

    Attributes:
        attempts: first a gap whose end is not certain, if there is one; the match at hand; those
            that start at the last possible end of the one before.
        start: the automaton's state at the start of an attempt that would begin here.
    """

    attempts: tuple[Attempt, ...]
    start: int


def follow_attempts(automaton: Automaton) -> Transducer:
    r"""Return the minimal transducer of an automaton.

    Raises:
        UnsupportedError: too much would be followed at once.

    Example:
        >>> from toksmith.splitters.compiler import compile_pattern
        >>> found = follow_attempts(compile_pattern(r"\S+|\s+(?!\S)|\s+"))
        >>> found.states, found.ends_in([0, 0, 1, 1, 0])
        (4, [2, 3, 4, 5])
    """
    classes = automaton.classes
    if classes.count > MOST_CLASSES:
        raise UnsupportedError(f"it tells more than {MOST_CLASSES} classes of characters apart")
    steps = _Steps(automaton)
    first = State((), automaton.starts[-1])
    number = {first: 0}
    states = [first]
    rows, ends, marks = [], [], []
    for state in states:
        found = [steps.read(state, kind) for kind in range(classes.count)]
        for following, _ in found:
            if following not in number:
                number[following] = len(states)
                states.append(following)
        rows.append(tuple(number[following] for following, _ in found))
        ends.append((*(made for _, made in found), steps.finish(state)))
        marks.append(tuple(_is_newly_far(state, following) for following, _ in found))
        if len(states) > MOST_STATES:
            raise UnsupportedError(f"its transducer has more than {MOST_STATES:,} states")
    return Transducer(classes, tuple(rows), tuple(ends), tuple(marks)).minimal()


class _Steps:
    """The steps of a transducer: what each character does to a state."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._sure = sure_states(automaton)

    def read(self, state: State, kind: int) -> tuple[State, tuple[int, ...]]:
        """Return the state after a character of a class, and the ends that it makes certain."""
        kept, ends = _resolved(self._attempts(state, kind), at_end=False)
        attempts = [
            each if each.back in (None, SURE) else each._replace(back=min(each.back + 1, MOST_BACK))
            for each in kept
        ]
        if len(attempts) > MOST_ATTEMPTS:
            raise UnsupportedError(
                f"more than {MOST_ATTEMPTS} chunks may have to be read before the end of the "
                "first one is certain"
            )
        if sum(attempt.back == MOST_BACK for attempt in attempts) > 1:
            raise UnsupportedError(f"two ends may lie {MOST_BACK} characters back")
        start = self._automaton.starts[kind]
        return State(tuple(attempts), start), ends

    def finish(self, state: State) -> tuple[int, ...]:
        """Return the ends that become certain where the text ends."""
        if not state.attempts:
            return ()
        return _resolved(self._attempts(state, self._automaton.classes.count), at_end=True)[1]

    def _attempts(self, state: State, kind: int) -> list[Attempt]:
        """Return the attempts after a character; ``back`` counts from before it."""
        automaton, end = self._automaton, self._automaton.classes.count
        fresh = Attempt(state.start, None, False)  # begins before this character
        todo = [*state.attempts] or [fresh]
        kept: list[Attempt] = []
        for attempt in todo:
            now, back, is_gap = attempt
            following = DEAD if now == DEAD or kind == end else automaton.next[now][kind]
            if following in self._sure:
                # Whatever follows, it ends later: what would start before is moot.
                kept.append(Attempt(following, SURE, False))
                break
            if attempt is fresh:
                kept.append(Attempt(following, None, False))
                continue
            accepts = now != DEAD and automaton.accepts[now] >> kind & 1 == 1
            if accepts or back is None:
                back, is_gap = 0, not accepts
                del todo[len(kept) + 1 :]
                if kind != end:
                    todo.append(fresh)
            kept.append(Attempt(following, back, is_gap))
        return _needed(kept)


def _resolved(attempts: list[Attempt], *, at_end: bool) -> tuple[list[Attempt], tuple[int, ...]]:
    """Return the attempts that are not decided yet, and the ends of those that are."""
    decided = 0
    while decided < len(attempts):
        first = attempts[decided]
        if not first.is_over:
            break
        if first.is_gap and not at_end and not attempts[decided + 1].is_match:
            break  # the gap may go on
        decided += 1
    ends = [attempt.back for attempt in attempts[:decided] if attempt.back is not None]
    return attempts[decided:], tuple(ends)


def _needed(attempts: list[Attempt]) -> list[Attempt]:
    """Return the attempts without what cannot make a difference.

    Of two attempts in the same state the second one is given up: both find an end or neither, and
    an end of the first one discards the second. Gaps next to each other become one, so it makes no
    difference where one of them ends if another one follows.
    """
    kept: list[Attempt] = []
    states: set[int] = set()
    for attempt in attempts:
        if attempt.state in states:
            attempt = attempt._replace(state=DEAD)
        elif attempt.state != DEAD:
            states.add(attempt.state)
        if attempt.is_over and attempt.is_gap and kept and kept[-1].is_gap:
            before = kept.pop()
            if not before.is_over:
                kept.append(before._replace(back=0))
        kept.append(attempt)
    return kept


def _is_newly_far(before: State, after: State) -> bool:
    """Return whether an attempt's end is ``MOST_BACK`` back for the first time."""
    was_near = any(attempt.back == MOST_BACK - 1 for attempt in before.attempts)
    return was_near and any(attempt.back == MOST_BACK for attempt in after.attempts)
