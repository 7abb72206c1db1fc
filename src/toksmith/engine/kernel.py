"""The compiled module as engine: encoder, decoder, and the models that they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property

from toksmith._base.arrays import Bounds, Continuing, IdArray, SpanArray
from toksmith._base.checks import assert_never
from toksmith._base.lazy import np, npt
from toksmith._base.text import Text, decode_utf8
from toksmith.engine.around import encode_around, kernel_search, locate_around
from toksmith.engine.compiled import _kernel, instruction_set, is_missing
from toksmith.errors import UnknownTokenError
from toksmith.framing import AddedSearch
from toksmith.framing.added import NONE
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
from toksmith.models.bpe import flat_merges
from toksmith.results import Batch, LocatedBatch

CACHE_BYTES: int = 0 if is_missing else _kernel.CACHE_BYTES
"""The default memory limit of a cache of chunks, in bytes."""


class KernelEncoder:
    """Runs a model after a splitter of the kernel: a published pattern, or tables of a pattern.

    Args:
        model: the model.
        splitter: what cuts a text into chunks; ``None``: each text is one.
        kernel: the model as the kernel holds it, if it exists already.
    """

    def __init__(
        self,
        model: Model,
        splitter: _kernel.Splitter | None = None,
        kernel: _kernel.Model | None = None,
    ) -> None:
        self._encoder = _kernel.Encoder(
            kernel or kernel_model(model), splitter or _kernel.Splitter("none"), instruction_set()
        )
        self._vocab = model.vocab
        self._text_model = not isinstance(model, BPE)
        # The bound methods of the kernel, to save a call in Python.
        self.encode = self._encoder.encode
        self.encode_list = self._encoder.encode_list
        self.count = self._encoder.count

    @cached_property
    def _lengths(self) -> npt.NDArray[np.int64]:
        return np.fromiter(map(len, self._vocab), np.int64, len(self._vocab))

    def encode_texts(self, texts: Sequence[Text], threads: int) -> Batch:
        """Return the ids of each text."""
        return Batch(*self._encoder.encode_texts(texts, threads))

    def encode_slices(self, text: Text, bounds: Bounds, threads: int) -> Batch:
        """Return the ids of each slice of a text as a document of its own."""
        return Batch(*self._encoder.encode_slices(text, bounds, threads))

    def encode_segments(
        self, text: Text, bounds: Bounds, threads: int, literals: frozenset[str] = NONE
    ) -> Batch:
        """Return the ids of each segment of one document."""
        return self.encode_slices(text, bounds, threads)

    def encode_with_spans(
        self,
        texts: Sequence[Text],
        threads: int,
        continuing: Continuing | None = None,
        literals: frozenset[str] = NONE,
    ) -> LocatedBatch:
        """Return the ids of each text, and the bytes and characters that each token covers."""
        found = self._encoder.encode_with_spans(texts, None, threads)
        assert found is not None  # tokens lie end to end
        return LocatedBatch.of(*found)

    def encode_around(self, texts: Sequence[Text], threads: int, added: AddedSearch) -> Batch:
        """Return the ids of each text and of the added tokens in it."""
        search = kernel_search(added, False)
        if search is None:
            return encode_around(self, texts, threads, added)
        return Batch(*self._encoder.encode_texts(texts, threads, search))

    def locate_around(
        self, texts: Sequence[Text], threads: int, added: AddedSearch
    ) -> LocatedBatch:
        """Return the same with the bytes and characters that each token covers."""
        search = kernel_search(added, False)
        if search is None:
            return locate_around(self, texts, threads, added)
        found = self._encoder.encode_with_spans(texts, None, threads, search)
        assert found is not None  # tokens lie end to end
        return LocatedBatch.of(*found)

    def encode_chunks(self, data: bytes, bounds: Bounds, threads: int) -> Batch:
        """Return the ids of each chunk ``data[start:end]``."""
        return self.encode_slices(data, bounds, threads)

    def encode_chunks_with_spans(self, data: bytes, bounds: Bounds) -> tuple[Batch, SpanArray]:
        """Return the ids of each chunk, and the bytes of ``data`` that each token covers."""
        if not self._text_model:
            batch = self.encode_slices(data, bounds, 1)
            return batch, self._consecutive_spans(batch.ids)
        ids, offsets, spans = self._encoder.encode_chunks_with_spans(data, bounds)
        return Batch(ids, offsets), spans.reshape(-1, 2)

    def _consecutive_spans(self, ids: IdArray) -> SpanArray:
        """Return the spans of byte-level tokens: each starts where the one before it ends."""
        lengths = self._lengths[ids]
        spans = np.empty((len(ids), 2), np.int64)
        np.cumsum(lengths, out=spans[:, 1])
        np.subtract(spans[:, 1], lengths, out=spans[:, 0])
        return spans

    def forget(self, cache_bytes: int | None = None) -> None:
        """Empty the caches, and set the limit of each if one is given."""
        self._encoder.forget(cache_bytes)


class KernelDecoder:
    """Decodes with the kernel's table of token bytes; arguments as :class:`ReferenceDecoder`."""

    def __init__(self, tokens: Sequence[bytes], known: npt.NDArray[np.bool_] | None = None) -> None:
        flags = None if known is None else known.astype(np.uint8)
        self._decoder = _kernel.Decoder(tuple(tokens), flags)

    def check(self, ids: IdArray, threads: int) -> bool:
        """Return whether all ids have bytes; a known id may have none."""
        with _index_error_as_unknown_token():
            return self._decoder.check(ids, threads)

    def decode(self, ids: IdArray, threads: int) -> bytes:
        """Return the bytes of the ids."""
        with _index_error_as_unknown_token():
            return self._decoder.decode(ids, threads)

    def decode_text(self, ids: IdArray, errors: str, threads: int, before: bytes = b"") -> str:
        """Return the text of the bytes ``before`` and of the ids after them."""
        with _index_error_as_unknown_token():
            try:
                return self._decoder.decode_text(ids, "strict", threads, before)
            except UnicodeDecodeError as invalid:
                if errors == "strict":
                    raise
                data = invalid.object
        return decode_utf8(data, errors)


