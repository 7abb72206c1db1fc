"""Models and specifications as users give them: files, bytes or messages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from toksmith.compat.sentencepiece.failures import (
    MissingFileError,
    PieceTypeError,
    SentencePieceError,
)
from toksmith.compat.sentencepiece.messages import message_classes
from toksmith.compat.sentencepiece.model import Model
from toksmith.compat.sentencepiece.word_model import WordModel
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats import sentencepiece


def set_switches(spec: Any, switches: dict[str, Any]) -> None:
    """Set fields of a message ``NormalizerSpec`` that are switches."""
    for name, value in switches.items():
        if name not in ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"):
            raise SentencePieceError(
                f"unknown switch {name!r:.40}: use add_dummy_prefix, remove_extra_whitespaces or "
                "escape_whitespaces"
            )
        setattr(spec, name, str(value).lower() in ("true", "t", "1", "yes", "y"))


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file."""
    try:
        return Path(os.fsdecode(path)).read_bytes()
    except TypeError:
        raise PieceTypeError(f"{path!r:.40} is no path of a file: use a str") from None
    except (OSError, ValueError) as wrong:
        raise MissingFileError(f"{os.fsdecode(path)}: cannot be read: {wrong}") from wrong


def serialized_bytes(message: Any) -> bytes:
    """Return a message, or bytes, as bytes."""
    if hasattr(message, "SerializeToString"):
        message = message.SerializeToString()
    if not isinstance(message, bytes):
        raise PieceTypeError(f"{message!r:.40} is no model: use bytes, or a message ModelProto")
    return message


def read_model(data: bytes) -> Model:
    """Return the model in the content of a file.

    Raises:
        SentencePieceError: the content is damaged, or has a feature that is not supported.
    """
    where = Path("model_proto")
    try:
        try:
            return Model(sentencepiece.parse(data, where))
        except UnsupportedError:
            message = message_classes()["ModelProto"].FromString(data)
            if message.trainer_spec.model_type != sentencepiece.WORD:
                raise
        message.trainer_spec.model_type = sentencepiece.BPE
        return WordModel(sentencepiece.parse(message.SerializeToString(), where))
    except (FormatError, UnsupportedError) as wrong:
        raise SentencePieceError(str(wrong)) from wrong
