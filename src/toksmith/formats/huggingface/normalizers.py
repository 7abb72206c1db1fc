"""Reads and writes the normalizer of a tokenizer.json."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any, Literal, get_args

from toksmith._base import files
from toksmith._base.checks import assert_never
from toksmith.engine import portable
from toksmith.errors import FormatError, OptionError, UnsupportedError
from toksmith.formats.huggingface import patterns
from toksmith.formats.huggingface.entries import Entry
from toksmith.normalizers import (
    Bert,
    ByteLevel,
    Lowercase,
    Nmt,
    Normalizer,
    Precompiled,
    Prepend,
    Replace,
    SentencePieceNormalizer,
    Step,
    Strip,
    StripAccents,
    UnicodeForm,
)

_Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
_BERT = ("clean_text", "handle_chinese_chars", "lowercase")


def read(entry: Entry) -> Normalizer:
    """Return the normalizer's steps.

    Raises:
        FormatError: the file is damaged.
        UnsupportedError: a step is not supported; the message names it.
    """
    if entry.value is None:
        return ()
    kind = entry.get("type").value
    if kind == "Sequence":
        entry.only("type", "normalizers")
        return tuple(step for part in entry.get("normalizers").items() for step in read(part))
    if not isinstance(kind, str) or kind not in _READERS:
        raise entry.refusal()
    with files.reading(entry.path):
        return (_READERS[kind](entry),)


def write(normalizer: Normalizer) -> dict[str, Any] | None:
    """Return the entry of a normalizer.

    Raises:
        UnsupportedError: ``tokenizers`` has no such step.
    """
    parts = [_write(step) for step in normalizer]
    if len(parts) <= 1:
        return parts[0] if parts else None
    return {"type": "Sequence", "normalizers": parts}


def _read_bert(entry: Entry) -> Bert:
    entry.only("type", *_BERT, "strip_accents")
    strip = entry.get("strip_accents")
    return Bert(
        **{key: entry.get(key).of(bool) for key in _BERT},
        strip_accents=None if strip.value is None else strip.of(bool),
    )


def _read_form(entry: Entry) -> UnicodeForm:
    entry.only("type")
    return UnicodeForm(entry.value["type"])


def _read_precompiled(entry: Entry) -> Precompiled:
    entry.only("type", "precompiled_charsmap")
    name = f"{entry.name}.precompiled_charsmap"
    try:
        charsmap = base64.b64decode(entry.text("precompiled_charsmap"), validate=True)
    except (binascii.Error, ValueError) as wrong:
        raise FormatError(entry.path, f"{name} is no base64: {wrong}") from wrong
    try:
        portable.check_character_map(charsmap)
    except OptionError as wrong:
        raise FormatError(entry.path, f"{name} is damaged: {wrong}") from wrong
    return Precompiled(charsmap)


def _read_prepend(entry: Entry) -> Prepend:
    entry.only("type", "prepend")
    return Prepend(entry.text("prepend"))


def _read_replace(entry: Entry) -> Replace:
    entry.only("type", "pattern", "content")
    pattern, is_regex = patterns.read(entry.get("pattern"))
    return Replace(pattern, entry.text("content"), is_regex)


def _read_strip(entry: Entry) -> Strip:
    entry.only("type", "strip_left", "strip_right")
    return Strip(entry.get("strip_left").of(bool), entry.get("strip_right").of(bool))


def _alone(step: Step) -> Callable[[Entry], Step]:
    """Return the reader of a step without options."""

    def reader(entry: Entry) -> Step:
        entry.only("type")
        return step

    return reader


_READERS: dict[str, Callable[[Entry], Step]] = {
    "BertNormalizer": _read_bert,
    "ByteLevel": _alone(ByteLevel()),
    "Lowercase": _alone(Lowercase()),
    "Nmt": _alone(Nmt()),
    "Precompiled": _read_precompiled,
    "Prepend": _read_prepend,
    "Replace": _read_replace,
    "Strip": _read_strip,
    "StripAccents": _alone(StripAccents()),
    **dict.fromkeys(get_args(_Form), _read_form),
}


def _write(step: Step) -> dict[str, Any]:
    match step:
        case Bert():
            return _write_bert(step)
        case UnicodeForm():
            return {"type": step.form}
        case ByteLevel() | Lowercase() | Nmt() | StripAccents():
            return {"type": type(step).__name__}
        case Precompiled():
            charsmap = base64.b64encode(step.charsmap).decode("ascii")
            return {"type": "Precompiled", "precompiled_charsmap": charsmap}
        case Prepend():
            return {"type": "Prepend", "prepend": step.prefix}
        case Replace():
            pattern = patterns.write(step.pattern, step.is_regex)
            return {"type": "Replace", "pattern": pattern, "content": step.content}
        case Strip():
            return {"type": "Strip", "strip_left": step.left, "strip_right": step.right}
        case SentencePieceNormalizer():
            raise UnsupportedError(
                f"huggingface: {step!r:.80} has no equivalent in a tokenizer.json"
            )
        case _:
            assert_never(step)


def _write_bert(step: Bert) -> dict[str, Any]:
    return {
        "type": "BertNormalizer",
        "clean_text": step.clean_text,
        "handle_chinese_chars": step.handle_chinese_chars,
        "strip_accents": step.strip_accents,
        "lowercase": step.lowercase,
    }
