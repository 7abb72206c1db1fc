"""The syntax tree of a pattern, after sets, flags and group names are resolved."""

from __future__ import annotations

from typing import Literal, TypeAlias

from toksmith._base.records import dataclass
from toksmith.splitters.compiler.code_points import CodePoints


@dataclass(frozen=True)
class Characters:
    """One character of a set."""

    points: CodePoints


@dataclass(frozen=True)
class Look:
    """A condition on the next character, or on the one before.

    Attributes:
        points: the characters that fulfil it.
        at_edge: whether it is fulfilled where there is no such character: at the end of the text,
            or at its start.
        behind: whether it looks at the character before.
    """

    points: CodePoints
    at_edge: bool
    behind: bool = False


@dataclass(frozen=True)
class Sequence:
    """One item after the other."""

    items: tuple[Tree, ...]


@dataclass(frozen=True)
class Choice:
    """The first alternative that leads to a match."""

    items: tuple[Tree, ...]


@dataclass(frozen=True)
class Repeat:
    """An item several times.

    Attributes:
        item: what is repeated.
        least: how often at least.
        most: how often at most; ``None``: without limit.
        kind: whether more or fewer repetitions are tried first; ``possessive``: as many as
            possible, and never fewer.
    """

    item: Tree
    least: int
    most: int | None
    kind: Literal["greedy", "lazy", "possessive"]


@dataclass(frozen=True)
class Atomic:
    """An item of which only the first way to match is tried."""

    item: Tree


Tree: TypeAlias = Characters | Look | Sequence | Choice | Repeat | Atomic


def can_be_empty(tree: Tree) -> bool:
    """Return whether a pattern can match without a character."""
    match tree:
        case Characters():
            return False
        case Look():
            return True
        case Sequence(items):
            return all(map(can_be_empty, items))
        case Choice(items):
            return any(map(can_be_empty, items))
        case Repeat(item, least):
            return least == 0 or can_be_empty(item)
        case Atomic(item):
            return can_be_empty(item)
