"""Explains why a text became its tokens: every chunk, and every step inside it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from toksmith._base.arrays import Span
from toksmith._base.report import Report
from toksmith._base.text import Text, utf8
from toksmith._base.visible import count_of, short_repr, visible
from toksmith.engine.stepwise import ReferenceEncoder
from toksmith.pipeline import Pipeline
from toksmith.reference import Token
from toksmith.reference.chunk_models import chunk_model
from toksmith.reference.unigram import Edge
from toksmith.stages.aligned import Aligned
from toksmith.trace.models import is_text, stepper, token_steps
from toksmith.trace.steps import MatchStep, MergeStep, Steps, TraceStep, TraceSymbol
from toksmith.trace.text import format_explanation, format_steps
from toksmith.vocabulary import TokenTable

if TYPE_CHECKING:
    from toksmith.trace.diagrams import Diagram


@short_repr
@dataclass(frozen=True)
class ChunkTrace:
    """One chunk on its way to ids.

    Attributes:
        text: the bytes that the model receives.
        span: its byte span in the text.
        start: the initial symbols of merging; empty for models that do not merge.
        steps: the steps, in order; empty if the chunk needed none.
        ids: its ids.
        whole: whether the chunk was looked up as a whole token; the steps are then the merges that
            give the same token, if there are any.
        edges: all pieces that match somewhere in the chunk (Unigram).
        spans: the byte span of each id in the chunk.
    """

    text: bytes
    span: Span
    start: tuple[TraceSymbol, ...]
    steps: tuple[TraceStep, ...]
    ids: tuple[int, ...]
    whole: bool
    edges: tuple[Edge, ...] = ()
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, repr=False)
class Explanation(Report):
    """A text, its chunks, and how each became its ids; ``print`` it to read it.

    Attributes:
        text: the bytes of the text.
        normalized: the normalized bytes.
        chunks: the chunks, from left to right.
        vocab: the token of each id in the explanation.
        of_token: the id of the explained token; ``None`` for an explained text.
        engine: where the tokenizer runs, see :attr:`toksmith.Tokenizer.engine`; empty if that is
            not known. Explaining always runs in Python.

    Example:
        >>> from toksmith.models import BPE
        >>> vocab = tuple(bytes([b]) for b in range(256)) + (b"ab", b"abc")
        >>> model = BPE(vocab, [[97, 98, 256], [256, 99, 257]])
        >>> print(explain(Pipeline(model), "abcd"))
        'abcd': 4 bytes, 1 chunk, 2 tokens
        <BLANKLINE>
        chunk 1: 'abcd'
            a b c d
            ab c d    a + b, merge 0
            abc d     ab + c, merge 1
          = abc 257, d 100
    """

    text: bytes
    normalized: bytes
    chunks: tuple[ChunkTrace, ...]
    vocab: dict[int, bytes]
    of_token: int | None = None
    engine: str = ""

    @property
    def reached(self) -> bool:
        """Whether the bytes of the explained token become that token."""
        return self.ids == [self.of_token]

    @property
    def diagrams(self) -> list[Diagram]:
        """The diagram of each chunk: a merge tree, a lattice, or its longest matches."""
        from toksmith.trace.diagram_making import make_diagram

        return [make_diagram(chunk, self.vocab) for chunk in self.chunks]

    @property
    def ids(self) -> list[int]:
        """The ids of the whole text."""
        return [token_id for chunk in self.chunks for token_id in chunk.ids]

    @property
    def tokens(self) -> list[bytes]:
        """The token of each id."""
        return [self.vocab[token_id] for token_id in self.ids]

    def __str__(self) -> str:
        return format_explanation(self)

    def __repr__(self) -> str:
        shown = visible(self.text[:60])
        if len(self.text) > 60 or len(shown) > 60:
            shown = f"{shown[:60]}…"
        return (
            f"<Explanation of '{shown}': {count_of(len(self.text), 'byte')}, "
            f"{count_of(len(self.chunks), 'chunk')}, {count_of(len(self.ids), 'token')}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the text, its chunks and the steps of each; bytes are as ``print`` shows them."""
        return {
            "text": visible(self.text),
            "normalized": visible(self.normalized),
            "ids": self.ids,
            "tokens": [visible(token) for token in self.tokens],
            "chunks": [
                {
                    "text": visible(chunk.text),
                    "span": list(chunk.span),
                    "whole": chunk.whole,
                    "steps": [
                        dict(zip(("state", "why"), row, strict=True))
                        for row in format_steps(chunk, self)
                    ],
                    "ids": list(chunk.ids),
                }
                for chunk in self.chunks
            ],
        }


