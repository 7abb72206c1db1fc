"""Reads and writes Unigram models of a tokenizer.json."""

from __future__ import annotations

from array import array
from decimal import Decimal
from typing import Any

from toksmith._base.lazy import np
from toksmith.engine.portable import TokenIds
from toksmith.errors import FormatError, UnsupportedError, warn
from toksmith.formats.huggingface.entries import Entry, NeedsPlainJson
from toksmith.formats.huggingface.framing import check_added_ids
from toksmith.formats.huggingface.vocab import Ids, kernel_ids, read_flag, write_ids
from toksmith.framing import AddedToken
from toksmith.models import PieceType, Unigram
from toksmith.pipeline import Pipeline


def read(entry: Entry, added: list[AddedToken]) -> Unigram:
    """Return a model of type Unigram.

    All its pieces have one type: every piece of the vocabulary matches text.
    """
    entry.only("type", "unk_id", "vocab", "byte_fallback")
    if held := kernel_ids(entry.get("vocab"), list):
        return _of_kernel(entry, added, held)
    pieces, scores = _read_vocab(entry.get("vocab"))
    unk = entry.get("unk_id")
    unk_id = None if unk.value is None else unk.token_id()
    if unk_id is not None and unk_id >= len(pieces):
        raise FormatError(entry.path, f"{unk.name} is {unk_id}, but there are {len(pieces)} pieces")
    ids = {piece: place for place, piece in enumerate(pieces)}
    model = Unigram(
        vocab=tuple(piece.encode() for piece in pieces),
        scores=np.array(scores, np.float64),
        types=np.full(len(pieces), int(PieceType.NORMAL), np.uint8),
        unk_id=unk_id,
        byte_fallback=_has_bytes(entry, ids),
        single=False,
    )
    check_added_ids(entry.path, added, ids)
    return model


def _of_kernel(entry: Entry, added: list[AddedToken], ids: TokenIds) -> Unigram:
    """Return the model of a vocabulary that the kernel has read."""
    unk = entry.get("unk_id")
    unk_id = None if unk.value is None else unk.token_id()
    if unk_id is not None and unk_id >= len(ids):
        raise NeedsPlainJson
    scores: Any = array("d", ids.scores or b"")
    types: Any = bytes([PieceType.NORMAL]) * len(ids)
    has_bytes = _has_bytes(entry, ids)
    model = Unigram(ids.tokens, scores, types, unk_id, has_bytes, single=False)
    check_added_ids(entry.path, added, ids)
    return model


def _read_vocab(entry: Entry) -> tuple[list[str], list[float]]:
    vocab = entry.of(list)
    for place, item in enumerate(vocab):
        if (
            type(item) is not list
            or list(map(type, item)) not in ([str, float], [str, int])
            or not abs(item[1]) < float("inf")
        ):
            raise FormatError(
                entry.path,
                f"{entry.name}[{place}] is {item!r:.60}, not a piece and its score",
            )
    return [piece for piece, _ in vocab], [_as_read(float(score)) for _, score in vocab]


def _as_read(score: float) -> float:
    """Return a number as serde_json reads it for ``tokenizers``, which may be the double beside.

    Its digits are an integer there, scaled by a power of ten. The kernel's reader does the same.
    """
    sign, digits, exponent = Decimal(repr(score)).as_tuple()
    value = float(int("".join(map(str, digits))))
    scale = int(exponent)
    while scale < -308:
        value, scale = value / 1e308, scale + 308
    value = value / float(f"1e{-scale}") if scale < 0 else value * float(f"1e{scale}")
    return -value if sign else value


def _has_bytes(entry: Entry, ids: Ids) -> bool:
    """Return whether unknown characters fall back to bytes; they need byte pieces for that."""
    missing = [byte for byte in range(256) if f"<0x{byte:02X}>" not in ids]
    if not read_flag(entry, "byte_fallback") or len(missing) == 256:
        return False
    if missing:
        raise UnsupportedError(
            f"{entry.path}: {entry.name}.byte_fallback true cannot be read where only some bytes "
            f"have a piece: there is no <0x{missing[0]:02X}>"
        )
    return True


def write(pipeline: Pipeline, model: Unigram) -> dict[str, Any]:
    """Return the entry of a Unigram model.

    SentencePiece adds scores in float32, ``tokenizers`` in float64, so they may choose different
    segmentations if scores are nearly equal.

    Raises:
        UnsupportedError: a piece has a type that ``tokenizers`` lacks.
    """
    if not model.fuse_unk:
        raise UnsupportedError(
            "huggingface fuses adjacent unknown characters to one token, but this Unigram "
            "model does not"
        )
    return {
        "type": "Unigram",
        "unk_id": model.unk_id,
        "vocab": [
            [piece, score]
            for piece, score in zip(write_ids(pipeline), _scores(pipeline, model), strict=True)
        ],
        "byte_fallback": model.byte_fallback,
    }


def _scores(pipeline: Pipeline, model: Unigram) -> list[float]:
    """Return the score of each piece; ``tokenizers`` treats all pieces as text."""
    scores = model.scores
    if not np.isfinite(scores).all():
        raise UnsupportedError(
            f"huggingface stores scores in JSON, which has no number for the score of piece "
            f"{int(np.isfinite(scores).argmin())}, {scores[~np.isfinite(scores)][0]}"
        )
    if not model.single:
        as_they_are: list[float] = scores.tolist()
        return as_they_are
    for kind, why in (
        (PieceType.USER_DEFINED, "always matches"),
        (PieceType.UNUSED, "never matches text"),
    ):
        for token_id in model.of_type(kind)[:1]:
            raise UnsupportedError(
                f"huggingface matches every piece by its score, but "
                f"{model.vocab[token_id].decode()!r} (of type {kind.name}) {why}; sentencepiece "
                "can hold that"
            )
    special = {token.id for token in pipeline.framing.added_tokens if token.special}
    for kind in (PieceType.CONTROL, PieceType.UNKNOWN):
        for token_id in set(model.of_type(kind)) - special:
            raise UnsupportedError(
                f"huggingface matches every piece in text, but {model.vocab[token_id].decode()!r} "
                f"(of type {kind.name}) is no text; make it a special token, which is "
                "matched first"
            )
    if model.byte_fallback:
        warn(
            'huggingface matches byte pieces in text that spells them, such as "<0x0A>"; '
            "sentencepiece does not",
        )
    if found := sorted([*model.of_type(PieceType.CONTROL), *model.of_type(PieceType.UNKNOWN)]):
        spelled = ", ".join(f"{model.vocab[i].decode()!r} (id {i})" for i in found[:3])
        warn(
            "in a tokenizer.json, every piece of a Unigram model matches text that spells it, also "
            f"special tokens ({spelled}{', …' if len(found) > 3 else ''}): such text gets their "
            "ids there, unlike here; a sentencepiece file keeps the difference"
        )
    # The score of unknown characters depends on the lowest score.
    normal = model.types == int(PieceType.NORMAL)
    lowest = scores[normal].min() if normal.any() else 0.0
    written: list[float] = np.where(normal, scores, np.maximum(scores, lowest)).tolist()
    return written
