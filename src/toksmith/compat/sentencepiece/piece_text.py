"""The text of pieces, known or not, and the surface of each in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from toksmith import engine
from toksmith._base.arrays import IdArray
from toksmith._base.lazy import np, npt
from toksmith.compat.sentencepiece.model import BYTE, CONTROL, UNKNOWN, Model
from toksmith.compat.sentencepiece.normalized_text import normalize_text
from toksmith.compat.sentencepiece.segmentation import Segmentation
from toksmith.decoders import SentencePieceDecoder
from toksmith.normalizers import SentencePieceNormalizer

_SPACE = "\u2581".encode()
_REPLACEMENT = "\ufffd".encode()


class BatchDecoder:
    """Decodes rows of ids at once, by a table of the text of each piece.

    Args:
        model: the model; it has no denormalizer.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._strips = model.decoder.add_dummy_prefix or model.decoder.remove_extra_whitespaces
        self._strips_once = not model.decoder.remove_extra_whitespaces
        surfaces = [
            bytes([int(piece[3:5], 16)])
            if model.types[token_id] == BYTE
            else _surface(model, model.decoder, token_id, piece, False)[0]
            for token_id, piece in enumerate(model.vocab)
        ]
        self._sizes = np.array([len(surface) for surface in surfaces])
        self._is_byte = np.array(model.types) == BYTE
        self._is_spaced = [
            piece.startswith(_SPACE) and kind not in (CONTROL, UNKNOWN)
            for piece, kind in zip(model.vocab, model.types, strict=True)
        ]
        self._strings = [
            None if kind == BYTE else surface.decode("utf-8", "replace")
            for surface, kind in zip(surfaces, model.types, strict=True)
        ]
        self._engine = engine.make_decoder(surfaces, np.ones(len(surfaces), np.bool_))

    def decode(self, ids: IdArray, ends: Sequence[int], threads: int) -> list[str | None]:
        """Return the text of each row, ``None`` for one whose bytes do not form characters.

        Args:
            ids: the ids of all rows, each of a piece.
            ends: the end of each row.
            threads: the number of threads.
        """
        data = self._engine.decode(ids, threads)
        sizes = self._sizes[ids]
        places = np.concatenate([[0], sizes.cumsum()])[[0, *ends]].tolist()  # of rows, in bytes
        # Pieces without text between bytes keep characters apart that the bytes would form.
        apart = np.flatnonzero(self._is_byte[ids[:-1]] & (sizes[1:] == 0))
        broken = {*np.searchsorted(ends, apart, "right").tolist()}
        found: list[str | None] = []
        start = 0
        for row, end in enumerate(ends):
            first = places[row] + self._stripped(ids, sizes, start, end)
            try:
                text = data[first : places[row + 1]].decode()
            except UnicodeDecodeError:
                broken.add(row)
            found.append(None if row in broken else text)
            start = end
        return found

    def decode_few(self, ids: Sequence[int]) -> str | None:
        """Return the text of a short row without NumPy, ``None`` if there are byte pieces in it."""
        parts: list[str] = []
        for token_id in ids:
            part = self._strings[token_id]
            if part is None:
                return None
            parts.append(part)
        place = 0
        while self._strips and place < len(parts):
            if self._is_spaced[ids[place]]:
                parts[place] = parts[place][1:]
                if self._strips_once or parts[place]:
                    break
            elif parts[place]:
                break
            place += 1
        return "".join(parts)

    def _stripped(self, ids: IdArray, sizes: npt.NDArray[np.int64], start: int, end: int) -> int:
        """Return the number of spaces at the start of a row that do not belong to the text."""
        count = 0
        while self._strips and start < end:
            size = sizes[start]
            if self._is_spaced[ids[start]]:
                count += 1
                if self._strips_once or size > 1:
                    break
            elif size:
                break
            start += 1
        return count


def text_of_pieces(model: Model, pieces: Sequence[bytes]) -> Segmentation:
    """Return the text of pieces, and the surface of each in it.

    Control pieces become nothing, the unknown piece its surface, byte pieces the characters that
    they make. A piece that is not in the vocabulary is kept as it is.
    """
    decoder = model.decoder
    ids = [model.ids.get(piece, model.unk_id) for piece in pieces]
    surfaces = list(_surfaces(model, decoder, ids, pieces))
    text = b"".join(surface or b"" for surface in surfaces)
    ends: list[int] = []
    end = 0
    for surface in surfaces:
        end += len(surface or b"")
        ends.append(end)
    begins = [0, *ends[:-1]][: len(ends)]
    whole = text
    if decoder.charsmap:
        plain = SentencePieceNormalizer(decoder.charsmap, False, False, False)
        whole = normalize_text(plain, text).encode()
    return Segmentation(
        whole, ids, list(pieces), begins, ends, [False] * len(ids),
        [surface or b"" for surface in surfaces],
    )  # fmt: skip


def _surfaces(
    model: Model, decoder: SentencePieceDecoder, ids: Sequence[int], pieces: Sequence[bytes]
) -> Iterator[bytes]:
    at_start = may_strip = decoder.add_dummy_prefix or decoder.remove_extra_whitespaces
    was_stripped = False
    for is_byte, run in groupby(
        zip(ids, pieces, strict=True), key=lambda each: model.types[each[0]] == BYTE
    ):
        if is_byte:
            found = list(_characters(bytes(int(piece[3:5], 16) for _, piece in run)))
            yield from found
            at_start = at_start and not any(found)
            continue
        for token_id, piece in run:
            if was_stripped:
                at_start = False
            surface, was_stripped = _surface(
                model, decoder, token_id, piece, at_start and may_strip
            )
            yield surface
            at_start = at_start and not surface


def _surface(
    model: Model, decoder: SentencePieceDecoder, token_id: int, piece: bytes, strips: bool
) -> tuple[bytes, bool]:
    """Return the surface of a piece that is no byte, and whether the dummy space was taken off."""
    kind = model.types[token_id]
    if kind == CONTROL:
        return b"", False
    if kind == UNKNOWN:
        is_known = piece == model.vocab[token_id]
        return (decoder.unk_surface.encode() if is_known else piece), False
    was_stripped = False
    if strips and piece.startswith(_SPACE):
        piece = piece.removeprefix(_SPACE)
        was_stripped = not decoder.remove_extra_whitespaces
    return piece.replace(_SPACE, b" "), was_stripped


def _characters(data: bytes) -> Iterator[bytes]:
    """Yield the surface of each byte: the last one of a character has it, the others nothing."""
    place = 0
    while place < len(data):
        lead = data[place]
        size = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
        character = data[place : place + size]
        try:
            character.decode()
        except UnicodeDecodeError:
            yield _REPLACEMENT
            place += 1
            continue
        yield from [b""] * (size - 1)
        yield character
        place += size
