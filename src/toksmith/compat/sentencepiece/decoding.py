"""Decoding of pieces, known or not, with the surface of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from toksmith.compat.sentencepiece.model import BYTE, CONTROL, UNKNOWN, Model
from toksmith.compat.sentencepiece.normalizing import normalize_text
from toksmith.compat.sentencepiece.segmentation import Segmentation
from toksmith.decoders import SentencePieceDecoder
from toksmith.normalizers import SentencePieceNormalizer

_SPACE = "\u2581".encode()
_REPLACEMENT = "\ufffd".encode()


def decode_pieces(model: Model, pieces: Sequence[bytes]) -> Segmentation:
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
