"""The automaton of a pattern: which class of characters leads where, and where a match may end."""

from __future__ import annotations

from toksmith._base.records import dataclass
from toksmith.splitters.compiler.code_points import Partition

DEAD = -1
"""The state after which no match ends."""


@dataclass(frozen=True)
class Automaton:
    """A deterministic automaton that finds the match of a pattern at a place of a text.

    It reads the text from there on. A match may end before the next character if the state accepts
    its class; the last such place counts. The end of the text is one more class.

    Attributes:
        classes: the classes of characters.
        next: the next state by state and class, or ``DEAD``.
        accepts: for each state, a mask of the classes before which a match may end; the bit after
            the last class is the end of the text.
        starts: the first state by the class of the character before the place; the last one is for
            the start of the text.
    """

    classes: Partition
    next: tuple[tuple[int, ...], ...]
    accepts: tuple[int, ...]
    starts: tuple[int, ...]

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.next)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the start and end of each match in a text, in characters, from left to right.

        Example:
            >>> from toksmith.splitters.compiler import compile_pattern
            >>> compile_pattern("[a-z]+|[0-9]").spans("ab, 12")
            [(0, 2), (4, 5), (5, 6)]
        """
        classes = self.classes.classes_of(text)
        end_of_text = self.classes.count
        classes.append(end_of_text)
        spans = []
        start = 0
        while start < len(text):
            state = self.starts[classes[start - 1]]  # at the start: the class of the edge
            end = place = start
            while state != DEAD:
                kind = classes[place]
                if self.accepts[state] >> kind & 1:
                    end = place
                if kind == end_of_text:
                    break
                state = self.next[state][kind]
                place += 1
            if end > start:
                spans.append((start, end))
            start = max(end, start + 1)
        return spans

    def covers(self) -> bool:
        """Return whether a match starts at every place of every text."""
        sure = sure_states(self)
        return all(following in sure for start in self.starts for following in self.next[start])

    def has_long_gaps(self) -> bool:
        """Return whether some text has two characters in a row that no match covers."""
        end = self.classes.count
        # Pairs of states of two attempts, of which the second started one character later. Only
        # after that character may the text end.
        starts = {
            (self.next[start][kind], self.starts[kind], False)
            for start in set(self.starts)
            for kind in range(end)
        }
        todo = list(starts)
        seen = set(todo)
        while todo:
            *pair, may_end = todo.pop()
            accepted = 0
            for state in pair:
                accepted |= 0 if state == DEAD else self.accepts[state]
            if may_end and not accepted >> end & 1:
                return True
            for kind in range(end):
                if accepted >> kind & 1:
                    continue
                first, second = (DEAD if s == DEAD else self.next[s][kind] for s in pair)
                if first == second == DEAD:
                    return True
                if (following := (first, second, True)) not in seen:
                    seen.add(following)
                    todo.append(following)
        return False


def sure_states(automaton: Automaton) -> set[int]:
    """Return the states from which a match ends in every text."""
    end = automaton.classes.count
    sure = set(range(automaton.states))
    changed = True
    while changed:
        changed = False
        for state in tuple(sure):
            accepted = automaton.accepts[state]
            if not accepted >> end & 1 or any(
                not accepted >> kind & 1 and following not in sure
                for kind, following in enumerate(automaton.next[state])
            ):
                sure.remove(state)
                changed = True
    return sure
