"""The step-by-step encoder: normalizer, splitter and model one after the other.

With :class:`ReferenceChunks` as model all of it is plain Python (``TOKSMITH_ENGINE=reference``, and
the oracle of the kernel's tests); with a model of the kernel it runs the pipelines whose normalizer
or splitter the kernel cannot fuse.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, Protocol, TypeAlias

from toksmith._base.arrays import (
    Bounds,
    Continuing,
    IdArray,
    OffsetArray,
    SpanArray,
)
from toksmith._base.lazy import np, npt
from toksmith._base.text import Text, byte_sizes, characters, utf8, without_surrogates
from toksmith.engine.around import encode_around, locate_around
from toksmith.errors import UnknownTokenError, UnsupportedError
from toksmith.framing import AddedSearch, AddedToken
from toksmith.framing.added import NONE, find
from toksmith.models import Model, is_of_bytes
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.pipeline import Pipeline
from toksmith.reference.chunk_models import chunk_model
from toksmith.results import Batch, LocatedBatch, stack
from toksmith.splitters import SplitterSequence
from toksmith.stages.aligned import Aligned, AnyText
from toksmith.stages.normalize import normalize
from toksmith.stages.split_classes import iter_chunks, marks_only_first

CACHED_CHUNKS = 65_536
"""The most distinct chunks that an encoder caches."""


class ChunkEncoder(Protocol):
    """Runs a model on chunks."""

    def encode_chunks(self, data: bytes, bounds: Bounds, threads: int) -> Batch:
        """Return the ids of each chunk ``data[start:end]``."""

    def encode_chunks_with_spans(self, data: bytes, bounds: Bounds) -> tuple[Batch, SpanArray]:
        """Return the ids of each chunk, and the bytes of ``data`` that each token covers."""

    def forget(self, cache_bytes: int | None = None) -> None:
        """Empty the caches, and set the limit of each if one is given."""


def keeps_bytes(pipeline: Pipeline) -> bool:
    """Return whether the normalizer gets invalid bytes, rather than U+FFFD for each."""
    # Models of bytes keep invalid UTF-8; models of text get U+FFFD for each such byte.
    # SentencePiece's normalizer does so itself: its map treats U+FFFD of the text differently.
    first = next(iter(pipeline.normalizer), None)
    return is_of_bytes(pipeline.model) or isinstance(first, SentencePieceNormalizer)


def plain_text(text: Text, keeps_bytes: bool) -> str:
    """Return a text as the normalizer gets it, with a surrogate for each invalid byte or U+FFFD."""
    string = utf8(text).decode("utf-8", "surrogateescape")
    return string if keeps_bytes else without_surrogates(string)


def aligned_text(text: Text, keeps_bytes: bool) -> Aligned:
    """Return the same with the places of the original."""
    string = utf8(text).decode("utf-8", "surrogateescape")
    aligned = Aligned.of(string)
    if keeps_bytes:
        return aligned
    return Aligned(without_surrogates(string), aligned.starts, aligned.ends)


class StepwiseEncoder:
    """Encode without special tokens, one stage after the other (an ``engine.Encoder``).

    Args:
        pipeline: the pipeline to run.
        chunks: what runs its model.
    """

    def __init__(self, pipeline: Pipeline, chunks: ChunkEncoder) -> None:
        self._normalizer = pipeline.normalizer
        self._splitter = pipeline.splitter
        self._keeps_bytes = keeps_bytes(pipeline)
        self._chunks = chunks
        self._added = NormalizedTokens(pipeline)
        # The first character of the original is only known if positions are tracked.
        self._needs_places = marks_only_first(pipeline.splitter) and (
            bool(pipeline.normalizer) or isinstance(pipeline.splitter, SplitterSequence)
        )

    def encode(self, text: Text, threads: int = 1) -> IdArray:
        """Return the ids of a text: uint32, shape ``(tokens,)``."""
        return self._encode(text, threads, at_start=True)

    def encode_list(self, text: Text, threads: int = 1) -> list[int]:
        """Return the ids of a text as a list."""
        ids: list[int] = self.encode(text, threads).tolist()
        return ids

    def encode_texts(self, texts: Sequence[Text], threads: int = 1) -> Batch:
        """Return the ids of each text."""
        return stack([self.encode(text, threads) for text in texts])

    def encode_slices(self, text: Text, bounds: Bounds, threads: int = 1) -> Batch:
        """Return the ids of each slice of a text, as a separate document."""
        data = memoryview(text.encode() if isinstance(text, str) else text)
        return stack([self.encode(data[start:end], threads) for start, end in bounds.tolist()])

    def encode_segments(
        self, text: Text, bounds: Bounds, threads: int = 1, literals: frozenset[str] = NONE
    ) -> Batch:
        """Return the ids of each segment of one document, with these added tokens found in it."""
        data = memoryview(text.encode() if isinstance(text, str) else text)
        return stack(
            [
                self._encode(data[start:end], threads, start == 0, literals)
                for start, end in bounds.tolist()
            ]
        )

    def encode_with_spans(
        self,
        texts: Sequence[Text],
        threads: int = 1,
        continuing: Continuing | None = None,
        literals: frozenset[str] = NONE,
    ) -> LocatedBatch:
        """Return the ids of each text, and the bytes and characters that each token covers."""
        none = np.zeros((0, 2), np.int64)
        rows, byte_spans, spans = [], [none], [none]
        for place, text in enumerate(texts):
            ids, found = self._locate(text, continuing is None or not continuing[place], literals)
            rows.append(ids)
            byte_spans.append(found)
            spans.append(characters(text, found)[1])
        batch = stack(rows)
        return LocatedBatch(
            batch.ids, batch.offsets, np.concatenate(byte_spans), np.concatenate(spans)
        )

    def encode_around(self, texts: Sequence[Text], threads: int, added: AddedSearch) -> Batch:
        """Return the ids of each text and of the added tokens in it."""
        return encode_around(self, texts, threads, added)

    def locate_around(
        self, texts: Sequence[Text], threads: int, added: AddedSearch
    ) -> LocatedBatch:
        """Return the same with the bytes and characters that each token covers."""
        return locate_around(self, texts, threads, added)

    def _locate(
        self, text: Text, at_start: bool, literals: frozenset[str]
    ) -> tuple[IdArray, SpanArray]:
        """Return the ids of a text, and the bytes of it that each token covers."""
        chunks, found = self._cut(self.normalize(text), at_start, literals)
        batch, spans = self._chunks.encode_chunks_with_spans(*_concat([c.text for c in chunks]))
        spans = _original(chunks, spans)
        if found:
            places = [[each.starts[0], each.ends[-1]] for _, _, each in found]
            spans = np.insert(spans, _before(batch, found), places, axis=0)
        return _insert_added(batch, found), spans

    def normalize(self, text: Text) -> Aligned:
        """Return a text as the normalizer leaves it, with the places of the original."""
        return normalize(self._normalizer, aligned_text(text, self._keeps_bytes))

    def parts(
        self, text: AnyText, at_start: bool = True, literals: frozenset[str] = NONE
    ) -> Iterator[tuple[AnyText, AddedToken | None]]:
        """Cut a normalized text at these added tokens, and the text between them into chunks.

        Yields:
            Each chunk with ``None``, and each match of an added token with that token.
        """
        for start, end, token in self._added.find(str(text), literals):
            if token:
                yield text[start:end], token
                continue
            may_start = at_start and (start == 0 or isinstance(text, Aligned))
            for piece in iter_chunks(self._splitter, text[start:end], may_start):
                yield piece, None

    def sizes(
        self, text: Text, at_start: bool = True, literals: frozenset[str] = NONE
    ) -> list[int]:
        """Return the number of tokens of each chunk, and 1 for each of these added tokens."""
        if self._needs_places:
            parts: list[tuple[str | Aligned, AddedToken | None]] = [
                *self.parts(self.normalize(text), at_start, literals)
            ]
        else:
            string = normalize(self._normalizer, plain_text(text, self._keeps_bytes))
            parts = [*self.parts(string, at_start, literals)]
        chunks = [str(part) for part, token in parts if not token]
        batch = self._chunks.encode_chunks(*_concat(chunks), 1)
        counts = iter(np.diff(batch.offsets).tolist())
        return [1 if token else next(counts) for _, token in parts]

    def count(self, text: Text, threads: int = 1) -> int:
        """Return the number of tokens of a text."""
        return len(self.encode(text, threads))

    def forget(self, cache_bytes: int | None = None) -> None:
        """Empty the caches, and set the limit of each if one is given."""
        self._chunks.forget(cache_bytes)

    def _encode(
        self, text: Text, threads: int, at_start: bool, literals: frozenset[str] = NONE
    ) -> IdArray:
        if self._needs_places:
            return self._locate(text, at_start, literals)[0]
        string = plain_text(text, self._keeps_bytes)
        chunks, found = self._cut(normalize(self._normalizer, string), at_start, literals)
        return _insert_added(self._chunks.encode_chunks(*_concat(chunks), threads), found)

    def _cut(
        self, text: AnyText, at_start: bool, literals: frozenset[str]
    ) -> tuple[list[AnyText], _Added[AnyText]]:
        """Return the chunks of a normalized text, and the added tokens found between them."""
        chunks: list[AnyText] = []
        added: _Added[AnyText] = []
        for part, token in self.parts(text, at_start, literals):
            if token:
                added.append((len(chunks), token, part))
            else:
                chunks.append(part)
        return chunks, added


_Added: TypeAlias = list[tuple[int, AddedToken, AnyText]]
"""Added tokens: the number of chunks before each, the token, and its match."""


def _insert_added(batch: Batch, added: _Added[Any]) -> IdArray:
    if not added:
        return batch.ids
    return np.insert(batch.ids, _before(batch, added), [token.id for _, token, _ in added])


def _before(batch: Batch, added: _Added[Any]) -> OffsetArray:
    """Return the number of ids before each added token."""
    return batch.offsets[[before for before, _, _ in added]]


class ReferenceChunks:
    """A model in plain Python."""

    def __init__(self, model: Model) -> None:
        run = chunk_model(model)
        self._run = lru_cache(CACHED_CHUNKS)(lambda chunk: tuple(run(chunk)))

    def encode_chunks(self, data: bytes, bounds: Bounds, threads: int = 1) -> Batch:
        """Return the ids of each chunk ``data[start:end]``."""
        return self.encode_chunks_with_spans(data, bounds)[0]

    def encode_chunks_with_spans(self, data: bytes, bounds: Bounds) -> tuple[Batch, SpanArray]:
        """Return the ids of each chunk, and the bytes of ``data`` that each token covers."""
        tokens = [self._run(data[start:end]) for start, end in bounds.tolist()]
        ids = [token.id for chunk in tokens for token in chunk]
        spans = [
            (start + token.start, start + token.end)
            for start, chunk in zip(bounds[:, 0].tolist(), tokens, strict=True)
            for token in chunk
        ]
        offsets = np.array([0, *accumulate(map(len, tokens))], np.int64)
        return Batch(np.array(ids, np.uint32), offsets), np.array(spans, np.int64).reshape(-1, 2)

    def forget(self, cache_bytes: int | None = None) -> None:
        """Empty the cache of chunks."""
        self._run.cache_clear()


class ReferenceEncoder(StepwiseEncoder):
    """A pipeline in plain Python; ``threads`` is accepted and changes nothing.

    Example:
        >>> from toksmith.models import BPE
        >>> vocab = tuple(bytes([b]) for b in range(256)) + (b"ab",)
        >>> encoder = ReferenceEncoder(Pipeline(BPE(vocab, [[97, 98, 256]])))
        >>> encoder.encode("abc")
        array([256,  99], dtype=uint32)
    """

    def __init__(self, pipeline: Pipeline) -> None:
        super().__init__(pipeline, ReferenceChunks(pipeline.model))


class ReferenceDecoder:
    """Ids back to bytes: the bytes of each, one after the other.

    Args:
        tokens: the bytes of each id, ``b""`` for an id without a token.
        known: which ids there are; without it, those that have bytes.
    """

    def __init__(self, tokens: Sequence[bytes], known: npt.NDArray[np.bool_] | None = None) -> None:
        self._tokens = tokens
        self._known = [bool(token) for token in tokens] if known is None else known.tolist()

    def check(self, ids: IdArray, threads: int = 1) -> bool:
        """Return whether each of the ids has bytes; UnknownTokenError names one not known."""
        for position, token_id in enumerate(ids.tolist()):
            if token_id >= len(self._tokens) or not self._known[token_id]:
                raise UnknownTokenError(
                    f"id {token_id} at position {position} is not in the vocabulary"
                )
        return all(self._tokens[token_id] for token_id in ids.tolist())

    def decode(self, ids: IdArray, threads: int = 1) -> bytes:
        """Return the bytes of the ids; UnknownTokenError names one that is not known."""
        self.check(ids)
        return b"".join(self._tokens[token_id] for token_id in ids.tolist())

    def decode_text(
        self, ids: IdArray, errors: str = "strict", threads: int = 1, before: bytes = b""
    ) -> str:
        """Return the text of the bytes ``before`` and of the ids after them."""
        return (before + self.decode(ids)).decode("utf-8", errors)


def _concat(chunks: Sequence[str]) -> tuple[bytes, Bounds]:
    """Return chunks end to end as bytes, and where each starts and ends."""
    encoded = [chunk.encode("utf-8", "surrogateescape") for chunk in chunks]
    places = np.array([0, *accumulate(map(len, encoded))], np.int64)
    return b"".join(encoded), np.stack([places[:-1], places[1:]], axis=1)


def _original(chunks: Sequence[Aligned], spans: SpanArray) -> SpanArray:
    """Return the bytes of the original that tokens cover.

    Args:
        chunks: the chunks, with the origin of each character in bytes.
        spans: the bytes of the concatenated chunks that each token covers.
    """
    sizes = byte_sizes("".join(chunk.text for chunk in chunks))
    owner = np.repeat(np.arange(len(sizes)), sizes)  # the character of each byte
    first_byte = np.cumsum(sizes) - sizes
    starts = np.array([place for chunk in chunks for place in chunk.starts], np.int64)
    ends = np.array([place for chunk in chunks for place in chunk.ends], np.int64)
    same = ends - starts == sizes  # the character itself: its bytes have places of their own

    first, last = owner[spans[:, 0]], owner[np.maximum(spans[:, 1] - 1, 0)]
    begin = starts[first] + np.where(same[first], spans[:, 0] - first_byte[first], 0)
    end = np.where(same[last], starts[last] + spans[:, 1] - first_byte[last], ends[last])
    return np.stack([begin, end], axis=1)


class NormalizedTokens:
    """The added tokens of a pipeline, by what their literals become when they are normalized.

    Args:
        pipeline: whose normalizer and added tokens.

    Raises:
        UnsupportedError: nothing is left of a literal.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._tokens: list[tuple[str, AddedToken]] = []
        # Where two become the same, special tokens come first.
        for token in sorted(pipeline.framing.added_tokens, key=lambda token: not token.special):
            if not (pipeline.normalizer and token.normalized):
                continue
            content = normalize(pipeline.normalizer, token.content)
            if not content:
                raise UnsupportedError(
                    f"nothing is left of the added token {token.content!r} when it is normalized"
                )
            self._tokens.append((content, token))

    def find(
        self, text: str, literals: frozenset[str]
    ) -> Iterator[tuple[int, int, AddedToken | None]]:
        """Cut a normalized text at the tokens with these literals.

        Yields:
            ``(start, end, token)`` in characters; ``token`` is ``None`` for the text between.
        """
        if not literals:
            yield 0, len(text), None
            return
        wanted: dict[str, AddedToken] = {}
        for content, token in self._tokens:
            if token.content in literals:
                wanted.setdefault(content, token)
        ends = np.cumsum(byte_sizes(text))  # in bytes, of each character
        for start, end, found in find(
            text.encode("utf-8", "surrogateescape"), frozenset(wanted), wanted
        ):
            first, last = np.searchsorted(ends, [start, end], side="right").tolist()
            yield first, last, found
