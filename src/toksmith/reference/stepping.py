"""Each kind of model, once more on one chunk, writing down what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import singledispatch
from itertools import groupby
from typing import TypeAlias

from toksmith.models import BPE, LongestMatch, Model, WordLevel, WordPiece
from toksmith.reference import bpe, wordpiece, words
from toksmith.reference.steps import MatchStep, MergeStep, Steps, UnknownWordStep
from toksmith.reference.wordpiece import character_places

Stepper: TypeAlias = Callable[[bytes], Steps]
"""What says how a chunk came to its tokens."""


@singledispatch
def stepper(model: Model) -> Stepper:
    """Return what writes down the steps of a model."""
    return lambda _: Steps()


@stepper.register
def _(model: BPE) -> Stepper:
    table = bpe.merge_table(model)

    def run(chunk: bytes) -> Steps:
        start = tuple(model.byte_ids[byte] for byte in chunk)
        if model.whole_chunk_first and chunk in model.ids:
            return Steps(start, whole=True)
        return Steps(start, tuple(_merges(table, start)))

    return run


def _merges(table: dict[bpe.Pair, bpe.Merge], start: tuple[int, ...]) -> Iterator[MergeStep]:
    before = start
    for merged, position in bpe.merge_steps(table, start):
        pair = (before[position], before[position + 1])
        rank, new = table[pair]
        after = tuple(merged)
        yield MergeStep(before, pair, rank, new, position, after)
        before = after


@stepper.register
def _(model: WordPiece) -> Stepper:
    def run(chunk: bytes) -> Steps:
        characters = len(character_places(chunk)) - 1
        if characters > model.max_characters:
            return Steps(steps=(UnknownWordStep(chunk, None),))
        tries = groupby(wordpiece.attempts(model, chunk), key=lambda attempt: attempt.start)
        return Steps(steps=tuple(_longest(chunk, *group) for _, group in tries))

    return run


def _longest(chunk: bytes, *tries: wordpiece.Attempt) -> MatchStep | UnknownWordStep:
    """Return the step of the tries at one place: only the last can have found a token."""
    last = tries[-1]
    rest = chunk[last.start :]
    if last.id is None:
        return UnknownWordStep(chunk, rest)
    return MatchStep(rest, last.token, last.end - last.start)


@stepper.register
def _(model: WordLevel) -> Stepper:
    def run(chunk: bytes) -> Steps:
        found = chunk in model.ids
        return Steps((), () if found else (MatchStep(chunk, None, len(chunk)),), whole=found)

    return run


@stepper.register
def _(model: LongestMatch) -> Stepper:
    def run(chunk: bytes) -> Steps:
        steps = []
        done = 0
        for token in words.encode_longest(model, chunk):
            if token.start > done:  # unknown, and the model has no token for it
                steps.append(MatchStep(chunk[done:], None, token.start - done))
            found = None if token.id == model.unk_id else model.vocab[token.id]
            steps.append(MatchStep(chunk[token.start :], found, token.end - token.start))
            done = token.end
        if done < len(chunk):
            steps.append(MatchStep(chunk[done:], None, len(chunk) - done))
        return Steps(steps=tuple(steps))

    return run
