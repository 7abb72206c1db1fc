"""Decodes by a table with the bytes of each token, as it decodes in the middle of a text.

Most decoders look at one token at a time. The exceptions are the first token, which may lose a mark
or a space, and byte tokens, several of which form one character; so the table holds bytes. Decoders
without such a table run their steps on each call.
"""

from __future__ import annotations

from collections.abc import Sequence

from toksmith import engine
from toksmith._base.arrays import IdArray
from toksmith._base.lazy import np
from toksmith._base.records import replace
from toksmith.decoders import (
    ByteFallback,
    Decoder,
    Fuse,
    MetaspaceDecoder,
    Replace,
    SentencePieceDecoder,
    Strip,
    WordPieceDecoder,
)
from toksmith.engine import portable
from toksmith.models import Model
from toksmith.stages.decode import byte_of, decode_step, run_decoder

_TOKEN_BY_TOKEN = (MetaspaceDecoder, Replace, Strip, WordPieceDecoder)
_JOINS_BYTES = (ByteFallback, SentencePieceDecoder)

_MOST_STEPS = 16
"""The maximum number of steps before a table: it takes the time of each for every token."""

_MOST_GROWTH = 16
"""How many times as large as the tokens a table may be; small tables may be larger."""


class DecodeTable:
    """A decoder with a table of the bytes that each token decodes to.

    Args:
        decoder: the steps.
        tokens: the tokens as the vocabulary spells them.
        model: the model that the tokens belong to.

    Example:
        >>> import numpy as np
        >>> from toksmith.models import WordLevel
        >>> table = DecodeTable((WordPieceDecoder(),), ["to", "##ken", "!"], WordLevel(()))
        >>> table.decode(np.array([0, 1, 2]))
        'token!'
    """

    def __init__(self, decoder: Decoder, tokens: Sequence[str], model: Model) -> None:
        self._decoder = decoder
        self._tokens = tokens
        self._model = model
        end = next((i for i, step in enumerate(decoder) if isinstance(step, Fuse)), len(decoder))
        self._head, self._tail = decoder[:end], decoder[end:]
        self._is_byte = np.zeros(len(tokens), np.bool_)
        surfaces = self._table()
        self._is_empty = np.array([not surface for surface in surfaces or ()], np.bool_)
        known = np.array([bool(token) for token in tokens], np.bool_)
        self._engine = None if surfaces is None else engine.make_decoder(surfaces, known)

    def decode(self, ids: IdArray, threads: int = 1) -> str:
        """Return the text of known ids."""
        start = self._start(ids)
        # The table cannot be used for empty tokens, which separate runs of byte tokens, nor for
        # bytes that form no character, which the steps replace run by run.
        if self._engine is None or not (
            self._engine.check(ids, threads) or self._bytes_stay_together(ids)
        ):
            return self._steps(self._decoder, ids)
        before = self._steps(self._head, ids[:start]).encode()
        try:
            text = self._engine.decode_text(ids[start:], "strict", threads, before)
        except UnicodeDecodeError:
            return self._steps(self._decoder, ids)
        parts = [text]
        for step in self._tail:
            parts = decode_step(step, parts, self._model)
        return "".join(parts)

    def _bytes_stay_together(self, ids: IdArray) -> bool:
        for start, block in portable.iter_blocks(ids[:-1]):
            following = ids[start + 1 : start + 1 + len(block)]
            if (self._is_byte[block] & self._is_empty[following]).any():
                return False
        return True

    def _steps(self, decoder: Decoder, ids: IdArray) -> str:
        return run_decoder(decoder, [self._tokens[i] for i in ids.tolist()], self._model)

    def _start(self, ids: IdArray) -> int:
        """Return the number of ids at the start that must be decoded together by the steps."""
        size = 1
        if self._head and isinstance(self._head[0], SentencePieceDecoder):
            # Up to the first token with text, because word-start marks before it are removed.
            while size < len(ids) and not self._steps(self._head, ids[size - 1 : size]):
                size += 1
        while size < len(ids) and self._is_byte[ids[size - 1]]:
            size += 1
        return size

    def _table(self) -> list[bytes] | None:
        """Return the bytes of each token inside a text.

        ``None`` if they depend on neighbours, or the table would take much time or memory.
        """
        head = self._head
        if len(head) > _MOST_STEPS:
            return None
        if self._tail and self._tail[0] != Fuse():
            return None
        if len(head) == 1 and isinstance(head[0], SentencePieceDecoder) and not head[0].charsmap:
            # Word-start marks are removed at the start of a text, and are spaces elsewhere.
            plain = replace(head[0], add_dummy_prefix=False, remove_extra_whitespaces=False)
            return self._all_within_text((plain,))
        until = -1 if head and isinstance(head[-1], ByteFallback) else None
        if not all(isinstance(step, _TOKEN_BY_TOKEN) for step in head[:until]):
            return None
        return self._all_within_text(head)

    def _all_within_text(self, head: Decoder) -> list[bytes] | None:
        room = (1 << 20) + _MOST_GROWTH * sum(map(len, self._tokens))
        surfaces = []
        for token_id, token in enumerate(self._tokens):
            # An id without a token is never decoded; a file may have a million of them.
            surfaces.append(self._within_text(head, token_id) if token else b"")
            room -= len(surfaces[-1])
            if room < 0:
                return None
        return surfaces

    def _within_text(self, head: Decoder, token_id: int) -> bytes:
        tokens = ["", self._tokens[token_id]]
        for step in head:
            before = tokens[-1]
            tokens = decode_step(step, tokens, self._model)
            byte = byte_of(before)
            if byte is not None and tokens[-1] != before and isinstance(step, _JOINS_BYTES):
                self._is_byte[token_id] = True
                return bytes([byte])
        return tokens[-1].encode()