def explain(pipeline: Pipeline, text: Text) -> Explanation:
    """Trace a text through a pipeline; see :meth:`Explainer.text`."""
    return Explainer(pipeline).text(text)


class Explainer:
    """Traces texts and tokens through a pipeline.

    Args:
        pipeline: the stages to run.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._encoder = ReferenceEncoder(pipeline)
        self._run, self._step = chunk_model(pipeline.model), stepper(pipeline.model)
        self._traced = lru_cache(4096)(self._trace)

    def text(self, text: Text, special: str | Collection[str] = "text") -> Explanation:
        """Trace a text.

        An added token is a chunk of its own; a special token only if ``special`` includes it.

        Args:
            text: a string, or UTF-8 bytes, which may be invalid.
            special: the meaning of special tokens' literals; see :meth:`Tokenizer.encode`.

        Raises:
            SplitError: a custom split pattern took too long.
        """
        data = utf8(text)
        framing = self._pipeline.framing
        literals = framing.literals(special)
        within = literals & framing.normalized if self._pipeline.normalizer else frozenset()
        chunks: list[ChunkTrace] = []
        normal: list[bytes] = []
        for start, end, added in framing.segments(data, literals - within):
            if added:
                chunks.append(_trace_added(added.id, data[start:end], Span(start, end)))
                normal.append(data[start:end])
            else:
                aligned = self._encoder.normalize(data[start:end])
                normal.append(_bytes(aligned))
                chunks += self._chunks(aligned, start, within)
        return Explanation(data, b"".join(normal), tuple(chunks), self._vocab(chunks))

    def token(self, token_id: int) -> Explanation:
        """Trace how the model encodes the bytes of a token.

        They go to the model as one chunk, without normalizer and splitter; a token that continues
        a word, such as ``##ing``, is traced as inside a word.

        Raises:
            UnknownTokenError: no token has this id.
        """
        token = TokenTable(self._pipeline).bytes_of(token_id)
        model = self._pipeline.model
        if is_text(self._pipeline, token_id):
            chunk, steps, found = token_steps(model, token, token_id, self._run, self._step)
            trace = _trace(chunk, Span(0, len(chunk)), steps, found)
        else:
            trace = _trace_added(token_id, token, Span(0, len(token)))
        vocab = {**self._vocab([trace]), token_id: token}
        return Explanation(trace.text, trace.text, (trace,), vocab, token_id)

    def _chunks(self, text: Aligned, start: int, within: frozenset[str]) -> Iterator[ChunkTrace]:
        """Yield the chunks of the normalized text between two added tokens."""
        for part, added in self._encoder.parts(text, start == 0, within):
            span = Span(start + min(part.starts), start + max(part.ends))
            chunk = _bytes(part)
            if added:
                yield _trace_added(added.id, chunk, span)
            else:
                yield _trace(chunk, span, *self._traced(chunk))

    def _trace(self, chunk: bytes) -> tuple[Steps, tuple[Token, ...]]:
        return self._step(chunk), tuple(self._run(chunk))

    def _vocab(self, chunks: Iterable[ChunkTrace]) -> dict[int, bytes]:
        """Return the token of each id that occurs in a trace, by number or by its text."""
        named: set[TraceSymbol] = set()
        for chunk in chunks:
            named.update(chunk.start, chunk.ids, (edge.id or 0 for edge in chunk.edges))
            named.update(step.new for step in chunk.steps if isinstance(step, MergeStep))
            named.update(step.token or b"" for step in chunk.steps if isinstance(step, MatchStep))
        model = self._pipeline.model
        ids = {model.ids.get(symbol) if isinstance(symbol, bytes) else symbol for symbol in named}
        added = {token.id: token.content.encode() for token in self._pipeline.framing.added_tokens}
        return {i: added[i] if i in added else model.vocab[i] for i in ids if i is not None}


def _trace(chunk: bytes, span: Span, steps: Steps, tokens: tuple[Token, ...]) -> ChunkTrace:
    ids = tuple(token.id for token in tokens)
    spans = tuple(Span(token.start, token.end) for token in tokens)
    return ChunkTrace(chunk, span, steps.start, steps.steps, ids, steps.whole, steps.edges, spans)


def _trace_added(token_id: int, text: bytes, span: Span) -> ChunkTrace:
    spans = (Span(0, len(text)),)
    return ChunkTrace(text, span, (), (), (token_id,), whole=True, spans=spans)


def _bytes(aligned: Aligned) -> bytes:
    return aligned.text.encode("utf-8", "surrogateescape")
