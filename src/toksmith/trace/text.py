"""Formats an explanation and its steps as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from toksmith._base.checks import assert_never
from toksmith._base.visible import count_of, shorten, visible, visible_start
from toksmith.trace.steps import (
    MatchStep,
    MergeStep,
    PathStep,
    SplitStep,
    TraceStep,
    TraceSymbol,
    UnknownWordStep,
)

if TYPE_CHECKING:
    from toksmith.trace.explain import ChunkTrace, Explanation

Names: TypeAlias = Callable[[TraceSymbol], str]
"""A function from a symbol to its text."""

_MOST, _AROUND = 40, 12
_MOST_CHUNKS, _MOST_STEPS, _MOST_IDS = 100, 500, 200
"""The most chunks, steps and ids that are printed."""
_LONGEST = 2000
"""Characters of the longest text that is printed."""


def format_explanation(explanation: Explanation) -> str:
    """Return an explanation as text, line by line."""
    size, chunks, tokens = len(explanation.text), explanation.chunks, explanation.ids
    lines = [
        f"'{_line(explanation.text)}': {count_of(size, 'byte')}, "
        f"{count_of(len(chunks), 'chunk')}, {count_of(len(tokens), 'token')}"
    ]
    if explanation.normalized != explanation.text:
        lines.append(f"normalized: '{_line(explanation.normalized)}'")

    if explanation.engine and not explanation.engine.startswith("kernel"):
        lines.append(f"runs with its {explanation.engine}")

    name = _names(explanation)
    room = _MOST_STEPS
    for number, chunk in enumerate(chunks, 1):
        if number > _MOST_CHUNKS or room <= 0:
            rest = count_of(len(chunks) - number + 1, "more chunk")
            lines.append(f"\n… {rest}: .chunks has all of them")
            break
        lines.append(_chunk(number, chunk, name, room))
        room -= len(chunk.steps)
    if explanation.of_token is not None and not explanation.reached:
        token = explanation.of_token
        lines.append(f"\n{name(token)} {token} does not come out of its own bytes")
    return "\n".join(lines)


def format_steps(chunk: ChunkTrace, explanation: Explanation) -> list[tuple[str, str]]:
    """Return the state of a chunk after each of its steps, and a description of the step."""
    return [format_step(step, _names(explanation)) for step in chunk.steps]


def _names(explanation: Explanation) -> Names:
    def name(symbol: TraceSymbol) -> str:
        return visible_start(explanation.vocab[symbol] if isinstance(symbol, int) else symbol)

    return name


def _line(text: bytes) -> str:
    """Return a text on one line; of a long one, the start."""
    return shorten(visible(text[:_LONGEST]) + "…" * (len(text) > _LONGEST), _LONGEST)


def _chunk(number: int, chunk: ChunkTrace, name: Names, room: int) -> str:
    """Return a chunk with its first steps, as many as there is room for."""
    lines = [f"\nchunk {number}: '{_line(chunk.text)}'"]
    if chunk.whole:
        also = "; merging comes to the same:" if chunk.steps else ""
        lines.append(f"    is a token as it stands{also}")
    if chunk.start and (chunk.steps or not chunk.whole):
        lines.append(f"    {_state(chunk.start, name)}")
    rows = [format_step(step, name) for step in chunk.steps[:room]]
    width = max((len(state) for state, _ in rows), default=0)
    lines += [f"    {state.ljust(width)}    {why}" for state, why in rows]
    if (more := len(chunk.steps) - room) > 0:
        rest = count_of(more, "more step")
        lines.append(f"    … {rest}: .chunks[{number - 1}].steps has all of them")
    tokens = ", ".join(f"{name(token)} {token}" for token in chunk.ids[:_MOST_IDS])
    if (more := len(chunk.ids) - _MOST_IDS) > 0:
        tokens += f", … {count_of(more, 'more token')}"
    return "\n".join([*lines, f"  = {tokens or 'no token'}"])


def format_step(step: TraceStep, name: Names) -> tuple[str, str]:
    """Return the state of a chunk after a step, and a description of the step.

    Args:
        step: the step.
        name: returns the text of a symbol.
    """
    match step:
        case MergeStep():
            left, right = map(name, step.pair)
            rank = f"merge {step.rank}" if isinstance(step.rank, int) else f"score {step.rank:g}"
            return _state(step.after, name, step.position), f"{left} + {right}, {rank}"
        case SplitStep():
            return " ".join(
                map(name, step.parts)
            ), f"{name(step.piece)} is unused: it is taken apart"
        case MatchStep():
            if step.token is None:
                return visible_start(step.rest[: step.size]), "is unknown"
            return name(step.token), f"is the longest token at '{visible_start(step.rest)}'"
        case UnknownWordStep():
            why = (
                f"no token fits at '{visible_start(step.rest)}'"
                if step.rest
                else "it has too many characters"
            )
            return visible_start(step.word), f"is unknown as a whole: {why}"
        case PathStep():
            which = "the best way" if step.best else "the best of all others"
            scores = " ".join(f"{score:+.4g}" for score in step.scores) + " = "
            score = (scores if len(step.scores) <= _MOST else "") + f"{step.score:.6g}"
            pieces = " ".join(map(name, step.pieces))
            return pieces if step.best else _state(
                step.pieces, name, step.position
            ), f"{which}: {score}"
        case _:
            assert_never(step)


def _state(symbols: Sequence[TraceSymbol], name: Names, position: int = 0) -> str:
    """Return all symbols of a short chunk; of a long one those around a position."""
    if len(symbols) <= _MOST:
        return " ".join(map(name, symbols))
    start, end = max(position - _AROUND, 0), position + 1 + _AROUND
    before, after = ["…"] * (start > 0), ["…"] * (end < len(symbols))
    return " ".join([*before, *map(name, symbols[start:end]), *after])
