"""The messages of SentencePiece's model files (``sentencepiece_model.proto``), declared here.

So only the ``protobuf`` package is needed, no compiled file. Other fields are skipped. Since its
import takes longer than reading a model, :func:`read_specs` reads what loading needs without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from struct import unpack
from types import SimpleNamespace
from typing import Any, TypeAlias

_WIRES = {"bytes": 2, "float": 5, "bool": 0, "int32": 0, "uint64": 0}
"""How each kind of field is stored: 0 as a varint, 2 with its size before it, 5 as four bytes."""

Fields: TypeAlias = dict[str, tuple[int, str, str | None]]

# name: number, kind, default. Kinds ending in * are repeated. Text is read as bytes, so that errors
# can name a piece of invalid UTF-8.
_PIECE: Fields = {
    "piece": (1, "bytes", None),
    "score": (2, "float", None),
    "type": (3, "int32", "1"),
}
_TRAINER: Fields = {
    "input": (1, "bytes*", None),
    "model_prefix": (2, "bytes", None),
    "model_type": (3, "int32", "1"),
    "vocab_size": (4, "int32", "8000"),
    "accept_language": (5, "bytes*", None),
    "self_test_sample_size": (6, "int32", None),
    "input_format": (7, "bytes", None),
    "character_coverage": (10, "float", "0.9995"),
    "input_sentence_size": (11, "uint64", None),
    "mining_sentence_size": (12, "int32", None),
    "training_sentence_size": (13, "int32", None),
    "seed_sentencepiece_size": (14, "int32", "1000000"),
    "shrinking_factor": (15, "float", "0.75"),
    "num_threads": (16, "int32", "16"),
    "num_sub_iterations": (17, "int32", "2"),
    "max_sentence_length": (18, "int32", "4192"),
    "shuffle_input_sentence": (19, "bool", "true"),
    "max_sentencepiece_length": (20, "int32", "16"),
    "split_by_unicode_script": (21, "bool", "true"),
    "split_by_whitespace": (22, "bool", "true"),
    "split_by_number": (23, "bool", "true"),
    "treat_whitespace_as_suffix": (24, "bool", None),
    "split_digits": (25, "bool", None),
    "allow_whitespace_only_pieces": (26, "bool", None),
    "control_symbols": (30, "bytes*", None),
    "user_defined_symbols": (31, "bytes*", None),
    "vocabulary_output_piece_score": (32, "bool", "true"),
    "hard_vocab_limit": (33, "bool", "true"),
    "use_all_vocab": (34, "bool", None),
    "byte_fallback": (35, "bool", None),
    "required_chars": (36, "bytes", None),
    "unk_id": (40, "int32", "0"),
    "bos_id": (41, "int32", "1"),
    "eos_id": (42, "int32", "2"),
    "pad_id": (43, "int32", "-1"),
    "unk_surface": (44, "bytes", r" \342\201\207 "),
    "unk_piece": (45, "bytes", "<unk>"),
    "bos_piece": (46, "bytes", "<s>"),
    "eos_piece": (47, "bytes", "</s>"),
    "pad_piece": (48, "bytes", "<pad>"),
    "train_extremely_large_corpus": (49, "bool", None),
    "enable_differential_privacy": (50, "bool", None),
    "differential_privacy_noise_level": (51, "float", None),
    "differential_privacy_clipping_threshold": (52, "uint64", None),
    "pretokenization_delimiter": (53, "bytes", None),
    "seed_sentencepieces_file": (54, "bytes", None),
    "auto_character_coverage": (55, "bool", None),
}
_NORMALIZER: Fields = {
    "name": (1, "bytes", None),
    "precompiled_charsmap": (2, "bytes", None),
    "add_dummy_prefix": (3, "bool", "true"),
    "remove_extra_whitespaces": (4, "bool", "true"),
    "escape_whitespaces": (5, "bool", "true"),
    "normalization_rule_tsv": (6, "bytes", None),
}
_MODEL: Fields = {
    "pieces": (1, ".toksmith.Piece*", None),
    "trainer_spec": (2, ".toksmith.TrainerSpec", None),
    "normalizer_spec": (3, ".toksmith.NormalizerSpec", None),
    "denormalizer_spec": (5, ".toksmith.NormalizerSpec", None),
}
MESSAGES: dict[str, Fields] = {
    "Piece": _PIECE,
    "TrainerSpec": _TRAINER,
    "NormalizerSpec": _NORMALIZER,
    "ModelProto": _MODEL,
}


@cache
def model_class() -> Any:
    """Return the class of a whole file.

    Its fields are ``pieces``, ``trainer_spec``, ``normalizer_spec`` and ``denormalizer_spec``.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="toksmith_sentencepiece.proto", package="toksmith", syntax="proto2"
    )
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, default) in fields.items():
            several, kind = kind.endswith("*"), kind.removesuffix("*")
            message.field.add(
                name=field,
                number=number,
                label=kinds.LABEL_REPEATED if several else kinds.LABEL_OPTIONAL,
                type=getattr(kinds, f"TYPE_{kind.upper()}", kinds.TYPE_MESSAGE),
                type_name=kind if kind.startswith(".") else None,
                default_value=default,
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("toksmith.ModelProto"))


