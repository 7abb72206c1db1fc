"""The vocabulary files of a model folder, for the classes that make a tokenizer of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toksmith._base import files
from toksmith._base.records import dataclass
from toksmith.errors import FormatError
from toksmith.formats.huggingface import class_parts

_CONTROL, _USER_DEFINED = 3, 4  # SentencePiece's types of pieces


def _bpe(**options: Any) -> dict[str, Any]:
    defaults = {"dropout": None, "unk_token": None, "fuse_unk": False, "byte_fallback": False}
    return {"type": "BPE", **defaults, "ignore_merges": False, **options}


@dataclass(frozen=True)
class Merges:
    """``vocab.json`` and ``merges.txt``."""

    ids: dict[str, int]
    merges: list[str]

    def model(self, **options: Any) -> dict[str, Any]:
        """Return the entry of the BPE model."""
        return _bpe(**options, vocab=self.ids, merges=self.merges)


def read_merges(vocab: Path, merges: Path) -> Merges:
    """Read ``vocab.json`` and ``merges.txt``."""
    lines = files.read_text(merges).replace("\r\n", "\n").split("\n")
    if lines and lines[0].startswith("#version"):
        del lines[0]
    return Merges(files.read_json(vocab), [line for line in lines if line])


@dataclass(frozen=True)
class Words:
    """``vocab.txt``."""

    ids: dict[str, int]

    def model(self, unk: str) -> dict[str, Any]:
        """Return the entry of the WordPiece model."""
        return class_parts.step(
            "WordPiece",
            unk_token=unk,
            continuing_subword_prefix="##",
            max_input_chars_per_word=100,
            vocab=self.ids,
        )


def read_words(path: Path) -> Words:
    """Read ``vocab.txt``: the last line with a token counts."""
    lines = files.read_text(path).removesuffix("\n").split("\n")
    return Words({token: place for place, line in enumerate(lines) if (token := line.rstrip())})


@dataclass(frozen=True)
class Pieces:
    """A SentencePiece model."""

    scored: list[tuple[str, float]]
    types: list[int]
    unk_id: int
    charsmap: bytes

    @property
    def added(self) -> list[tuple[str, bool]]:
        """The control and user-defined pieces, and whether each is a control piece."""
        return [
            (piece, kind == _CONTROL)
            for (piece, _), kind in zip(self.scored, self.types, strict=True)
            if kind in (_CONTROL, _USER_DEFINED)
        ]

    def model(self, *, byte_fallback: bool, unk_token: str | None) -> dict[str, Any]:
        """Return the entry of the BPE model on characters."""
        ids = {piece: token_id for token_id, (piece, _) in enumerate(self.scored)}
        return _bpe(
            continuing_subword_prefix=None,
            end_of_word_suffix=None,
            unk_token=unk_token,
            fuse_unk=True,
            byte_fallback=byte_fallback,
            vocab=ids,
            merges=class_parts.scored_merges(ids),
        )


def read_pieces(path: Path) -> Pieces:
    """Read a SentencePiece model."""
    from google.protobuf.message import DecodeError

    from toksmith.formats.sentencepiece_proto import model_class

    try:
        proto = model_class().FromString(files.read_bytes(path))
    except DecodeError as wrong:
        raise FormatError(path, f"not the protobuf of a SentencePiece model: {wrong}") from wrong
    if not proto.pieces:
        raise FormatError(path, "holds no pieces")
    with files.reading(path):
        scored = [(piece.piece.decode(), piece.score) for piece in proto.pieces]
    types = [piece.type for piece in proto.pieces]
    spec = proto.normalizer_spec
    return Pieces(scored, types, proto.trainer_spec.unk_id, bytes(spec.precompiled_charsmap))
