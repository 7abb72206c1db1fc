"""Show why a text became these tokens: every chunk, and every step inside it."""

from __future__ import annotations

from dataclasses import dataclass

from toksmith.framing import AddedToken
from toksmith.pipeline import Pipeline
from toksmith.reference.aligned import Aligned
from toksmith.reference.chunks import chunk_model
from toksmith.reference.encoder import ReferenceEncoder
from toksmith.reference.stepping import stepper
from toksmith.reference.steps import MergeStep, Step, Symbol
from toksmith.reference.trace_view import explanation_view
from toksmith.text import Text, utf8
from toksmith.types import Span


@dataclass(frozen=True)
class ChunkTrace:
    """One chunk on its way to ids.

    Attributes:
        text: its bytes, as the model is given them.
        span: what it stands for in the text, in bytes.
        start: the symbols that merging begins with; none for models that do not merge.
        steps: what was done, in order; none where the chunk needed none.
        ids: what it became.
        whole: the chunk is a token and was looked up as a whole.
    """

    text: bytes
    span: Span
    start: tuple[Symbol, ...]
    steps: tuple[Step, ...]
    ids: tuple[int, ...]
    whole: bool


@dataclass(frozen=True)
class Explanation:
    """A text, its chunks, and how each became its ids; ``print`` it to read it.

    Attributes:
        text: the bytes of the text.
        normalized: the same as the normalizer leaves it.
        chunks: from left to right.
        vocab: the token of each id that is named anywhere in the explanation.

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

    @property
    def ids(self) -> list[int]:
        """The ids of the whole text."""
        return [token_id for chunk in self.chunks for token_id in chunk.ids]

    @property
    def tokens(self) -> list[bytes]:
        """The token of each id."""
        return [self.vocab[token_id] for token_id in self.ids]

    def __str__(self) -> str:
        return explanation_view(self)


def explain(pipeline: Pipeline, text: Text) -> Explanation:
    """Trace a text through a pipeline.

    Literals of special tokens are plain text here; added tokens that are no special tokens are
    whole chunks of their own, as always.

    Args:
        pipeline: what to run.
        text: a string, or UTF-8 bytes, which may be invalid.

    Raises:
        SplitError: a split pattern of the user took too long.
    """
    data = utf8(text)
    framing = pipeline.framing
    within = framing.always & framing.normalized if pipeline.normalizer else frozenset[str]()
    tracer = _Tracer(pipeline, within)
    for start, end, added in framing.segments(data, framing.always - within):
        if added:
            tracer.add_token(added, data[start:end], Span(start, end))
            tracer.normal.append(data[start:end])
        else:
            tracer.add_text(data[start:end], start)
    return Explanation(data, b"".join(tracer.normal), tuple(tracer.chunks), tracer.vocab())


class _Tracer:
    """Collects chunk after chunk.

    Args:
        pipeline: what to run.
        within: the added tokens that are looked for in the normalized text.
    """

    def __init__(self, pipeline: Pipeline, within: frozenset[str]) -> None:
        self.chunks: list[ChunkTrace] = []
        self.normal: list[bytes] = []
        self._vocab = pipeline.model.vocab
        self._added: dict[int, bytes] = {}
        self._within = within
        self._encoder = ReferenceEncoder(pipeline)
        self._run, self._step = chunk_model(pipeline.model), stepper(pipeline.model)

    def add_token(self, token: AddedToken, text: bytes, span: Span) -> None:
        self.chunks.append(ChunkTrace(text, span, (), (), (token.id,), whole=True))
        self._added[token.id] = token.content.encode()

    def add_text(self, text: bytes, start: int) -> None:
        """Add what stands between two added tokens, from a byte of the whole text on."""
        normal = self._encoder.normalized(text)
        self.normal.append(_bytes(normal))
        for part, added in self._encoder.parts(normal, start == 0, self._within):
            span = Span(start + min(part.starts), start + max(part.ends))
            if added:
                self.add_token(added, _bytes(part), span)
                continue
            chunk = _bytes(part)
            ids, steps = tuple(token.id for token in self._run(chunk)), self._step(chunk)
            self.chunks.append(ChunkTrace(chunk, span, steps.start, steps.steps, ids, steps.whole))

    def vocab(self) -> dict[int, bytes]:
        """Return the token of each id that stands in a trace."""
        named: set[Symbol] = set()
        for chunk in self.chunks:
            merged = [step.new for step in chunk.steps if isinstance(step, MergeStep)]
            named.update(chunk.start, merged, chunk.ids)
        ids = [symbol for symbol in named if isinstance(symbol, int)]
        return {i: self._added[i] if i in self._added else self._vocab[i] for i in ids}


def _bytes(aligned: Aligned) -> bytes:
    return aligned.text.encode("utf-8", "surrogateescape")
