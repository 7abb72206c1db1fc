"""Show why a text became these tokens: every chunk, and every step inside it."""

from __future__ import annotations

from dataclasses import dataclass

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
    encoder = ReferenceEncoder(pipeline)
    model, step = chunk_model(pipeline.model), stepper(pipeline.model)
    chunks: list[ChunkTrace] = []
    normal: list[bytes] = []
    added_tokens: dict[int, bytes] = {}
    for start, end, added in pipeline.framing.segments(data, pipeline.framing.always):
        part = data[start:end]
        if added:
            chunks.append(ChunkTrace(part, Span(start, end), (), (), (added.id,), whole=True))
            normal.append(part)
            added_tokens[added.id] = part
            continue
        aligned = encoder.normalized(part)
        normal.append(_bytes(aligned))
        for chunk in encoder.chunks(aligned, at_start=start == 0):
            found, steps = _bytes(chunk), step(_bytes(chunk))
            span = Span(start + min(chunk.starts), start + max(chunk.ends))
            ids = tuple(token.id for token in model(found))
            chunks.append(ChunkTrace(found, span, steps.start, steps.steps, ids, steps.whole))
    vocab = {i: added_tokens.get(i, b"") or pipeline.model.vocab[i] for i in _named(chunks)}
    return Explanation(data, b"".join(normal), tuple(chunks), vocab)


def _bytes(aligned: Aligned) -> bytes:
    return aligned.text.encode("utf-8", "surrogateescape")


def _named(chunks: list[ChunkTrace]) -> set[int]:
    """Return all ids that stand in traces."""
    named: set[Symbol] = set()
    for chunk in chunks:
        merged = [step.new for step in chunk.steps if isinstance(step, MergeStep)]
        named.update(chunk.start, merged, chunk.ids)
    return {symbol for symbol in named if isinstance(symbol, int)}
