"""Writes GGUF files, as llama.cpp's converter does from a model's own tokenizer."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toksmith._base.byte_alphabet import spell
from toksmith.models import BPE, Pieces, PieceType, WordPiece
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.pipeline import Pipeline

UINT8, UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 0, 4, 5, 6, 7, 8, 9
_FORMS = {UINT8: "B", 1: "b", UINT32: "I", INT32: "i", FLOAT32: "f", BOOL: "?", 10: "Q"}
_KEY = "tokenizer.ggml."


@dataclass(frozen=True)
class Array:
    """An array and the type of its elements."""

    kind: int
    values: Iterable[Any]


def gguf(values: Mapping[str, Any], version: int = 3, tail: bytes = b"\0" * 64) -> bytes:
    """Return a file with these keys and values; a bool, int, float, str, bytes or Array each."""
    pairs = b"".join(_string(key) + _typed(value) for key, value in values.items())
    return b"GGUF" + struct.pack("<IQQ", version, 1, len(values)) + pairs + tail


def _string(text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


def _typed(value: Any) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", BOOL, value)
        case int():
            return struct.pack("<II", UINT32, value)
        case float():
            return struct.pack("<If", FLOAT32, value)
        case str() | bytes():
            return struct.pack("<I", STRING) + _string(value)
        case Array(kind, values):
            held = list(values)
            if kind == STRING:
                elements = b"".join(map(_string, held))
            else:
                elements = struct.pack(f"<{len(held)}{_FORMS[kind]}", *held)
            return struct.pack("<IIQ", ARRAY, kind, len(held)) + elements
    raise TypeError(value)


def tokens_of(model: str, tokens: Iterable[str | bytes], **more: Any) -> dict[str, Any]:
    """Return the keys of a tokenizer; keys in ``more`` get the common start of their names."""
    held = {_KEY + "model": model, _KEY + "tokens": Array(STRING, tokens)}
    return (
        {"general.architecture": "llama"}
        | held
        | {_KEY + key.replace("__", "."): value for key, value in more.items()}
    )


def converted(pipe: Pipeline, **more: Any) -> dict[str, Any]:
    """Return the keys of a pipeline, as the converter writes them."""
    match pipe.model:
        case BPE() as model:
            return _of_bytes(pipe, model, **more)
        case WordPiece() as model:
            return _of_words(pipe, model, **more)
        case Pieces() as model:
            return _of_pieces(pipe, model, **more)
    raise TypeError(pipe.model)


def _of_bytes(pipe: Pipeline, model: BPE, **more: Any) -> dict[str, Any]:
    added = {token.id: token for token in pipe.framing.added_tokens}
    size = max([len(model.vocab), *(token_id + 1 for token_id in added)])
    names = [
        added[i].content if i in added else spell(model.vocab[i]) if i < len(model.vocab) else ""
        for i in range(size)
    ]
    names = [name or f"[PAD{i}]" for i, name in enumerate(names)]
    kinds = [
        (PieceType.CONTROL if added[i].special else PieceType.USER_DEFINED) if i in added
        else PieceType.NORMAL for i in range(size)
    ]  # fmt: skip
    merges = (f"{names[left]} {names[right]}" for left, right, _ in model.merges.tolist())
    return tokens_of(
        "gpt2", names, pre="gpt-2", token_type=Array(INT32, kinds), merges=Array(STRING, merges)
    ) | keys(more)


def _of_words(pipe: Pipeline, model: WordPiece, **more: Any) -> dict[str, Any]:
    def spelled(token: bytes) -> bytes:
        if token[:1] == b"[" and token[-1:] == b"]":
            return token
        return token[2:] if token[:2] == b"##" else "▁".encode() + token

    template = pipe.framing.template
    added = {token.id for token in pipe.framing.added_tokens}
    kinds = [PieceType.CONTROL if i in added else 1 for i in range(len(model.vocab))]
    return tokens_of(
        "bert",
        map(spelled, model.vocab),
        token_type=Array(INT32, kinds),
        unknown_token_id=model.unk_id,
        bos_token_id=template.prefix[0],
        seperator_token_id=template.suffix[0],
    ) | keys(more)


def _of_pieces(pipe: Pipeline, model: Pieces, **more: Any) -> dict[str, Any]:
    normalizer = next(s for s in pipe.normalizer if isinstance(s, SentencePieceNormalizer))
    ids = {"unknown": model.unk_id, "bos": model.bos_id, "eos": model.eos_id}
    is_unigram = type(model).__name__ == "Unigram"
    held = tokens_of(
        "t5" if is_unigram else "llama",
        model.vocab,
        scores=Array(FLOAT32, model.scores.tolist()),
        token_type=Array(INT32, model.types.tolist()),
        add_space_prefix=normalizer.add_dummy_prefix,
        **{f"{name}_token_id": i for name, i in ids.items() if i is not None},
    )
    if is_unigram:
        held |= keys({
            "precompiled_charsmap": Array(UINT8, normalizer.charsmap),
            "remove_extra_whitespaces": normalizer.remove_extra_whitespaces,
        })  # fmt: skip
    return held | keys(more)


def keys(more: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of the tokenizer's keys under their full names."""
    return {_KEY + key: value for key, value in more.items()}


def write(path: Path, values: Mapping[str, Any]) -> Path:
    """Write a file and return its path."""
    path.write_bytes(gguf(values))
    return path
