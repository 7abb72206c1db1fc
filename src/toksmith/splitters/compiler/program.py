"""Turns a tree into a program for a set of threads, in order of priority (Pike's machine).

A thread runs at one place of the program. ``Fork`` makes two, the first of which has priority; this
is what a backtracking engine tries first. Sets are masks over the classes of characters, and the
bit after the last class is the edge of the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from toksmith._base.records import dataclass
from toksmith.errors import UnsupportedError
from toksmith.splitters.compiler.code_points import CodePoints, Partition, complement, partition
from toksmith.splitters.compiler.tree import (
    Atomic,
    Characters,
    Choice,
    Look,
    Repeat,
    Sequence,
    Tree,
    can_be_empty,
)

MOST_INSTRUCTIONS = 10_000


@dataclass(frozen=True)
class Take:
    """Go on to the next instruction with a character of these classes."""

    mask: int


@dataclass(frozen=True)
class Check:
    """Go on to the next instruction if the next or last character is of these classes."""

    mask: int
    behind: bool


@dataclass(frozen=True)
class Fork:
    """Go on at two places, the first of which has priority."""

    first: int
    second: int


@dataclass(frozen=True)
class Jump:
    """Go on at another place."""

    target: int


@dataclass(frozen=True)
class Match:
    """The characters taken so far match."""


Instruction: TypeAlias = Take | Check | Fork | Jump | Match


@dataclass(frozen=True)
class Program:
    """The instructions of a pattern, from the first on, and its classes of characters."""

    code: tuple[Instruction, ...]
    classes: Partition


def make_program(tree: Tree) -> Program:
    """Return the program of a tree.

    Raises:
        UnsupportedError: an atomic group or a repetition is outside the subset, or the program is
            too long.
    """
    tree = _without_possessive(tree, True)
    sets = list(dict.fromkeys(_sets(tree)))
    classes, masks = partition(sets)
    writer = _Writer(dict(zip(sets, masks, strict=True)), 1 << classes.count)
    writer.write(tree)
    return Program((*writer.code, Match()), classes)


def _sets(tree: Tree) -> Iterator[CodePoints]:
    match tree:
        case Characters(points) | Look(points):
            yield points
        case Sequence(items) | Choice(items):
            for item in items:
                yield from _sets(item)
        case Repeat(item) | Atomic(item):
            yield from _sets(item)


def _without_possessive(tree: Tree, is_last: bool) -> Tree:
    """Return an equal tree without atomic groups and possessive repetitions.

    Args:
        tree: the tree.
        is_last: whether nothing follows it, so that nothing can make it give characters back.
    """
    match tree:
        case Sequence(items):
            *before, last = items or (tree,)
            if last is tree:
                return tree
            return Sequence(
                (
                    *(_without_possessive(item, False) for item in before),
                    _without_possessive(last, is_last),
                )
            )
        case Choice(items):
            return Choice(tuple(_without_possessive(item, is_last) for item in items))
        case Repeat(Characters(points), least, most, "possessive"):
            return _possessive(points, least, most)
        case Repeat(item, least, most, kind):
            if kind == "possessive" and not is_last:
                raise UnsupportedError(
                    "a possessive repetition of more than one set is followed by other items"
                )
            is_last = is_last and kind != "possessive" and most == 1
            kind = "greedy" if kind == "possessive" else kind
            return Repeat(_without_possessive(item, is_last), least, most, kind)
        case Atomic(Repeat(Characters(points), least, most, "greedy")):
            return _possessive(points, least, most)
        case Atomic(item):
            if not is_last and not isinstance(item, Characters | Look):
                raise UnsupportedError("an atomic group is followed by other items")
            return _without_possessive(item, is_last)
        case Characters() | Look():
            return tree


def _possessive(points: CodePoints, least: int, most: int | None) -> Tree:
    """Return a loop over a set that never stops early: then no character of the set is next."""
    one, stop = Characters(points), Look(complement(points), True)
    if most is None:
        return Sequence((Repeat(one, least, None, "greedy"), stop))
    rest: Tree = Sequence(())
    for _ in range(most - least):
        rest = Choice((Sequence((one, rest)), stop))
    return Sequence((Repeat(one, least, least, "greedy"), rest))


class _Writer:
    """Writes the instructions of a tree one after the other."""

    def __init__(self, masks: dict[CodePoints, int], edge: int) -> None:
        self.code: list[Instruction] = []
        self.masks = masks
        self.edge = edge

    def write(self, tree: Tree) -> None:
        if len(self.code) > MOST_INSTRUCTIONS:
            raise UnsupportedError(f"it needs more than {MOST_INSTRUCTIONS:,} instructions")
        match tree:
            case Characters(points):
                self.code.append(Take(self.masks[points]))
            case Look(points, at_edge, behind):
                self.code.append(Check(self.masks[points] | self.edge * at_edge, behind))
            case Sequence(items):
                for item in items:
                    self.write(item)
            case Choice(items):
                self.choose(items)
            case Repeat():
                self.repeat(tree)
            case Atomic():  # _without_possessive leaves none
                raise AssertionError

    def hold(self) -> int:
        """Leave a place for an instruction, and return it."""
        self.code.append(Match())
        return len(self.code) - 1

    def choose(self, items: tuple[Tree, ...]) -> None:
        ends = []
        for item in items[:-1]:
            fork = self.hold()
            self.write(item)
            ends.append(self.hold())
            self.code[fork] = Fork(fork + 1, len(self.code))
        self.write(items[-1])
        for end in ends:
            self.code[end] = Jump(len(self.code))

    def repeat(self, tree: Repeat) -> None:
        if tree.most not in (0, 1) and can_be_empty(tree.item):
            # Engines differ in where they stop such a loop.
            raise UnsupportedError("a repeated item can match without a character")
        for _ in range(tree.least):
            self.write(tree.item)
        if tree.most is None:
            fork = self.hold()
            self.write(tree.item)
            self.code.append(Jump(fork))
            self.code[fork] = self.fork(fork + 1, len(self.code), tree)
            return
        forks = []
        for _ in range(tree.most - tree.least):
            forks.append(self.hold())
            self.write(tree.item)
        for fork in forks:
            self.code[fork] = self.fork(fork + 1, len(self.code), tree)

    def fork(self, inside: int, after: int, tree: Repeat) -> Fork:
        return Fork(after, inside) if tree.kind == "lazy" else Fork(inside, after)
