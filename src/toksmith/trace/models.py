"""Records the steps of each kind of model on one chunk, or on a token without a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

from toksmith.models import (
    BPE,
    CharacterBPE,
    LongestMatch,
    Model,
    SentencePieceBPE,
    Unigram,
    WordLevel,
    WordPiece,
)
from toksmith.models.pieces import Pieces, PieceType
from toksmith.pipeline import Pipeline
from toksmith.reference import (
    ChunkModel,
    Token,
    bpe,
    character_bpe,
    longest_match,
    sentencepiece_bpe,
    unigram,
    unigram_sampling,
    wordpiece,
)
from toksmith.reference.wordpiece import character_places
from toksmith.trace.steps import (
    MatchStep,
    MergeStep,
    PathStep,
    SplitStep,
    Steps,
    UnknownWordStep,
)

Stepper: TypeAlias = Callable[[bytes], Steps]
"""A function from a chunk to the steps of its encoding."""


def stepper(model: Model) -> Stepper:
    """Return the function that records the steps of a model; other models record none."""
    match model:
        case BPE():
            return _trace_bpe(model)
        case CharacterBPE():
            return _trace_character_bpe(model)
        case SentencePieceBPE():
            return _trace_sentencepiece_bpe(model)
        case Unigram():
            return _trace_unigram(model)
        case WordPiece():
            return _trace_wordpiece(model)
        case WordLevel():
            return _trace_word_level(model)
        case LongestMatch():
            return _trace_longest_match(model)
        case _:
            return lambda chunk: Steps()


def _trace_bpe(model: BPE) -> Stepper:
    table = bpe.merge_table(model)

    def run(chunk: bytes) -> Steps:
        start = tuple(token.id for token in bpe.first_tokens(model, chunk))
        whole = model.ids.get(chunk) if model.whole_chunk_first else None
        return trace_merges(table, start, whole)

    return run


def trace_merges(
    table: dict[bpe.Pair, bpe.Merge], start: tuple[int, ...], whole: int | None
) -> Steps:
    """Return the merges of symbols; ``whole`` is the chunk's token if it is looked up first."""
    steps = tuple(_merges(table, start))
    if whole is not None and (steps[-1].after if steps else start) != (whole,):
        steps = ()
    return Steps(start, steps, whole is not None)


def _merges(table: dict[bpe.Pair, bpe.Merge], start: tuple[int, ...]) -> Iterator[MergeStep]:
    before = start
    for merged, position in bpe.merge_steps(table, start):
        pair = (before[position], before[position + 1])
        rank, new = table[pair]
        after = tuple(merged)
        yield MergeStep(before, pair, rank, new, position, after)
        before = after


def _trace_character_bpe(model: CharacterBPE) -> Stepper:
    table = bpe.merge_table(model)

    def run(chunk: bytes) -> Steps:
        start = tuple(token.id for token in character_bpe.symbols(model, chunk))
        whole = model.ids.get(chunk) if model.whole_chunk_first else None
        return trace_merges(table, start, whole)

    return run


def _trace_sentencepiece_bpe(model: SentencePieceBPE) -> Stepper:
    merger = sentencepiece_bpe.Merger(model)

    def run(chunk: bytes) -> Steps:
        symbols = merger.symbols(chunk)
        start = before = _texts(chunk, symbols)
        steps: list[MergeStep | SplitStep] = []
        for merged, position in merger.merge_steps(chunk, symbols):
            symbols, after = merged, _texts(chunk, merged)
            pair, new = (before[position], before[position + 1]), after[position]
            score = float(model.scores[model.ids[new]])
            steps.append(MergeStep(before, pair, score, new, position, after))
            before = after
        for symbol in symbols:
            parts = _texts(chunk, list(merger.in_use(chunk, symbol)))
            if len(parts) > 1:
                steps.append(SplitStep(chunk[symbol.start : symbol.end], parts))
        return Steps(start, tuple(steps))

    return run


def _trace_unigram(model: Unigram) -> Stepper:
    lattice = unigram.Lattice(model)

    def run(chunk: bytes) -> Steps:
        taken = unigram.viterbi(lattice, chunk)
        edges = tuple(e for place in unigram.starts(chunk) for e in lattice.edges(chunk, place))
        best = PathStep(_texts(chunk, taken), tuple(edge.score for edge in taken), best=True)
        for other, _ in unigram_sampling.nbest_paths(lattice, chunk, 2):
            pieces, scores = _texts(chunk, other), tuple(edge.score for edge in other)
            if pieces != best.pieces:
                pairs = enumerate(zip(pieces, best.pieces, strict=False))
                position = next(place for place, (one, two) in pairs if one != two)
                other_way = PathStep(pieces, scores, False, position)
                return Steps(steps=(best, other_way), edges=edges)
        return Steps(steps=(best,), edges=edges)

    return run


def _texts(
    chunk: bytes, parts: Sequence[sentencepiece_bpe.PieceSymbol | unigram.Edge]
) -> tuple[bytes, ...]:
    return tuple(chunk[part.start : part.end] for part in parts)


def _trace_wordpiece(model: WordPiece) -> Stepper:
    def run(chunk: bytes) -> Steps:
        characters = len(character_places(chunk)) - 1
        if characters > model.max_characters:
            return Steps(steps=(UnknownWordStep(chunk, None),))
        tries = groupby(wordpiece.attempts(model, chunk), key=lambda attempt: attempt.start)
        return Steps(steps=tuple(_match_longest(chunk, *group) for _, group in tries))

    return run


def _match_longest(chunk: bytes, *tries: wordpiece.Attempt) -> MatchStep | UnknownWordStep:
    """Return the step of the tries at one place: only the last can have found a token."""
    last = tries[-1]
    rest = chunk[last.start :]
    tried = tuple(attempt.token for attempt in tries if attempt.id is None)
    if last.id is None:
        return UnknownWordStep(chunk, rest, tried)
    return MatchStep(rest, last.token, last.end - last.start, tried)


def _trace_word_level(model: WordLevel) -> Stepper:
    def run(chunk: bytes) -> Steps:
        found = chunk in model.ids
        return Steps((), () if found else (MatchStep(chunk, None, len(chunk), (chunk,)),), found)

    return run


def _trace_longest_match(model: LongestMatch) -> Stepper:
    longest = max(map(len, model.vocab), default=0)

    def run(chunk: bytes) -> Steps:
        places = longest_match.unit_places(model, chunk)
        steps: list[MatchStep] = []

        def add(start: int, end: int, found: bytes | None) -> None:
            first = start if found is None else end
            tried = tuple(longest_match.longer(chunk, places, longest, start, first))
            steps.append(MatchStep(chunk[start:], found, end - start, tried))

        done = 0
        for token in longest_match.encode_longest(model, chunk):
            if token.start > done:  # unknown, and the model has no token for it
                add(done, token.start, None)
            add(token.start, token.end, None if token.id == model.unk_id else model.vocab[token.id])
            done = token.end
        if done < len(chunk):
            add(done, len(chunk), None)
        return Steps(steps=tuple(steps))

    return run


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
