"""Turns an automaton into a transducer, which reads each character of a text once.

The automaton reads on after a possible end of a match, in case a later end follows, and has to go
back to the last end if none does. The transducer instead follows several attempts at once: the
match at hand, the match that would start at its last end, and so on. All have read the same
characters, so each step is one look-up, without going back.

Where no match starts, a character counts as the match; such characters are the gaps. Gaps next to
each other may come as one or as several.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from toksmith.errors import UnsupportedError
from toksmith.splitters.compiler.automaton import DEAD, Automaton, sure_states
from toksmith.splitters.compiler.code_points import Partition

FAR = 8
"""From here on, how far back an end lies is not part of the state: a register holds the place."""

SURE = -1

MOST_ATTEMPTS = 5
MOST_STATES = 16_384


class Attempt(NamedTuple):
    """A match that is being read.

    Attributes:
        state: the state of the automaton; ``DEAD`` if it ends at its last possible end.
        back: how many characters ago its last possible end was, at most ``FAR``; ``None`` if it
            has read no more than one character; ``SURE`` if a later end is sure.
        is_gap: whether it has no end but the one after its first character.
    """

    state: int
    back: int | None
    is_gap: bool


class Cut(NamedTuple):
    """The end of a chunk: how many characters before the last one read, and whether it is a gap."""

    back: int
    is_gap: bool


class State(NamedTuple):
    """The attempts, first the match at hand, and the start of one that would begin here."""

    attempts: tuple[Attempt, ...]
    start: int


@dataclass(frozen=True)
class Transducer:
    """The cuts of a text, found in one pass.

    Attributes:
        classes: the classes of characters.
        next: the next state, by state and class.
        cuts: the cuts that become certain when a character is read, by state and class. The last
            class is the end of the text.
        marks: whether the register is set to the place ``FAR`` characters back, after the
            character is read, by state and class.
        attempts: the largest number of attempts at once.
    """

    classes: Partition
    next: tuple[tuple[int, ...], ...]
    cuts: tuple[tuple[tuple[Cut, ...], ...], ...]
    marks: tuple[tuple[bool, ...], ...]
    attempts: int

    def ends(self, kinds: list[int]) -> list[tuple[int, bool]]:
        """Return the end of each chunk of a text, and whether it is a gap or a part of one.

        Args:
            kinds: the class of each character.
        """
        found = []
        state = register = 0
        for place, kind in enumerate([*kinds, self.classes.count]):
            for back, is_gap in self.cuts[state][kind]:
                found.append((register if back == FAR else place - back, is_gap))
            if place < len(kinds):
                if self.marks[state][kind]:
                    register = place + 1 - FAR
                state = self.next[state][kind]
        return found

    def sure_cuts(self) -> list[int]:
        """Return for each class the mask of the classes before which a text can always be cut.

        The two parts, each split on its own, have the chunks of the whole.
        """
        end = self.classes.count
        masks = [(1 << end) - 1] * end
        for row in self.next:
            for kind, following in enumerate(row):
                for other in range(end):
                    ends_alike = self.cuts[following][other] == self.cuts[following][end]
                    if not ends_alike or self.next[following][other] != self.next[0][other]:
                        masks[kind] &= ~(1 << other)
        return masks


def make_transducer(automaton: Automaton) -> Transducer:
    r"""Return the transducer of an automaton.

    Raises:
        UnsupportedError: too many attempts would be followed at once.

    Example:
        >>> from toksmith.splitters.compiler import compile_pattern
        >>> found = make_transducer(compile_pattern(r"\S+|\s+(?!\S)|\s+"))
        >>> len(found.next), found.attempts
        (4, 2)
    """
    end = automaton.classes.count
    sure = sure_states(automaton)
    first = State((), automaton.starts[end])
    number = {first: 0}
    todo = [first]
    rows: list[tuple[int, ...]] = []
    cuts: list[tuple[tuple[Cut, ...], ...]] = []
    marks: list[tuple[bool, ...]] = []
    most = 0
    for state in todo:
        row: list[int] = []
        found: list[tuple[Cut, ...]] = []
        marked: list[bool] = []
        for kind in range(end + 1):
            following, made = _step(automaton, sure, state, kind)
            found.append(made)
            if kind == end:
                continue
            most = max(most, len(following.attempts))
            if most > MOST_ATTEMPTS:
                raise UnsupportedError(
                    f"more than {MOST_ATTEMPTS} chunks may have to be read before the end of the "
                    "first one is certain"
                )
            if sum(attempt.back == FAR for attempt in following.attempts) > 1:
                raise UnsupportedError(f"two ends may lie {FAR} characters back")
            marked.append(_newly_far(state, following))
            if following not in number:
                number[following] = len(number)
                todo.append(following)
            row.append(number[following])
        rows.append(tuple(row))
        cuts.append(tuple(found))
        marks.append(tuple(marked))
        if len(number) > MOST_STATES:
            raise UnsupportedError(f"its transducer has more than {MOST_STATES:,} states")
    return Transducer(automaton.classes, tuple(rows), tuple(cuts), tuple(marks), most)


def _newly_far(before: State, after: State) -> bool:
    """Return whether an attempt's end is ``FAR`` back for the first time."""
    was_near = any(attempt.back == FAR - 1 for attempt in before.attempts)
    return was_near and any(attempt.back == FAR for attempt in after.attempts)


def _step(
    automaton: Automaton, sure: set[int], state: State, kind: int
) -> tuple[State, tuple[Cut, ...]]:
    """Return the state after a character, and the cuts that it makes certain."""
    end = automaton.classes.count
    fresh = Attempt(state.start, None, False)  # begins before this character
    todo = [*state.attempts] or [fresh]
    if kind == end and not state.attempts:  # an empty text
        return state, ()
    kept: list[Attempt] = []
    cuts: list[Cut] = []
    place = 0
    while place < len(todo):
        attempt = todo[place]
        now, back, is_gap = attempt
        place += 1
        following = DEAD if now == DEAD or kind == end else automaton.next[now][kind]
        if following in sure:  # whatever follows, it ends later: what would start before is moot
            kept.append(Attempt(following, SURE, False))
            break
        if attempt is fresh:
            kept.append(Attempt(following, None, False))
            continue
        accepts = now != DEAD and automaton.accepts[now] >> kind & 1 == 1
        if accepts or back is None:
            back, is_gap = 0, not accepts
            todo[place:] = [fresh] if kind != end else []
        if following == DEAD and not kept:
            cuts.append(Cut(back, is_gap))
        else:
            kept.append(Attempt(following, min(back + 1, FAR), is_gap))
    return State(_needed(kept), automaton.starts[kind]), tuple(cuts)


def _needed(attempts: list[Attempt]) -> tuple[Attempt, ...]:
    """Return the attempts without what cannot make a difference.

    Of two attempts in the same state the second one is given up: both find an end or neither, and
    an end of the first one discards the second. Gaps next to each other become one.
    """
    kept: list[Attempt] = []
    states: set[int] = set()
    for attempt in attempts:
        if attempt.state in states:
            attempt = attempt._replace(state=DEAD)
        elif attempt.state != DEAD:
            states.add(attempt.state)
        ended = attempt.state == DEAD and attempt.back is not None
        if ended and attempt.is_gap and kept and kept[-1].is_gap:
            kept[-1] = kept[-1]._replace(back=attempt.back)
        else:
            kept.append(attempt)
    return tuple(kept)
