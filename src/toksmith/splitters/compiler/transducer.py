"""The transducer of split patterns: it reads each character once, and says where chunks end.

Two transducers can be equal in what they do and differ in form. Each one here is minimal: equal
states are one, and so are classes of characters that all states treat alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toksmith.splitters.compiler.code_points import Partition

MOST_BACK = 8
"""From here on, how far back an end lies is not part of the state: a register holds the place."""

MOST_STATES = 4_096
MOST_CLASSES = 63
MOST_CELLS = 1 << 16
"""Of a table of the kernel, whose rows have a power of two of cells."""


@dataclass(frozen=True)
class Transducer:
    """The ends of the chunks of a text, found in one pass.

    Attributes:
        classes: the classes of characters.
        next: the next state, by state and class. The first state is that at the start of a text.
        ends: the ends of chunks that become certain when a character is read, by state and class:
            how many characters before that character each lies, ``MOST_BACK`` for the place in the
            register. The last class is the end of the text.
        marks: whether the register is set to the place ``MOST_BACK`` characters back, after the
            character is read, by state and class.

    A transducer may have one state without a further end, in which it has lost track.
    """

    classes: Partition
    next: tuple[tuple[int, ...], ...]
    ends: tuple[tuple[tuple[int, ...], ...], ...]
    marks: tuple[tuple[bool, ...], ...]

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.next)

    @property
    def lost(self) -> int | None:
        """The state in which it has lost track."""
        return next((state for state, ends in enumerate(self.ends) if state and not ends[-1]), None)

    def ends_in(self, kinds: Sequence[int]) -> list[int]:
        """Return the end of each chunk of a text, in characters, up to where it loses track.

        Args:
            kinds: the class of each character.
        """
        found = []
        state = register = 0
        for place, kind in enumerate([*kinds, self.classes.count]):
            found += [
                register if back == MOST_BACK else place - back for back in self.ends[state][kind]
            ]
            if place < len(kinds):
                if self.marks[state][kind]:
                    register = place + 1 - MOST_BACK
                state = self.next[state][kind]
        return found

    def cuts(self) -> tuple[list[int], list[int]]:
        """Return where a text can be cut, so that both parts, split on their own, have its ends.

        Returns:
            For each class, the mask of the classes before which a cut moves no other end, and the
            mask of those of them before which there is always an end.
        """
        end = self.classes.count
        harmless = [(1 << end) - 1] * end
        sure = [*harmless]
        for row in self.next:
            for kind, following in enumerate(row):
                ends = self.ends[following]
                at_cut = {back for back in ends[end] if back > 0}
                for other in range(end):
                    found = {*ends[other]}
                    if found - {0} != at_cut or self.next[following][other] != self.next[0][other]:
                        harmless[kind] &= ~(1 << other)
                    if 0 not in found:
                        sure[kind] &= ~(1 << other)
        return harmless, [one & other for one, other in zip(harmless, sure, strict=True)]

    def is_free(self, state: int, kind: int) -> bool:
        """Return whether a chunk may also be cut before a character without moving any other end.

        That is so if the text could as well begin with the character: the next state is the same,
        so no end before it is pending.

        Args:
            state: the state before the character, inside a chunk.
            kind: the class of the character.
        """
        return (
            state != 0
            and not self.ends[state][kind]
            and self.next[state][kind] == self.next[0][kind]
        )

    def minimal(self) -> Transducer:
        """Return the transducer with the fewest states and classes that finds the same ends."""
        blocks = self._equivalent()
        members = {block: state for state, block in reversed([*enumerate(blocks)])}
        columns = [
            tuple(
                (blocks[self.next[state][kind]], self.ends[state][kind], self.marks[state][kind])
                for state in members.values()
            )
            for kind in range(self.classes.count)
        ]
        merged: dict[object, int] = {}
        new_class = [merged.setdefault(column, len(merged)) for column in columns]
        kept = [new_class.index(kind) for kind in range(len(merged))]  # a member of each
        # Blocks are numbered by their first states, so the first state stays the first one.
        states = [members[block] for block in range(len(members))]
        return Transducer(
            self.classes.merge(new_class),
            tuple(tuple(blocks[self.next[state][kind]] for kind in kept) for state in states),
            tuple(
                (*(self.ends[state][kind] for kind in kept), self.ends[state][-1])
                for state in states
            ),
            tuple(tuple(self.marks[state][kind] for kind in kept) for state in states),
        )

    def _equivalent(self) -> list[int]:
        """Return the block of equivalent states that each state is in (Moore 1956)."""
        number: dict[object, int] = {}
        doing = zip(self.ends, self.marks, strict=True)
        blocks = [number.setdefault(each, len(number)) for each in doing]
        while True:
            before, number = len(number), {}
            following = (tuple(map(blocks.__getitem__, row)) for row in self.next)
            both = zip(blocks, following, strict=True)
            blocks = [number.setdefault(each, len(number)) for each in both]
            if len(number) == before:
                return blocks

    def with_classes(self, classes: Partition, kinds: Sequence[int]) -> Transducer:
        """Return the transducer over finer classes.

        Args:
            classes: the finer classes.
            kinds: its own class of each of them.
        """
        end = self.classes.count
        return Transducer(
            classes,
            tuple(tuple(row[kind] for kind in kinds) for row in self.next),
            tuple(tuple(row[kind] for kind in (*kinds, end)) for row in self.ends),
            tuple(tuple(row[kind] for kind in kinds) for row in self.marks),
        )
