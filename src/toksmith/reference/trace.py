"""Show why a text became these tokens: every chunk, and every merge inside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toksmith.errors import UnsupportedError
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.reference.bpe import Merge, Pair, encode_chunk, merge_steps, merge_table
from toksmith.reference.splitting import chunk_spans
from toksmith.splitters import PatternSplitter
from toksmith.text import Text, utf8
from toksmith.types import Span
from toksmith.visible import visible


@dataclass(frozen=True)
class MergeStep:
    """One merge inside a chunk.

    Attributes:
        before: the ids of the chunk before it.
        pair: the two ids that were joined.
        rank: the place of this merge in the model's list; the lowest goes first.
        new: the id they became.
        position: where the pair stood in ``before``, and the new id stands in ``after``.
        after: the ids of the chunk after it.
    """

    before: tuple[int, ...]
    pair: Pair
    rank: int
    new: int
    position: int
    after: tuple[int, ...]


@dataclass(frozen=True)
class ChunkTrace:
    """One chunk on its way to ids.

    Attributes:
        text: its bytes.
        span: where it stands in the text, in bytes.
        start: the ids it begins with, one a byte.
        steps: the merges, in order; none where the chunk needed none.
        ids: what it became.
        whole: the chunk is a token and was looked up as a whole.
    """

    text: bytes
    span: Span
    start: tuple[int, ...]
    steps: tuple[MergeStep, ...]
    ids: tuple[int, ...]
    whole: bool


@dataclass(frozen=True)
class Explanation:
    """A text, its chunks, and how each became its ids; ``print`` it to read it.

    Attributes:
        text: the bytes of the text.
        chunks: from left to right.
        vocab: the bytes of each id that is named anywhere in the explanation.

    Example:
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
    chunks: tuple[ChunkTrace, ...]
    vocab: dict[int, bytes]

    @property
    def ids(self) -> list[int]:
        """The ids of the whole text."""
        return [token_id for chunk in self.chunks for token_id in chunk.ids]

    @property
    def tokens(self) -> list[bytes]:
        """The bytes of each id."""
        return [self.vocab[token_id] for token_id in self.ids]

    def __str__(self) -> str:
        head = (
            f"'{visible(self.text)}': {_number(len(self.text), 'byte')}, "
            f"{_number(len(self.chunks), 'chunk')}, {_number(len(self.ids), 'token')}"
        )
        return "\n".join([head, *(self._chunk_view(i, c) for i, c in enumerate(self.chunks, 1))])

    def _chunk_view(self, number: int, chunk: ChunkTrace) -> str:
        lines = [f"\nchunk {number}: '{visible(chunk.text)}'"]
        if chunk.whole:
            lines.append("    is a token as it stands")
        else:
            width = max((len(self._view(step.after)) for step in chunk.steps), default=0)
            lines.append(f"    {self._view(chunk.start)}")
            for step in chunk.steps:
                left, right = (visible(self.vocab[token_id]) for token_id in step.pair)
                state = self._view(step.after).ljust(width)
                lines.append(f"    {state}    {left} + {right}, merge {step.rank}")
        tokens = ", ".join(f"{visible(self.vocab[token])} {token}" for token in chunk.ids)
        return "\n".join([*lines, f"  = {tokens}"])

    def _view(self, ids: Sequence[int]) -> str:
        return " ".join(visible(self.vocab[token_id]) for token_id in ids)


def explain(pipeline: Pipeline, text: Text) -> Explanation:
    """Trace a text through a pipeline.

    Literals of special tokens are plain text here; added tokens that are no special tokens are
    whole chunks of their own, as always.

    Args:
        pipeline: what to run.
        text: a string, or UTF-8 bytes, which may be invalid.

    Raises:
        SplitError: a split pattern of the user took too long.
        UnsupportedError: the model cannot be explained.
    """
    data = utf8(text)
    model, cut = pipeline.model, pipeline.splitter
    if not isinstance(model, BPE) or not isinstance(cut, PatternSplitter | None):
        raise UnsupportedError(f"{type(model).__name__} cannot be explained yet")
    table = merge_table(model)
    chunks: list[ChunkTrace] = []
    vocab: dict[int, bytes] = {}
    for start, end, added in pipeline.framing.segments(data, pipeline.framing.always):
        piece = data[start:end]
        if added:
            chunks.append(ChunkTrace(piece, Span(start, end), (), (), (added.id,), whole=True))
            vocab[added.id] = piece
            continue
        for span in chunk_spans(cut, piece):
            where = Span(start + span.start, start + span.end)
            chunks.append(_trace(model, table, data[where.start : where.end], where))
    for chunk in chunks:
        named = {*chunk.start, *chunk.ids, *(step.new for step in chunk.steps)} - vocab.keys()
        vocab.update((token_id, model.vocab[token_id]) for token_id in named)
    return Explanation(data, tuple(chunks), vocab)


def _trace(model: BPE, table: dict[Pair, Merge], text: bytes, span: Span) -> ChunkTrace:
    start = tuple(model.byte_ids[byte] for byte in text)
    if model.whole_chunk_first and text in model.ids:
        ids = tuple(encode_chunk(model, table, text))
        return ChunkTrace(text, span, start, (), ids, whole=True)
    steps: list[MergeStep] = []
    before = start
    for after, position in merge_steps(table, start):
        pair = (before[position], before[position + 1])
        rank, new = table[pair]
        steps.append(MergeStep(before, pair, rank, new, position, tuple(after)))
        before = tuple(after)
    return ChunkTrace(text, span, start, tuple(steps), before, whole=False)


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
