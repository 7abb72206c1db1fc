"""Sets of code points as sorted ranges, and the classes that several sets tell apart."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import TypeAlias

from toksmith._base.records import dataclass

CodePoints: TypeAlias = tuple[int, ...]
"""A set of code points: where it begins, ends (exclusive), begins again, and so on, ascending."""

LIMIT = 0x110000
EVERY: CodePoints = (0, LIMIT)
NONE: CodePoints = ()


def from_ranges(ranges: Iterable[tuple[int, int]]) -> CodePoints:
    """Return the set of some ranges, each from its first code point to its last.

    Example:
        >>> from_ranges([(97, 98), (99, 99), (48, 57)])
        (48, 58, 97, 100)
    """
    return union(*((first, last + 1) for first, last in ranges))


@lru_cache(maxsize=256)
def union(*sets: CodePoints) -> CodePoints:
    """Return the code points that are in any of the sets.

    Example:
        >>> union((65, 91), (97, 123), (90, 97))
        (65, 123)
    """
    if len(sets) == 1:
        return sets[0]
    places: list[int] = []
    last = -1  # the end of the last range
    for start, end in sorted(chain.from_iterable(zip(s[::2], s[1::2], strict=True) for s in sets)):
        if start > last:
            places += (start, end)
            last = end
        elif end > last:
            places[-1] = last = end
    return tuple(places)


def complement(points: CodePoints) -> CodePoints:
    """Return all other code points.

    Example:
        >>> complement((0, 65)), complement(())
        ((65, 1114112), (0, 1114112))
    """
    start = points[1:] if points[:1] == (0,) else (0, *points)
    return start[:-1] if start[-1:] == (LIMIT,) else (*start, LIMIT)


def intersection(*sets: CodePoints) -> CodePoints:
    """Return the code points that are in all of the sets.

    Example:
        >>> intersection((0, 100), (65, 91, 97, 123))
        (65, 91, 97, 100)
    """
    return complement(union(*map(complement, sets)))


@dataclass(frozen=True)
class Partition:
    """All code points, cut into the classes that some sets tell apart.

    Attributes:
        starts: the first code point of each run of one class, ascending from 0.
        classes: the class of each run; they are numbered in the order of their first members.
        count: the number of classes.
    """

    starts: tuple[int, ...]
    classes: tuple[int, ...]
    count: int

    def classes_of(self, text: str) -> list[int]:
        """Return the class of each character."""
        found = {c: self.classes[bisect_right(self.starts, ord(c)) - 1] for c in set(text)}
        return [found[c] for c in text]

    def first_members(self) -> list[int]:
        """Return the first code point of each class."""
        return [self.starts[self.classes.index(each)] for each in range(self.count)]

    def merge(self, merged: Sequence[int]) -> Partition:
        """Return the partition with other numbers of the classes, of which some may be equal."""
        starts: list[int] = []
        classes: list[int] = []
        for start, old in zip(self.starts, self.classes, strict=True):
            if not classes or merged[old] != classes[-1]:
                starts.append(start)
                classes.append(merged[old])
        return Partition(tuple(starts), tuple(classes), len(set(classes)))


def partition(sets: Sequence[CodePoints]) -> tuple[Partition, list[int]]:
    """Cut all code points into classes, so that each set is a union of classes.

    Returns:
        The classes, and for each set a mask in which bit c is set if it holds class c.

    Example:
        >>> classes, masks = partition([(48, 58), (50, 51)])
        >>> classes.starts, classes.classes, masks
        ((0, 48, 50, 51, 58), (0, 1, 2, 1, 0), [6, 4])
    """
    members: dict[int, int] = {0: 0}  # at each place: the sets that begin or end there
    for index, points in enumerate(sets):
        for place in points:
            members[place] = members.get(place, 0) ^ 1 << index
    members.pop(LIMIT, None)
    number: dict[int, int] = {}  # of the class that is in these sets
    starts = sorted(members)
    classes: list[int] = []
    inside = 0
    for place in starts:
        inside ^= members[place]
        classes.append(number.setdefault(inside, len(number)))
    masks = [
        sum(1 << each for of, each in number.items() if of >> index & 1)
        for index in range(len(sets))
    ]
    return Partition(tuple(starts), tuple(classes), len(number)), masks


def common_classes(partitions: Sequence[Partition]) -> tuple[Partition, list[list[int]]]:
    """Return the classes that several partitions tell apart.

    Returns:
        The classes, and for each partition its class of each of them.
    """
    starts = sorted({start for each in partitions for start in each.starts})
    columns = []
    for each in partitions:
        at = dict(zip(each.starts, each.classes, strict=True))
        column: list[int] = []
        for start in starts:
            column.append(at.get(start, column[-1] if column else 0))
        columns.append(column)
    number: dict[tuple[int, ...], int] = {}
    kinds = [number.setdefault(both, len(number)) for both in zip(*columns, strict=True)]
    common = Partition(tuple(starts), tuple(kinds), len(number)).merge(range(len(number)))
    return common, [list(column) for column in zip(*number, strict=True)]
