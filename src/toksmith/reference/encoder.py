"""A pipeline run step by step in plain Python: the kernel's oracle, and the engine of last resort.

It answers to the same calls as the kernel's encoder, so that either can stand behind a tokenizer
(``TOKSMITH_ENGINE=reference``). Where the kernel fuses, this does one thing after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from toksmith.errors import UnknownTokenError
from toksmith.pipeline import Pipeline
from toksmith.reference.bpe import encode_chunk, merge_table
from toksmith.reference.splitting import chunk_spans
from toksmith.text import Text, utf8
from toksmith.types import Batch, IdArray, OffsetArray, Span, stack

CACHED_CHUNKS = 65_536
"""How many distinct chunks an encoder remembers."""


class ReferenceEncoder:
    """Encode without special tokens; ``threads`` is accepted and changes nothing.

    Args:
        pipeline: what to run.

    Example:
        >>> from toksmith.models import BPE
        >>> vocab = tuple(bytes([b]) for b in range(256)) + (b"ab",)
        >>> encoder = ReferenceEncoder(Pipeline(BPE(vocab, [[97, 98, 256]])))
        >>> encoder.encode("abc")
        array([256,  99], dtype=uint32)
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        table = merge_table(pipeline.model)
        self._encode_chunk = lru_cache(CACHED_CHUNKS)(
            lambda chunk: tuple(encode_chunk(pipeline.model, table, chunk))
        )

    def encode(self, text: Text, threads: int = 1) -> IdArray:
        """Return the ids of a text: uint32, shape ``(tokens,)``."""
        return np.array(self.encode_list(text), np.uint32)

    def encode_list(self, text: Text, threads: int = 1) -> list[int]:
        """Return the ids of a text as a list."""
        return [token_id for _, ids in self._chunks(utf8(text)) for token_id in ids]

    def encode_slices(self, text: Text, bounds: npt.NDArray[np.int64], threads: int = 1) -> Batch:
        """Return the ids of each slice of a text, as a document of its own.

        Args:
            text: the text.
            bounds: int64, shape ``(documents, 2)``: where each starts and ends, in bytes.
            threads: changes nothing.
        """
        data = utf8(text)
        return self.encode_texts([data[start:end] for start, end in bounds.tolist()])

    def encode_texts(self, texts: Sequence[Text], threads: int = 1) -> Batch:
        """Return the ids of each text."""
        return stack([self.encode(text) for text in texts])

    def encode_with_starts(self, text: Text) -> tuple[IdArray, OffsetArray]:
        """Return the ids, and the byte of the text where each token starts (int64)."""
        all_ids, starts = [], []
        for span, ids in self._chunks(utf8(text)):
            position = span.start
            for token_id in ids:
                all_ids.append(token_id)
                starts.append(position)
                position += len(self._pipeline.model.vocab[token_id])
        return np.array(all_ids, np.uint32), np.array(starts, np.int64)

    def count(self, text: Text, threads: int = 1) -> int:
        """Return how many tokens a text has."""
        return len(self.encode_list(text))

    def forget(self) -> None:
        """Forget the chunks that were seen."""
        self._encode_chunk.cache_clear()

    def _chunks(self, text: bytes) -> Iterator[tuple[Span, tuple[int, ...]]]:
        for span in chunk_spans(self._pipeline.splitter, text):
            yield span, self._encode_chunk(text[span.start : span.end])


class ReferenceDecoder:
    """Ids back to bytes: the bytes of each, one after the other.

    Args:
        tokens: the bytes of each id, ``b""`` where there is none.
    """

    def __init__(self, tokens: Sequence[bytes]) -> None:
        self._tokens = tokens

    def decode(self, ids: IdArray, threads: int = 1) -> bytes:
        """Return the bytes of the ids; UnknownTokenError names one that is not known."""
        for position, token_id in enumerate(ids.tolist()):
            if token_id >= len(self._tokens) or not self._tokens[token_id]:
                raise UnknownTokenError(
                    f"id {token_id} at position {position} is not in the vocabulary"
                )
        return b"".join(self._tokens[token_id] for token_id in ids.tolist())
