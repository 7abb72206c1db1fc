r"""Split patterns whose chunks are runs of characters of one kind, but for a few characters.

CLIP's pattern ``'s|'t|...|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+`` is one: without apostrophes, letters
make runs, digits stand alone, white space is dropped. A chunk with an apostrophe goes to the steps
in Python. All of this is read off the transducer of the pattern.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache, reduce
from itertools import chain, combinations, islice, product
from typing import TypeAlias

from toksmith._base.records import dataclass
from toksmith.errors import UnsupportedError
from toksmith.fusion import Unfused
from toksmith.splitters import ByteSpelling, PatternSplitter, Splitter, SplitterSequence
from toksmith.splitters.compiler import Automaton, compile_pattern
from toksmith.splitters.compiler.attempts import follow_attempts
from toksmith.splitters.compiler.automaton import DEAD
from toksmith.splitters.compiler.code_points import LIMIT, Partition
from toksmith.splitters.compiler.composition import compose
from toksmith.splitters.compiler.transducer import Transducer
from toksmith.stages.character_classes import WHITE_SPACE

_MOST_BOUND = 3
"""The most classes that may follow other rules."""

Pair: TypeAlias = "tuple[int, int]"
"""Two classes of characters that are side by side."""


@dataclass(frozen=True)
class PatternUnits:
    """The classes of a splitter by patterns, and what it does with each.

    Attributes:
        classes: the classes of characters.
        dropped: the classes that it drops.
        alone: the classes whose characters are chunks of their own.
        runs: the number of the run of each class: adjacent characters of one number make a chunk.
        bound: the classes whose characters, with their neighbours, follow other rules.
        inseparable: the pairs of classes between which a text must not be cut.
    """

    classes: Partition
    dropped: frozenset[int]
    alone: frozenset[int]
    runs: tuple[int, ...]
    bound: frozenset[int]
    inseparable: frozenset[Pair]

    @property
    def drops_white_space(self) -> bool:
        """Whether all white space is dropped."""
        return self.dropped >= {*self.classes.classes_of(WHITE_SPACE)}


@lru_cache(maxsize=16)
def find_pattern_units(splitter: Splitter) -> PatternUnits:
    r"""Return what a splitter by patterns does with single characters.

    Raises:
        Unfused: single characters do not decide, or it is another splitter.

    Example:
        >>> units = find_pattern_units(PatternSplitter(r"[a-z]+|\d", gaps="drop"))
        >>> letter, digit, dot = units.classes.classes_of("a1.")
        >>> letter in units.runs, digit in units.alone, dot in units.dropped
        (True, True, True)
    """
    steps = splitter.steps if isinstance(splitter, SplitterSequence) else (splitter,)
    if isinstance(steps[-1], ByteSpelling):
        steps = steps[:-1]
    refusal = Unfused(f"{splitter!r:.60} looks beyond single characters")
    if not steps or not all(isinstance(step, PatternSplitter) for step in steps):
        raise refusal
    patterns = [step for step in steps if isinstance(step, PatternSplitter)]
    if any(step.gaps == "drop" for step in patterns[1:]):
        raise refusal
    try:
        first, gap = _covering(patterns[0])
        later = (pattern for step in patterns for pattern in step.patterns)
        rest = map(compile_pattern, islice(later, 1, None))
        transducer = reduce(compose, map(follow_attempts, [first, *rest]))
    except UnsupportedError:
        raise refusal from None
    dropped = frozenset(transducer.classes.classes_of(gap))
    _, sure = transducer.cuts()
    kinds = range(transducer.classes.count)
    inseparable = frozenset((a, b) for a, b in product(kinds, kinds) if not sure[a] >> b & 1)
    marks = _marks(transducer.classes) - dropped
    for bound in chain.from_iterable(combinations(marks, size) for size in range(_MOST_BOUND + 1)):
        if (found := _decide(transducer, bound)) is not None:
            return PatternUnits(transducer.classes, dropped, *found, frozenset(bound), inseparable)
    raise refusal


def _covering(step: PatternSplitter) -> tuple[Automaton, str]:
    """Return an automaton of the chunks, and one character of each class that is dropped.

    Raises:
        UnsupportedError: the pattern is outside the subset, or single characters do not decide
            what is dropped.
    """
    plain = compile_pattern(step.pattern)
    if step.gaps == "keep" or plain.covers():
        return plain, ""
    kinds = plain.classes
    outside = [k for k in range(kinds.count) if all(row[k] == DEAD for row in plain.next)]
    ends = (*kinds.starts[1:], LIMIT)
    gap = "".join(
        f"\\U{start:08x}-\\U{end - 1:08x}"
        for start, end, kind in zip(kinds.starts, ends, kinds.classes, strict=True)
        if kind in outside
    )
    covering = compile_pattern(f"{step.pattern}|[{gap}]+") if gap else plain
    if not covering.covers():
        raise UnsupportedError("what it drops depends on more than one character")
    firsts = kinds.first_members()
    return covering, "".join(chr(firsts[kind]) for kind in outside)


def _marks(classes: Partition) -> set[int]:
    """Return the classes of which all characters are ASCII and neither letters nor digits."""
    others = [chr(code) for code in range(128) if not chr(code).isalnum()]
    beyond = {kind for start, kind in zip(classes.starts, classes.classes, strict=True)
              if start >= 128}  # fmt: skip
    rest = "".join(chr(code) for code in range(128) if chr(code).isalnum()) + "\x80"
    return {*classes.classes_of("".join(others))} - beyond - {*classes.classes_of(rest)}


def _decide(
    transducer: Transducer, bound: Collection[int]
) -> tuple[frozenset[int], tuple[int, ...]] | None:
    """Return which classes stand alone, and the run of each, in texts without some classes.

    ``None`` if the chunks of such texts are not runs.
    """
    kinds = [kind for kind in range(transducer.classes.count) if kind not in bound]
    cut: dict[Pair, bool] = {}
    todo, seen = [0], {0}
    while todo:
        state = todo.pop()
        for kind in kinds:
            following = transducer.next[state][kind]
            for other in kinds:
                ends = transducer.ends[following][other]
                if ends not in ((), (0,)):  # an end becomes certain later
                    return None
                if cut.setdefault((kind, other), bool(ends)) != bool(ends):
                    return None
            if following not in seen:
                seen.add(following)
                todo.append(following)
    alone = frozenset(kind for kind in kinds if cut[kind, kind])
    runs = list(range(transducer.classes.count))
    for kind, other in product(kinds, kinds):
        if not cut[kind, other] and kind not in alone:
            runs[other] = min(runs[other], runs[kind])
    for pair in product(kinds, kinds):
        one, other = pair
        if cut[pair] == (one not in alone and runs[one] == runs[other]):
            return None
    return alone, tuple(runs)
