"""Word models, whose pieces are whole words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from random import Random
from typing import Any

from toksmith._base.lazy import np, npt
from toksmith._base.text import Text
from toksmith.compat.sentencepiece.failures import SentencePieceError
from toksmith.compat.sentencepiece.model import Model
from toksmith.compat.sentencepiece.segmentation import Segmentation
from toksmith.models import PieceType
from toksmith.reference import Token


class WordModel(Model):
    """A model whose pieces are whole words; adjacent unknown words are one unknown piece.

    With byte fallback, an unknown word becomes its bytes. It runs in Python, one text after the
    other.
    """

    @cached_property
    def _words(self) -> dict[bytes, int]:
        return self._pieces.ids_of_types(PieceType.NORMAL, PieceType.USER_DEFINED)

    def encode_one(self, text: str, threads: int | None) -> list[int]:
        """Return the ids of a text."""
        return self.segment([text], threads)[0].ids

    def encode(self, texts: Sequence[Text], threads: int | None) -> list[list[int]]:
        """Return the ids of each text."""
        return [row.ids for row in self.segment(texts, threads)]

    def encode_arrays(
        self, texts: Sequence[Text], threads: int | None
    ) -> list[npt.NDArray[np.int32]]:
        """Return the ids of each text as arrays."""
        return [np.array(ids, np.int32) for ids in self.encode(texts, threads)]

    def encode_pieces(self, texts: Sequence[Text], threads: int | None) -> list[list[bytes]]:
        """Return the pieces of each text; an unknown one is the text that it covers."""
        return [row.pieces for row in self.segment(texts, threads)]

    def encode_strings(self, texts: Sequence[Text], threads: int | None) -> list[list[str]]:
        """Return the pieces of each text as text."""
        rows = self.encode_pieces(texts, threads)
        return [[piece.decode("utf-8", "replace") for piece in row] for row in rows]

    def serialize(self, texts: Sequence[Text], threads: int | None) -> list[bytes]:
        """Return the message ``SentencePieceText`` of each text."""
        return [row.serialize() for row in self.segment(texts, threads)]

    def offset_mappings(
        self, texts: Sequence[str], threads: int | None
    ) -> list[dict[str, list[Any]]]:
        """Return the ids, the pieces and their places in characters of each text."""
        return [row.offset_mapping() for row in self.segment(texts, threads)]

    def segment(self, texts: Sequence[Text], threads: int | None) -> list[Segmentation]:
        """Return the segmentation of each text."""
        found = []
        for text in texts:
            normalized = self.normalize(text)
            row = self.place(text, normalized, self._tokens(normalized.text))
            found.append(self._spell_unknown(row) if self._pieces.byte_fallback else row)
        return found

    def _spell_unknown(self, row: Segmentation) -> Segmentation:
        """Return a segmentation with unknown words as bytes; the last one has the surface."""
        spelled = Segmentation(row.text, [], [], [], [], [])
        for index, (token_id, piece) in enumerate(zip(row.ids, row.pieces, strict=True)):
            begin, end = row.begins[index], row.ends[index]
            ids, pieces = [token_id], [piece]
            if token_id == self.unk_id:
                ids = [self._pieces.byte_ids[byte] for byte in piece]
                pieces = [self.vocab[byte_id] for byte_id in ids]
            before = len(ids) - 1
            spelled.ids.extend(ids)
            spelled.pieces.extend(pieces)
            spelled.begins.extend([begin] * len(ids))
            spelled.ends.extend([*[begin] * before, end])
            spelled.silent.extend([*[True] * before, row.silent[index]])
        return spelled

    def _tokens(self, text: bytes) -> list[Token]:
        tokens: list[Token] = []
        for match in _WORD.finditer(text):
            token_id, (start, end) = self._words.get(match[0], self.unk_id), match.span()
            fuses = token_id == self.unk_id and not self._pieces.byte_fallback
            if fuses and tokens and tokens[-1].id == self.unk_id:
                start = tokens.pop().start
            tokens.append(Token(token_id, start, end))
        return tokens

    def sample(self, text: Text, nbest_size: int, alpha: float, rng: Random) -> Segmentation:
        """Refuse: a text has one segmentation."""
        raise SentencePieceError("SampleEncode is not available for a word model")


_WORD = re.compile(rb"\xe2\x96\x81(?:(?!\xe2\x96\x81).)*|(?:(?!\xe2\x96\x81).)+", re.DOTALL)
"""A word: ▁ and all up to the next one."""