def read_specs(data: bytes) -> SimpleNamespace | None:
    """Return the fields of a file other than its pieces, with the names of the class.

    Args:
        data: the fields as they are in the file.

    Returns:
        ``None`` where the ``protobuf`` package has to read the file: it is damaged, or a message
        is in it twice.
    """
    names = {_MODEL[f"{name}_spec"][0]: name for name in ("trainer", "normalizer", "denormalizer")}
    specs = SimpleNamespace(
        **{f"{name}_spec": _defaults(_FIELDS_OF[name]) for name in names.values()}
    )
    seen = set()
    try:
        for number, wire, value in _read_fields(data):
            if (name := names.get(number)) is None:
                continue
            if wire != _WIRES["bytes"] or name in seen:
                return None
            seen.add(name)
            _read_message(value, _FIELDS_OF[name], getattr(specs, f"{name}_spec"))
    except (IndexError, ValueError):
        return None
    return specs


_FIELDS_OF = {"trainer": _TRAINER, "normalizer": _NORMALIZER, "denormalizer": _NORMALIZER}


def _defaults(fields: Fields) -> SimpleNamespace:
    return SimpleNamespace(**{name: _default(*field[1:]) for name, field in fields.items()})


def _default(kind: str, written: str | None) -> Any:
    if kind.endswith("*"):
        return []
    if kind == "bytes":
        return (written or "").encode("latin-1").decode("unicode_escape").encode("latin-1")
    if kind == "bool":
        return written == "true"
    return (float if kind == "float" else int)(written or 0)


def _read_message(data: bytes, fields: Fields, into: SimpleNamespace) -> None:
    by_number = {field[0]: (name, field[1]) for name, field in fields.items()}
    for number, wire, value in _read_fields(data):
        if number not in by_number:
            continue
        name, kind = by_number[number]
        if wire != _WIRES[kind.removesuffix("*")]:
            raise ValueError(f"{name} is stored in another way")
        if kind.endswith("*"):
            getattr(into, name).append(value)
            continue
        if kind == "bool":
            value = bool(value)
        elif kind == "int32":
            value = (value + 2**31) % 2**32 - 2**31
        elif kind == "float":
            (value,) = unpack("<f", value)
        setattr(into, name, value)


def _read_fields(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """Yield the number, the way of storing and the value of each field."""
    place = 0
    while place < len(data):
        tag, place = _read_varint(data, place)
        wire = tag & 7
        if wire == 0:
            value, place = _read_varint(data, place)
            yield tag >> 3, wire, value
            continue
        if wire == _WIRES["bytes"]:
            size, place = _read_varint(data, place)
        else:
            size = {1: 8, 5: 4}.get(wire, len(data) + 1)
        if place + size > len(data):
            raise ValueError("a field reaches beyond the end")
        yield tag >> 3, wire, data[place : place + size]
        place += size


def _read_varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value % 2**64, place
    raise ValueError("a number of more than ten bytes")
