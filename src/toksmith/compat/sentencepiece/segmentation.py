"""A segmentation of a text: its pieces, and the part of the text that each comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from toksmith._base.lazy import np


class Segmentation(NamedTuple):
    """The pieces of a text.

    Attributes:
        text: the text, as UTF-8.
        ids: of the pieces.
        pieces: the pieces as UTF-8; an unknown one is the normalized text that it covers.
        begins: where the surface of each piece starts in the text, in bytes.
        ends: where it ends.
        silent: which pieces have no surface: control pieces, and byte pieces but the last of a
            character.
        surfaces: the surface of each piece if it is not the text between ``begins`` and ``ends``:
            in a decoded text that was denormalized.
        score: the score of the segmentation, if it has one.
    """

    text: bytes
    ids: list[int]
    pieces: list[bytes]
    begins: list[int]
    ends: list[int]
    silent: list[bool]
    surfaces: list[bytes] | None = None
    score: float | None = None

    def surface(self, index: int) -> bytes:
        """Return the surface of a piece."""
        if self.surfaces is not None:
            return self.surfaces[index]
        return b"" if self.silent[index] else self.text[self.begins[index] : self.ends[index]]

    def reverse(self) -> Segmentation:
        """Return the segmentation with its pieces in reverse order."""
        return self._replace(
            ids=self.ids[::-1],
            pieces=self.pieces[::-1],
            begins=self.begins[::-1],
            ends=self.ends[::-1],
            silent=self.silent[::-1],
        )

    def mark(self, token_id: int, piece: bytes, *, at_start: bool) -> Segmentation:
        """Return the segmentation with a control piece before or after the others."""
        index, place = (0, 0) if at_start else (len(self.ids), len(self.text))
        lists = self.ids[:], self.pieces[:], self.begins[:], self.ends[:], self.silent[:]
        ids, pieces, begins, ends, silent = lists
        ids.insert(index, token_id)
        pieces.insert(index, piece)
        begins.insert(index, place)
        ends.insert(index, place)
        silent.insert(index, True)
        return Segmentation(self.text, ids, pieces, begins, ends, silent, score=self.score)

    def spell(self, token_id: int, piece: bytes) -> Segmentation:
        """Return the segmentation with another spelling of one id."""
        pieces = [
            piece if each == token_id else held
            for each, held in zip(self.ids, self.pieces, strict=True)
        ]
        return self._replace(pieces=pieces)

    def serialize(self) -> bytes:
        """Return the message ``SentencePieceText``; its places are in bytes."""
        return self._serialize(self.begins, self.ends)

    def serialize_in_characters(self) -> bytes:
        """Return the message ``SentencePieceText``; its places are in characters."""
        return self._serialize(*self.characters())

    def _serialize(self, begins: Sequence[int], ends: Sequence[int]) -> bytes:
        text, surfaces, number = self.text, self.surfaces, _varint
        parts = [b"\x0a", number(len(text)), text]
        for index, (piece, token_id, begin, end, silent) in enumerate(
            zip(self.pieces, self.ids, begins, ends, self.silent, strict=True)
        ):
            if silent:
                named = b""
            else:
                surface = (
                    text[self.begins[index] : self.ends[index]]
                    if surfaces is None
                    else surfaces[index]
                )
                named = b"\x1a%b%b" % (number(len(surface)), surface)
            message = b"\x0a%b%b\x10%b%b\x20%b\x28%b" % (
                number(len(piece)), piece, number(token_id), named, number(begin), number(end)
            )  # fmt: skip
            parts += [b"\x12", number(len(message)), message]
        if self.score is not None:
            parts += [b"\x1d", np.float32(self.score).tobytes()]
        return b"".join(parts)

    def characters(self) -> tuple[list[int], list[int]]:
        """Return ``begins`` and ``ends`` in characters."""
        if self.text.isascii():
            return self.begins, self.ends
        numbers = character_numbers(self.text)
        return [numbers[place] for place in self.begins], [numbers[place] for place in self.ends]

    def offset_mapping(self, in_bytes: bool = False) -> dict[str, list[Any]]:
        """Return the ids, the pieces and their places, in bytes or in characters."""
        if in_bytes:
            pieces: list[Any] = self.pieces
            begins, ends = self.begins, self.ends
        else:
            pieces = [piece.decode("utf-8", "replace") for piece in self.pieces]
            begins, ends = self.characters()
        return {
            "ids": self.ids, "pieces": pieces, "offsets": list(zip(begins, ends, strict=True))
        }  # fmt: skip


def serialize_all(segmentations: Sequence[Segmentation]) -> bytes:
    """Return the message ``NBestSentencePieceText``."""
    return nbest_message([each.serialize() for each in segmentations])


def nbest_message(messages: Sequence[bytes]) -> bytes:
    """Return the message ``NBestSentencePieceText`` of serialized segmentations."""
    parts: list[bytes] = []
    for message in messages:
        parts += [b"\x0a", _varint(len(message)), message]
    return b"".join(parts)


def character_numbers(text: bytes) -> list[int]:
    """Return the number of the character that each byte belongs to, and the number of characters.

    Example:
        >>> character_numbers("né".encode())
        [0, 1, 1, 2]
    """
    numbers: list[int] = []
    place = count = 0
    while place < len(text):
        lead = text[place]
        size = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
        numbers += [count] * min(size, len(text) - place)
        place, count = place + size, count + 1
    return [*numbers, count]


def _large_varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


class _Varints(dict[int, bytes]):
    """The small numbers as varints, made once."""

    def __missing__(self, number: int) -> bytes:
        found = _large_varint(number)
        if number < 1 << 20:
            self[number] = found
        return found


_varint = _Varints().__getitem__
