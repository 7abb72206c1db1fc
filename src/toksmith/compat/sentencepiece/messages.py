"""The protobuf messages of SentencePiece: ``ModelProto``, ``SentencePieceText`` and their parts.

They live in a descriptor pool of their own, so SentencePiece's modules can be imported beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from toksmith._base.lazy import importing
from toksmith.formats.sentencepiece_proto import MESSAGES, Fields

_OPEN = range(200, 1 << 29)
"""The field numbers that SentencePiece leaves to extensions."""

_MODEL_TYPES = {"UNIGRAM": 1, "BPE": 2, "WORD": 3, "CHAR": 4}
_PIECE_TYPES = {
    "NORMAL": 1, "UNKNOWN": 2, "CONTROL": 3, "USER_DEFINED": 4, "BYTE": 6, "UNUSED": 5,
}  # fmt: skip


@cache
def message_classes() -> Mapping[str, Any]:
    """Return the classes of the messages by name.

    Raises:
        MissingExtraError: the package ``protobuf`` is not installed.
    """
    message = "SentencePiece's messages need protobuf, which is not installed: pip install protobuf"
    with importing("google.protobuf", message):
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    pool = descriptor_pool.DescriptorPool()
    for file in (_model_file(descriptor_pb2), _text_file(descriptor_pb2)):
        pool.Add(file)
    names = (
        "ModelProto", "TrainerSpec", "NormalizerSpec", "SelfTestData", "SentencePieceText",
        "NBestSentencePieceText",
    )  # fmt: skip
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"sentencepiece.{name}"))
        for name in names
    }


def _model_file(pb: Any) -> Any:
    """Return the description of ``sentencepiece_model.proto``."""
    file = pb.FileDescriptorProto(
        name="sentencepiece_model.proto", package="sentencepiece", syntax="proto2"
    )
    trainer = _message(pb, file.message_type, "TrainerSpec", _texts(MESSAGES["TrainerSpec"]))
    _enum(pb, trainer, "ModelType", _MODEL_TYPES, "model_type", ".sentencepiece.TrainerSpec")
    normalizer = {**_texts(MESSAGES["NormalizerSpec"]), "precompiled_charsmap": (2, "bytes", None)}
    _message(pb, file.message_type, "NormalizerSpec", normalizer)
    samples: Fields = {"samples": (1, ".sentencepiece.SelfTestData.Sample*", None)}
    test = _message(pb, file.message_type, "SelfTestData", samples)
    sample: Fields = {"input": (1, "string", None), "expected": (2, "string", None)}
    _message(pb, test.nested_type, "Sample", sample, is_open=False)
    fields: Fields = {
        "pieces": (1, ".sentencepiece.ModelProto.SentencePiece*", None),
        "trainer_spec": (2, ".sentencepiece.TrainerSpec", None),
        "normalizer_spec": (3, ".sentencepiece.NormalizerSpec", None),
        "self_test_data": (4, ".sentencepiece.SelfTestData", None),
        "denormalizer_spec": (5, ".sentencepiece.NormalizerSpec", None),
    }
    model = _message(pb, file.message_type, "ModelProto", fields)
    piece = _message(pb, model.nested_type, "SentencePiece", _texts(MESSAGES["Piece"]))
    _enum(pb, piece, "Type", _PIECE_TYPES, "type", ".sentencepiece.ModelProto.SentencePiece")
    return file


def _text_file(pb: Any) -> Any:
    """Return the description of ``sentencepiece.proto``."""
    file = pb.FileDescriptorProto(
        name="sentencepiece.proto", package="sentencepiece", syntax="proto2"
    )
    fields: Fields = {
        "text": (1, "string", None),
        "pieces": (2, ".sentencepiece.SentencePieceText.SentencePiece*", None),
        "score": (3, "float", None),
    }
    text = _message(pb, file.message_type, "SentencePieceText", fields)
    piece: Fields = {
        "piece": (1, "string", None),
        "id": (2, "uint32", None),
        "surface": (3, "string", None),
        "begin": (4, "uint32", None),
        "end": (5, "uint32", None),
    }
    _message(pb, text.nested_type, "SentencePiece", piece)
    several: Fields = {"nbests": (1, ".sentencepiece.SentencePieceText*", None)}
    _message(pb, file.message_type, "NBestSentencePieceText", several, is_open=False)
    return file


def _texts(fields: Fields) -> Fields:
    """Return fields whose text is ``string``, with defaults as it spells them."""
    return {
        name: (
            number,
            kind.replace("bytes", "string"),
            _unescaped(written) if kind == "bytes" else written,
        )
        for name, (number, kind, written) in fields.items()
    }


def _unescaped(written: str | None) -> str | None:
    """Return a default of bytes, which is written with escapes, as text."""
    return written and written.encode("latin-1").decode("unicode_escape").encode("latin-1").decode()


def _message(pb: Any, into: Any, name: str, fields: Fields, *, is_open: bool = True) -> Any:
    kinds = pb.FieldDescriptorProto
    message = into.add(name=name)
    for field, (number, kind, default) in fields.items():
        several, kind = kind.endswith("*"), kind.removesuffix("*")
        message.field.add(
            name=field,
            number=number,
            label=kinds.LABEL_REPEATED if several else kinds.LABEL_OPTIONAL,
            type=kinds.TYPE_MESSAGE
            if kind.startswith(".")
            else kinds.Type.Value(f"TYPE_{kind.upper()}"),
            type_name=kind if kind.startswith(".") else None,
            default_value=default,
        )
    if is_open:
        message.extension_range.add(start=_OPEN.start, end=_OPEN.stop)
    return message


def _enum(
    pb: Any, message: Any, name: str, values: Mapping[str, int], field: str, scope: str
) -> None:
    """Add an enum to a message as the type of one of its fields; the first value is the default."""
    enum = message.enum_type.add(name=name)
    for value, number in values.items():
        enum.value.add(name=value, number=number)
    found = next(each for each in message.field if each.name == field)
    found.type, found.type_name = pb.FieldDescriptorProto.TYPE_ENUM, f"{scope}.{name}"
    found.default_value = next(iter(values))