@contextmanager
def _index_error_as_unknown_token() -> Iterator[None]:
    try:
        yield
    except IndexError as unknown:
        raise UnknownTokenError(str(unknown)) from None


def kernel_model(model: Model) -> _kernel.Model:
    """Return a model as the kernel holds it."""
    match model:
        case BPE():
            merges = None if model.by_ranks else flat_merges(model)
            return _kernel.BpeModel(model.vocab, merges, model.whole_chunk_first)
        case CharacterBPE():
            return _make_character_bpe(model)
        case SentencePieceBPE():
            return _kernel.SentencePieceModel(
                model.vocab,
                model.held("scores"),
                model.held("types"),
                model.unk_id,
                model.byte_fallback,
            )
        case Unigram():
            return _make_unigram(model)
        case WordPiece():
            limit = min(model.max_characters, 2**62)  # no chunk is longer
            return _kernel.wordpiece_model(model.vocab, model.unk_id, model.prefix, limit)
        case WordLevel():
            return _kernel.WordLevelModel(model.vocab, model.unk_id)
        case LongestMatch():
            return _kernel.LongestMatchModel(model.vocab, model.unk_id, model.fuse_unk)
        case _:
            assert_never(model)


def _make_character_bpe(model: CharacterBPE) -> _kernel.Model:
    return _kernel.CharacterModel(
        model.vocab,
        flat_merges(model),
        model.unk_id,
        model.fuse_unk,
        model.byte_fallback,
        model.continuing_prefix,
        model.word_suffix,
        model.whole_chunk_first,
    )


def _make_unigram(model: Unigram) -> _kernel.Model:
    return _kernel.unigram_model(
        model.vocab,
        model.held("scores"),
        model.held("types"),
        model.unk_id,
        model.byte_fallback,
        model.fuse_unk,
        model.single,
    )
