"""The messages of SentencePiece's model files (``sentencepiece_model.proto``), declared here.

So only the ``protobuf`` package is needed, no compiled file. Other fields are skipped.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto

_KINDS = {
    "string": _Field.TYPE_STRING,
    "bytes": _Field.TYPE_BYTES,
    "float": _Field.TYPE_FLOAT,
    "bool": _Field.TYPE_BOOL,
    "int32": _Field.TYPE_INT32,
    "uint64": _Field.TYPE_UINT64,
}

_Fields: TypeAlias = dict[str, tuple[int, str, str | None]]

# name: number, kind, default. Kinds ending in * are repeated. Text is read as bytes, so that errors
# can name a piece of invalid UTF-8.
_PIECE: _Fields = {
    "piece": (1, "bytes", None),
    "score": (2, "float", None),
    "type": (3, "int32", "1"),
}
_TRAINER: _Fields = {
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
_NORMALIZER: _Fields = {
    "name": (1, "bytes", None),
    "precompiled_charsmap": (2, "bytes", None),
    "add_dummy_prefix": (3, "bool", "true"),
    "remove_extra_whitespaces": (4, "bool", "true"),
    "escape_whitespaces": (5, "bool", "true"),
    "normalization_rule_tsv": (6, "bytes", None),
}
_MODEL: _Fields = {
    "pieces": (1, ".toksmith.Piece*", None),
    "trainer_spec": (2, ".toksmith.TrainerSpec", None),
    "normalizer_spec": (3, ".toksmith.NormalizerSpec", None),
    "denormalizer_spec": (5, ".toksmith.NormalizerSpec", None),
}
_MESSAGES: dict[str, _Fields] = {
    "Piece": _PIECE,
    "TrainerSpec": _TRAINER,
    "NormalizerSpec": _NORMALIZER,
    "ModelProto": _MODEL,
}


def _model_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="toksmith_sentencepiece.proto", package="toksmith", syntax="proto2"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, default) in fields.items():
            several, kind = kind.endswith("*"), kind.removesuffix("*")
            message.field.add(
                name=field,
                number=number,
                label=_Field.LABEL_REPEATED if several else _Field.LABEL_OPTIONAL,
                type=_KINDS.get(kind, _Field.TYPE_MESSAGE),
                type_name=kind if kind.startswith(".") else None,
                default_value=default,
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("toksmith.ModelProto"))


ModelProto: Any = _model_class()
"""A whole file: ``pieces``, ``trainer_spec``, ``normalizer_spec``, ``denormalizer_spec``."""
