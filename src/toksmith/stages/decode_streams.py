"""Running decoders on a stream of tokens: each step returns a token once it cannot change any more.

The results of all calls, concatenated, equal the result of the step on all tokens at once.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import TypeAlias

from toksmith._base.byte_alphabet import unspell
from toksmith._base.checks import assert_never
from toksmith._base.records import replace
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
from toksmith.models import Model
from toksmith.stages.decode import byte_of, decode_step

Feed: TypeAlias = Callable[[list[str], bool], list[str]]
"""Takes some more tokens, and whether they are the last; returns tokens that are certain."""


def stream_decoder(decoder: Decoder, model: Model) -> Feed:
    """Return a function that runs all steps of a decoder."""
    feeds: list[Feed] = []
    one = False  # whether what comes are parts of one token
    for step in decoder:
        feeds.append(_part_stream(step, model) if one else stream_step(step, model))
        one = one or isinstance(step, Fuse | ByteLevelDecoder | SentencePieceDecoder)

    def feed(tokens: list[str], final: bool) -> list[str]:
        for each in feeds:
            tokens = each(tokens, final)
        return tokens

    return feed


def stream_step(step: Step, model: Model) -> Feed:
    """Return a function that runs one step on a stream of tokens."""
    match step:
        case MetaspaceDecoder() | Replace() | Strip() | WordPieceDecoder():
            return _stream_metaspace_decoder(step, model)
        case ByteFallback():
            return _stream_byte_fallback(step, model)
        case ByteLevelDecoder():
            return _stream_byte_level_decoder(step, model)
        case Fuse():
            return _stream_fuse(step, model)
        case BPEDecoder():
            return _stream_bpe_decoder(step, model)
        case CTC():
            return _stream_ctc(step, model)
        case SentencePieceDecoder():
            return _stream_sentencepiece_decoder(step, model)
        case _:
            assert_never(step)


def _part_stream(step: Step, model: Model) -> Feed:
    """Return a function that runs one step on the parts of a single token."""
    if isinstance(step, Strip):
        return _strip_parts(step)
    if isinstance(step, MetaspaceDecoder) or (
        isinstance(step, Replace) and len(step.pattern) == 1 and not step.is_regex
    ):
        return lambda parts, final: [decode_step(step, [part], model)[0] for part in parts]
    if isinstance(step, Fuse) or (isinstance(step, WordPieceDecoder) and not step.cleanup):
        return lambda parts, final: parts
    held: list[str] = []

    def feed(parts: list[str], final: bool) -> list[str]:
        held.extend(parts)  # what follows may change all of it
        return decode_step(step, ["".join(held)], model) if final else []

    return feed


def _strip_parts(step: Strip) -> Feed:
    left, held = step.start, ""

    def feed(parts: list[str], final: bool) -> list[str]:
        nonlocal left, held
        text = held + "".join(parts)
        while left and text.startswith(step.content):
            text, left = text[1:], left - 1
        if text:
            left = 0
        least = max(0, len(text) - step.stop)
        end = len(text)
        while end > least and text[end - 1] == step.content:
            end -= 1
        held = "" if final else text[end:]
        return [text[:end]]

    return feed


def _stream_metaspace_decoder(step: Step, model: Model) -> Feed:
    is_first = True

    def feed(tokens: list[str], final: bool) -> list[str]:
        nonlocal is_first
        if is_first and tokens:
            is_first = False
            return decode_step(step, tokens, model)
        return decode_step(step, ["", *tokens], model)[1:]

    return feed


def _stream_byte_fallback(step: ByteFallback, model: Model) -> Feed:
    held: list[str] = []

    def feed(tokens: list[str], final: bool) -> list[str]:
        nonlocal held
        held += tokens
        end = len(held)
        while not final and end and byte_of(held[end - 1]) is not None:
            end -= 1
        certain, held = held[:end], held[end:]
        return decode_step(step, certain, model)

    return feed


def _stream_byte_level_decoder(step: ByteLevelDecoder, model: Model) -> Feed:
    characters = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(tokens: list[str], final: bool) -> list[str]:
        parts = [token.encode() if (data := unspell(token)) is None else data for token in tokens]
        return [characters.decode(b"".join(parts), final)]

    return feed


def _stream_fuse(step: Fuse, model: Model) -> Feed:
    is_first = True

    def feed(tokens: list[str], final: bool) -> list[str]:
        nonlocal is_first
        parts = [step.separator + token for token in tokens]
        if is_first and tokens:
            is_first, parts[0] = False, tokens[0]
        return parts

    return feed


def _stream_bpe_decoder(step: BPEDecoder, model: Model) -> Feed:
    held: list[str] = []

    def feed(tokens: list[str], final: bool) -> list[str]:
        nonlocal held
        known = [*held, *tokens]
        if final:
            return decode_step(step, known, model)
        # A mark in the last token may become nothing.
        end = len(known) - 1 if known and step.suffix in known[-1] else len(known)
        certain, held = known[:end], known[end:]
        return decode_step(step, [*certain, ""], model)[:-1]

    return feed


def _stream_ctc(step: CTC, model: Model) -> Feed:
    last: str | None = None

    def feed(tokens: list[str], final: bool) -> list[str]:
        nonlocal last
        while tokens and tokens[0] == last:
            tokens = tokens[1:]
        last = tokens[-1] if tokens else last
        return decode_step(step, tokens, model)

    return feed


def _stream_sentencepiece_decoder(step: SentencePieceDecoder, model: Model) -> Feed:
    held: list[str] = []
    strips = step
    plain = replace(step, add_dummy_prefix=False, remove_extra_whitespaces=False)

    def feed(tokens: list[str], final: bool) -> list[str]:
        nonlocal held, strips
        known = [*held, *tokens]
        end = len(known) if final else _certain_pieces(known)
        certain, held = known[:end], known[end:]
        text = ""
        while certain and not text and strips != plain:
            # One by one, until the spaces at the start are through.
            size = 1
            while size < len(certain) and byte_of(certain[size - 1]) is not None:
                size += 1
            first, certain = certain[:size], certain[size:]
            text = decode_step(strips, first, model)[0]
            if text:
                strips = plain
            elif decode_step(plain, first, model) != [""]:
                strips = replace(strips, add_dummy_prefix=False)
        return [text, *decode_step(plain, certain, model)]

    def hold(tokens: list[str], final: bool) -> list[str]:
        held.extend(tokens)  # the map may change all of the text
        return decode_step(step, held, model) if final else []

    return hold if step.charsmap else feed


def _certain_pieces(pieces: list[str]) -> int:
    """Return the number of pieces before an unfinished character."""
    start = len(pieces)
    while start and byte_of(pieces[start - 1]) is not None:
        start -= 1
    characters = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    characters.decode(bytes(byte_of(piece) or 0 for piece in pieces[start:]))
    return len(pieces) - len(characters.getstate()[0])
