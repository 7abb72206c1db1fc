"""The splitters that the kernel can run: published families, and tables made of patterns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from toksmith import _kernel
from toksmith.errors import UnsupportedError
from toksmith.splitters import (
    Digits,
    PatternSplitter,
    Punctuation,
    Split,
    Splitter,
    SplitterSequence,
)

if TYPE_CHECKING:
    from toksmith.splitters.compiler import Automaton
    from toksmith.splitters.compiler.transducer import Transducer

MOST_TABLES = 6
"""The most tables that the kernel runs one after the other."""


@lru_cache(maxsize=64)
def kernel_splitter(splitter: Splitter | None) -> _kernel.Splitter:
    r"""Return a splitter as the kernel runs it.

    Raises:
        UnsupportedError: the kernel cannot run it; the message says why.
    """
    if splitter is None:
        return _kernel.Splitter("none")
    if isinstance(splitter, PatternSplitter) and splitter.family:
        return _kernel.Splitter(splitter.family.name)
    from toksmith.splitters.compiler import compile_pattern  # known families do not need it

    automata = [compile_pattern(pattern) for pattern in patterns_of(splitter)]
    return _kernel.Splitter(_tables(_transducers(automata)))


def patterns_of(splitter: Splitter) -> list[str]:
    r"""Return the patterns whose matches, and the gaps between, are a splitter's chunks.

    Several patterns split one after the other.

    Raises:
        UnsupportedError: the splitter does more than cut a text on both sides of matches.

    Example:
        >>> patterns_of(SplitterSequence((Split(r"\d", "contiguous"), PatternSplitter(r"\S+"))))
        ['(?:\\d)+', '\\S+']
    """
    match splitter:
        case SplitterSequence():
            return [pattern for step in splitter.steps for pattern in patterns_of(step)]
        case PatternSplitter(gaps="keep"):
            return [*splitter.patterns]
        case PatternSplitter():
            raise UnsupportedError("text that its pattern does not match is dropped")
        case Digits():
            return [_class_of("NUMBER") + ("" if splitter.individual else "+")]
        case Split(pattern, "isolated" | "contiguous" as behavior) if splitter.is_regex:
            return [pattern if behavior == "isolated" else f"(?:{pattern})+"]
        case Punctuation("isolated"):
            return [_class_of("PUNCTUATION")]
        case Punctuation("contiguous"):
            return [_class_of("PUNCTUATION") + "+"]
    raise UnsupportedError(f"{type(splitter).__name__} is not a pattern")


@cache
def _class_of(name: str) -> str:
    """Return a class of the tables of `tokenizers` as a pattern."""
    from toksmith.stages.character_classes import ranges

    return "[" + "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges(name)) + "]"


def _transducers(automata: Sequence[Automaton]) -> list[Transducer]:
    """Return transducers that do one after the other what the automata do, as few as possible.

    The last one does as much as it can, so that those before it cut the text into long pieces. If
    two are left, one comes before them that does the work of both until it loses track.
    """
    from toksmith.splitters.compiler.attempts import follow_attempts
    from toksmith.splitters.compiler.composition import compose

    found: list[Transducer] = []
    for automaton in reversed(automata):
        first = follow_attempts(automaton)
        if found:
            with suppress(UnsupportedError):
                found[0] = compose(first, found[0])
                continue
        found.insert(0, first)
    if len(found) == 2:
        with suppress(UnsupportedError):
            found.insert(0, compose(*found, may_lose=True))
    if len(found) > MOST_TABLES:
        raise UnsupportedError(f"it takes more than {MOST_TABLES} passes over the text")
    return found


def _tables(transducers: Sequence[Transducer]) -> list[_kernel.SplitTable]:
    from toksmith.splitters.compiler.cuts import sure_cuts

    whole = transducers[0]
    chain = transducers if whole.lost is None else transducers[1:]
    return [_table(each, sure_cuts(each.classes, chain)) for each in transducers]


def _table(transducer: Transducer, sure_cuts: list[int]) -> _kernel.SplitTable:
    from toksmith.splitters.compiler.transducer import FAR

    table = _kernel.SplitTable
    actions = []
    for state, (ends, marks) in enumerate(zip(transducer.ends, transducer.marks, strict=True)):
        for kind, places in enumerate(ends):
            action = 0
            for back in places:
                action |= table.END_AT_REGISTER if back == FAR else 1 << (FAR - 1 - back)
            if kind < len(marks):
                action |= table.MARK if marks[kind] else 0
                action |= table.FREE if transducer.is_free(state, kind) else 0
            actions.append(action)
    classes = transducer.classes
    following = [state for row in transducer.next for state in row]
    try:
        return table(classes.starts, classes.classes, following, actions, sure_cuts)
    except ValueError:
        raise UnsupportedError("its tables are too large") from None
