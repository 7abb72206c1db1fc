"""Reads and writes the decoder of a tokenizer.json."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toksmith._base.checks import assert_never
from toksmith.decoders import (
    CTC,
    BPEDecoder,
    ByteFallback,
    ByteLevelDecoder,
    Decoder,
    Fuse,
    MetaspaceDecoder,
    Replace,
    SentencePieceDecoder,
    Step,
    Strip,
    WordPieceDecoder,
)
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats.huggingface import patterns
from toksmith.formats.huggingface.entries import Entry
from toksmith.formats.huggingface.splitters import BYTE_LEVEL

JOINED = Fuse(" ")
"""Without a decoder, tokens are joined by spaces."""


def read(entry: Entry, byte_level: bool) -> Decoder | None:
    """Return the decoder; ``None`` if the bytes of the tokens are the text.

    Other decoders of a byte-level model get the spelling of the bytes.

    Args:
        entry: the file's decoder.
        byte_level: whether the model's tokens are bytes.

    Raises:
        UnsupportedError: toksmith does not have this decoder.
    """
    decoder = (JOINED,) if entry.value is None else _read(entry)
    return None if byte_level and decoder == (ByteLevelDecoder(),) else decoder


def _read(entry: Entry) -> Decoder:
    kind = entry.text("type")
    if kind == "Sequence":
        entry.only("type", "decoders")
        return tuple(step for part in entry.get("decoders").items() for step in _read(part))
    if kind not in _READERS:
        raise entry.refusal()
    return (_READERS[kind](entry),)


def _bpe(entry: Entry) -> Step:
    entry.only("type", "suffix")
    return BPEDecoder(entry.text("suffix"))


def _byte_fallback(entry: Entry) -> Step:
    entry.only("type")
    return ByteFallback()


def _byte_level(entry: Entry) -> Step:
    entry.only(*BYTE_LEVEL)  # its options are the splitter's, without effect on decoding
    return ByteLevelDecoder()


def _ctc(entry: Entry) -> Step:
    entry.only("type", "pad_token", "word_delimiter_token", "cleanup")
    return CTC(
        entry.text("pad_token"),
        entry.text("word_delimiter_token"),
        entry.get("cleanup").of(bool),
    )


def _fuse(entry: Entry) -> Step:
    entry.only("type")
    return Fuse()


def _metaspace(entry: Entry) -> Step:
    entry.only("type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep")
    entry.expect("prepend_scheme", None, "always", "first", "never")
    strip = entry.value.get("prepend_scheme") != "never"
    entry.expect("add_prefix_space", None, True, *[] if strip else [False])
    return MetaspaceDecoder(_character(entry.get("replacement")), strip)


def _replace(entry: Entry) -> Step:
    entry.only("type", "pattern", "content")
    pattern, is_regex = patterns.read(entry.get("pattern"))
    return Replace(pattern, entry.text("content"), is_regex)


def _strip(entry: Entry) -> Step:
    entry.only("type", "content", "start", "stop")
    start, stop = (entry.get(key).token_id() for key in ("start", "stop"))
    return Strip(_character(entry.get("content")), start, stop)


def _word_piece(entry: Entry) -> Step:
    entry.only("type", "prefix", "cleanup")
    return WordPieceDecoder(entry.text("prefix"), entry.get("cleanup").of(bool))


def _character(entry: Entry) -> str:
    character = entry.of(str)
    if len(character) != 1:
        raise FormatError(entry.path, f"{entry.name} is {character!r:.60}, not one character")
    return character


_READERS: dict[str, Callable[[Entry], Step]] = {
    "BPEDecoder": _bpe,
    "ByteFallback": _byte_fallback,
    "ByteLevel": _byte_level,
    "CTC": _ctc,
    "Fuse": _fuse,
    "Metaspace": _metaspace,
    "Replace": _replace,
    "Strip": _strip,
    "WordPiece": _word_piece,
}


def write(decoder: Decoder | None, byte_level: bool) -> dict[str, Any] | None:
    """Return the entry of a decoder.

    Args:
        decoder: the steps; ``None`` if the bytes of the tokens are the text.
        byte_level: whether the file spells the model's tokens in GPT-2's byte alphabet.

    Raises:
        UnsupportedError: ``tokenizers`` has no such step.
    """
    if decoder is None:
        return BYTE_LEVEL if byte_level else _entry(Fuse())
    if decoder == (JOINED,):
        return None
    entries = [_entry(step) for step in decoder]
    return entries[0] if len(entries) == 1 else {"type": "Sequence", "decoders": entries}


def _entry(step: Step) -> dict[str, Any]:
    match step:
        case BPEDecoder():
            return {"type": "BPEDecoder", "suffix": step.suffix}
        case ByteFallback():
            return {"type": "ByteFallback"}
        case ByteLevelDecoder():
            return BYTE_LEVEL
        case CTC():
            return {
                "type": "CTC",
                "pad_token": step.pad_token,
                "word_delimiter_token": step.word_delimiter_token,
                "cleanup": step.cleanup,
            }
        case Fuse():
            if step.separator:
                raise UnsupportedError(
                    f"huggingface cannot join tokens by the separator {step.separator!r}"
                )
            return {"type": "Fuse"}
        case MetaspaceDecoder():
            return _write_metaspace_decoder(step)
        case Replace():
            pattern = patterns.write(step.pattern, step.is_regex)
            return {"type": "Replace", "pattern": pattern, "content": step.content}
        case Strip():
            return {
                "type": "Strip",
                "content": step.content,
                "start": step.start,
                "stop": step.stop,
            }
        case WordPieceDecoder():
            return {"type": "WordPiece", "prefix": step.prefix, "cleanup": step.cleanup}
        case SentencePieceDecoder():
            raise UnsupportedError(f"huggingface has no decoder for {type(step).__name__}")
        case _:
            assert_never(step)


def _write_metaspace_decoder(step: MetaspaceDecoder) -> dict[str, Any]:
    scheme = "always" if step.strip else "never"
    return {
        "type": "Metaspace",
        "replacement": step.replacement,
        "prepend_scheme": scheme,
        "split": True,
    }
