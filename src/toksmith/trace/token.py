"""Traces a token of the vocabulary by itself, without a text."""

from __future__ import annotations

from toksmith.models import (
    CharacterBPE,
    Model,
    WordPiece,
)
from toksmith.models.pieces import Pieces, PieceType
from toksmith.pipeline import Pipeline
from toksmith.reference import bpe, character_bpe
from toksmith.reference.tokens import ChunkModel, Token
from toksmith.trace.models import Stepper, trace_merges
from toksmith.trace.steps import MatchStep, MergeStep, Steps

_TEXT = (PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED)


def is_text(pipeline: Pipeline, token_id: int) -> bool:
    """Return whether the model looks for a token's text.

    Added tokens are found before the model runs; SentencePiece's control, byte and unknown pieces
    are not looked for.
    """
    if any(added.id == token_id for added in pipeline.framing.added_tokens):
        return False
    model = pipeline.model
    return not isinstance(model, Pieces) or model.types[token_id] in _TEXT


def token_steps(
    model: Model, token: bytes, token_id: int, run: ChunkModel, step: Stepper
) -> tuple[bytes, Steps, tuple[Token, ...]]:
    """Return a token's text, the model's steps on it, and the resulting tokens.

    Args:
        model: the model.
        token: the token as the vocabulary spells it.
        token_id: its id.
        run: the function that encodes a chunk.
        step: the function that records the steps.
    """
    match model:
        case WordPiece():
            text = token.removeprefix(model.prefix.encode())
            if not model.prefix or not text or text == token:
                return token, step(token), tuple(run(token))
            found = Token(model.ids[token], 0, len(text))
            return text, Steps(steps=(MatchStep(text, token, len(text)),)), (found,)
        case CharacterBPE():
            return _explain_character_bpe(model, token, token_id, run, step)
        case _:
            return token, step(token), tuple(run(token))


def _explain_character_bpe(
    model: CharacterBPE, token: bytes, token_id: int, run: ChunkModel, step: Stepper
) -> tuple[bytes, Steps, tuple[Token, ...]]:
    prefix, suffix = model.continuing_prefix.encode(), model.word_suffix.encode()
    is_inside = bool(prefix) and token.startswith(prefix)
    goes_on = bool(suffix) and not token.endswith(suffix)
    text = token.removeprefix(prefix).removesuffix(suffix)
    if not text or not (is_inside or goes_on):
        return text, step(text), tuple(run(text))
    # One more character on a side, so that those of the token are spelled as inside a word.
    letters = text.decode(errors="replace")
    before, after = letters[:1] * is_inside, letters[-1:] * goes_on
    first, last = len(before.encode()), len((before + letters).encode())
    symbols = character_bpe.symbols(model, (before + letters + after).encode())
    inside = [s for s in symbols if first <= s.start and s.end <= last]
    steps = trace_merges(bpe.merge_table(model), tuple(symbol.id for symbol in inside), None)
    for step_taken in steps.steps:
        if isinstance(step_taken, MergeStep) and isinstance(step_taken.new, int):
            at = step_taken.position
            whole = Token(step_taken.new, inside[at].start, inside[at + 1].end)
            inside[at : at + 2] = [whole]
    moved = (s._replace(start=s.start - first, end=s.end - first) for s in inside)
    return text, steps, tuple(moved)
