"""Splits that come before another one in a sequence, read along with it.

Each splitter of a sequence sees only the pieces that the one before it left. Where the bounds of
its matches are certain as soon as the next character is read, as with digits or Chinese characters,
its state can be kept beside that of the splitter after it, which takes each bound for the end of
its text.
"""

from __future__ import annotations

from toksmith.errors import UnsupportedError
from toksmith.splitters.compiler.automaton import DEAD, Automaton, sure_states

START = -1
"""The state at the start of a piece, before its first character."""

GAP = -2
"""The state between two matches."""


class PriorSplit:
    """A split whose bounds are certain one character later.

    Args:
        automaton: that of its pattern.

    Raises:
        UnsupportedError: a match may end, or begin, where only later characters decide it.

    Example:
        >>> from toksmith.splitters.compiler import compile_pattern
        >>> digits = PriorSplit(compile_pattern(r"[0-9]{1,2}"))
        >>> other, digit = digits.automaton.classes_of("a1")
        >>> state = START
        >>> for kind in (other, digit, digit, digit, other):
        ...     state, is_bound = digits.step(state, kind)
        ...     print(is_bound, end=" ")
        False True False True True
    """

    def __init__(self, automaton: Automaton) -> None:
        sure = sure_states(automaton)
        rows, accepts = automaton.next, automaton.accepts
        if len(set(automaton.starts)) > 1:
            raise UnsupportedError("a split before another one depends on the character before it")
        for state in sure - {automaton.starts[0]}:
            for kind, following in enumerate(rows[state]):
                if accepts[state] >> kind & 1 and following != DEAD:
                    raise UnsupportedError(
                        "a split before another one reads more than one character to find its end"
                    )
        if any(following not in {*sure, DEAD} for following in rows[automaton.starts[0]]):
            raise UnsupportedError(
                "a split before another one reads more than one character to find its start"
            )
        self.automaton = automaton

    def step(self, state: int, kind: int) -> tuple[int, bool]:
        """Read a character.

        Args:
            state: the state before it.
            kind: its class.

        Returns:
            The state after it, and whether a match begins or ends before it.
        """
        automaton = self.automaton
        begun = automaton.next[automaton.starts[0]][kind]
        begun = GAP if begun == DEAD else begun
        if state == START:
            return begun, False
        if state == GAP:
            return begun, begun != GAP
        if automaton.accepts[state] >> kind & 1:
            return begun, True
        return automaton.next[state][kind], False
