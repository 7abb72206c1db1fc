"""The vocabulary: pieces by id and back, their scores and types, and which of them are used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from toksmith._base.text import utf8
from toksmith.compat.sentencepiece.failures import PieceIndexError, PieceTypeError
from toksmith.compat.sentencepiece.messages import message_classes
from toksmith.compat.sentencepiece.model import BYTE, CONTROL, UNKNOWN, UNUSED
from toksmith.compat.sentencepiece.options import ModelWithOptions
from toksmith.compat.sentencepiece.reading import read_file
from toksmith.models import PieceType

_Found = TypeVar("_Found")


class Vocabulary(ModelWithOptions):
    """The calls about pieces."""

    def piece_size(self) -> int:
        """Return the number of pieces; 0 before a model is loaded."""
        return len(self._loaded.vocab) if self._loaded else 0

    vocab_size = get_piece_size = GetPieceSize = piece_size

    def __len__(self) -> int:
        return self.piece_size()

    def __getitem__(self, piece: Any) -> Any:
        return self.piece_to_id(piece)

    def piece_to_id(self, piece: Any) -> Any:
        """Return the id of a piece, or of each of several; that of ``<unk>`` if there is none."""
        model = self._model
        if isinstance(piece, str | bytes):
            return model.ids.get(utf8(piece), max(model.unk_id, 0))
        if not isinstance(piece, list | tuple):
            raise PieceTypeError(f"{piece!r:.40} is no piece: use a str, or a list of them")
        for each in piece:
            if not isinstance(each, str | bytes):
                raise PieceTypeError(f"{each!r:.40} is no piece: use a str")
        return [self.piece_to_id(each) for each in piece]

    def id_to_piece(self, id: Any) -> Any:
        """Return the piece of an id, or of each of several."""
        return self._look_up(id, lambda token_id: self._model.strings[token_id])

    def get_score(self, id: Any) -> Any:
        """Return the score of an id, or of each of several."""
        return self._look_up(id, lambda token_id: self._model.scores[token_id])

    def is_unknown(self, id: Any) -> Any:
        """Return whether an id is the unknown piece, or of each of several."""
        return self._look_up(id, lambda token_id: self._model.types[token_id] == UNKNOWN)

    def is_control(self, id: Any) -> Any:
        """Return whether an id is a control piece such as ``<s>``, or of each of several."""
        return self._look_up(id, lambda token_id: self._model.types[token_id] == CONTROL)

    def is_unused(self, id: Any) -> Any:
        """Return whether an id is a piece that text never becomes, or of each of several."""
        return self._look_up(id, lambda token_id: self._model.types[token_id] == UNUSED)

    def is_byte(self, id: Any) -> Any:
        """Return whether an id is a byte piece such as ``<0x0A>``, or of each of several."""
        return self._look_up(id, lambda token_id: self._model.types[token_id] == BYTE)

    def _look_up(self, ids: Any, find: Callable[[int], _Found]) -> _Found | list[_Found]:
        if isinstance(ids, str | bytes | Mapping) or not hasattr(ids, "__len__"):
            return find(self._checked_id(ids))
        return [find(self._checked_id(each)) for each in ids]

    def _checked_id(self, token_id: Any) -> int:
        try:
            found: int = token_id.__index__()
        except AttributeError:
            raise PieceTypeError(f"{token_id!r:.40} is no id: use a whole number") from None
        if not -(2**31) <= found < 2**31:
            raise PieceTypeError(f"{found} is no id: use a whole number of 32 bits")
        if not 0 <= found < len(self._model.vocab):
            raise PieceIndexError(
                f"id {found} is no piece: ids go from 0 to {self.piece_size() - 1}"
            )
        return found

    def unk_id(self) -> int:
        """Return the id of the unknown piece; -1 if there is none."""
        return self._model.unk_id

    def bos_id(self) -> int:
        """Return the id of the piece before a text; -1 if there is none."""
        return self._role("bos_id")

    def eos_id(self) -> int:
        """Return the id of the piece after a text; -1 if there is none."""
        return self._role("eos_id")

    def pad_id(self) -> int:
        """Return the id of padding; -1 if there is none."""
        return self._role("pad_id")

    def set_vocabulary(self, valid_vocab: Iterable[str]) -> bool:
        """Let text become these pieces and single characters alone.

        Args:
            valid_vocab: the pieces.
        """
        model = self._model
        wanted = {utf8(piece) for piece in valid_vocab}
        kept = {*map(int, (PieceType.CONTROL, PieceType.UNKNOWN, PieceType.USER_DEFINED)), BYTE}
        self._retype(
            [
                kind if kind in kept
                else int(PieceType.NORMAL) if piece in wanted or len(text) == 1
                else UNUSED
                for piece, text, kind in zip(model.vocab, model.strings, model.types, strict=True)
            ]
        )  # fmt: skip
        return True

    def reset_vocabulary(self) -> bool:
        """Let text become all pieces again."""
        self._retype(
            [int(PieceType.NORMAL) if kind == UNUSED else kind for kind in self._model.types]
        )
        return True

    def load_vocabulary(self, filename: str | os.PathLike[str], threshold: int) -> bool:
        """Call :meth:`set_vocabulary` with the pieces of a file.

        Args:
            filename: lines of a piece, a tab and its frequency.
            threshold: the least frequency; without one, a piece counts as 1.
        """
        pieces = []
        for line in read_file(filename).decode().splitlines():
            piece, _, count = line.partition("\t")
            if int(count.partition("\t")[0] or 1) >= threshold:
                pieces.append(piece)
        return self.set_vocabulary(pieces)

    def _retype(self, types: list[int]) -> None:
        message = message_classes()["ModelProto"].FromString(self._data)
        for piece, kind in zip(message.pieces, types, strict=True):
            if piece.type != kind:
                piece.type = kind
        self._loaded = self._model.with_types(types)
        self._data = message.SerializeToString(deterministic=True)

    PieceToId, IdToPiece, GetScore = piece_to_id, id_to_piece, get_score
    IsUnknown, IsControl, IsUnused, IsByte = is_unknown, is_control, is_unused, is_byte
    SetVocabulary, ResetVocabulary = set_vocabulary, reset_vocabulary
    LoadVocabulary = load_vocabulary
