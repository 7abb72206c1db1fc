"""The splitters that the kernel can run: published families, and tables made of patterns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from toksmith.engine.compiled import _kernel
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
    from toksmith.models import BPE
    from toksmith.splitters.compiler import Automaton
    from toksmith.splitters.compiler.transducer import Transducer

MOST_TABLES = 6
"""The most tables that the kernel runs one after the other."""

WORDS = r"(?:\P{L}|\p{L}(?! ))+\p{L}?|\p{L}"
"""Matches up to where a letter has a space after it."""


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
    return _kernel.Splitter(_tables(_transducers_of(splitter)))


def splitter_for(model: BPE, splitter: Splitter | None) -> _kernel.Splitter:
    """Return a splitter as the kernel runs it before a model.

    Phrases, which rarely repeat as a whole, are cut into words, which do. That changes no id if no
    token has a letter with a space after it: then no merge reaches across.

    Raises:
        UnsupportedError: the kernel cannot run it; the message says why.
    """
    plain = kernel_splitter(splitter)
    words = None if splitter is None else _split_into_words(splitter)
    return words if words is not None and not _joins_words(model) else plain


@lru_cache(maxsize=64)
def _split_into_words(splitter: Splitter) -> _kernel.Splitter | None:
    """Return a splitter that also cuts between letters and spaces, if some chunks have both."""
    if isinstance(splitter, PatternSplitter) and splitter.family:
        return None
    from toksmith.splitters.compiler import compile_pattern
    from toksmith.splitters.compiler.composition import compose, make_transducer

    whole, *chain = _transducers_of(splitter)
    kinds = whole.classes.classes_of("ab ab")
    if chain or 2 in whole.ends_in(kinds):
        return None
    try:
        return _kernel.Splitter(_tables([compose(whole, make_transducer(compile_pattern(WORDS)))]))
    except UnsupportedError:
        return None


def _joins_words(model: BPE) -> bool:
    """Return whether a cut between a letter and a space might change ids."""
    from toksmith.splitters.compiler import compile_pattern

    joined = re.findall(rb"[A-Za-z\x80-\xff]+ ", b"\0".join(model.vocab))
    # A part of a character decodes to surrogates.
    text = b"\0".join(joined).decode("utf-8", "surrogateescape")
    if compile_pattern(r"[\p{L}\p{Cs}] ").spans(text) or model.missing_bytes:
        return True
    if not model.whole_chunk_first:
        return False
    # A word must not be taken for a chunk that is a token although no merge makes it.
    if not model.by_ranks:
        return True
    made = {*_kernel.recover_merges(model.vocab).reshape(-1, 3)[:, 2].tolist()}
    return any(len(token) > 1 and each not in made for each, token in enumerate(model.vocab))


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


@lru_cache(maxsize=64)
def _transducers_of(splitter: Splitter) -> list[Transducer]:
    from toksmith.splitters.compiler import compile_pattern  # known families do not need it

    return _transducers([compile_pattern(pattern) for pattern in patterns_of(splitter)])


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
    from toksmith.splitters.compiler.transducer import MOST_BACK

    table = _kernel.SplitTable
    actions = []
    for state, (ends, marks) in enumerate(zip(transducer.ends, transducer.marks, strict=True)):
        for kind, places in enumerate(ends):
            action = 0
            for back in places:
                action |= (
                    table.END_AT_REGISTER if back == MOST_BACK else 1 << (MOST_BACK - 1 - back)
                )
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
