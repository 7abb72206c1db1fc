"""Running decoders on a stream of tokens: each step returns a token once it cannot change any more.

The results of all calls, concatenated, equal the result of the step on all tokens at once.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from copy import deepcopy
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


class DecoderStream:
    """Runs all steps of a decoder on a stream of tokens.

    Args:
        decoder: the steps.
        model: the model that the tokens belong to.
    """

    def __init__(self, decoder: Decoder, model: Model) -> None:
        self._model = model
        self._feeds: list[Feed] = []
        one = False  # whether what comes are parts of one token
        for step in decoder:
            self._feeds.append(_part_stream(step, model) if one else stream_step(step, model))
            one = one or isinstance(step, Fuse | ByteLevelDecoder | SentencePieceDecoder)

    def __call__(self, tokens: list[str], final: bool) -> list[str]:
        """Return the tokens that are certain with these tokens."""
        for each in self._feeds:
            tokens = each(tokens, final)
        return tokens

    def copy(self) -> DecoderStream:
        """Return a stream that goes on from here independently of this one."""
        again = DecoderStream((), self._model)
        again._feeds = deepcopy(self._feeds, {id(self._model): self._model})
        return again


def stream_step(step: Step, model: Model) -> Feed:
    """Return a function that runs one step on a stream of tokens."""
    match step:
        case MetaspaceDecoder() | Replace() | Strip() | WordPieceDecoder():
            return _FirstDiffers(step, model)
        case ByteFallback():
            return _ByteFallback(step, model)
        case ByteLevelDecoder():
            return _ByteLevel()
        case Fuse():
            return _Fuse(step)
        case BPEDecoder():
            return _Bpe(step, model)
        case CTC():
            return _Ctc(step, model)
        case SentencePieceDecoder():
            return _Held(step, model) if step.charsmap else _SentencePiece(step, model)
        case _:
            assert_never(step)


def _part_stream(step: Step, model: Model) -> Feed:
    """Return a function that runs one step on the parts of a single token."""
    if isinstance(step, Strip):
        return _StripParts(step)
    if isinstance(step, MetaspaceDecoder) or (
        isinstance(step, Replace) and len(step.pattern) == 1 and not step.is_regex
    ):
        return lambda parts, final: [decode_step(step, [part], model)[0] for part in parts]
    if isinstance(step, Fuse) or (isinstance(step, WordPieceDecoder) and not step.cleanup):
        return lambda parts, final: parts
    return _HeldParts(step, model)


class _Stream:
    """A step with what it has seen of the stream; deepcopy() copies all but the model."""

    def __init__(self, step: Step, model: Model) -> None:
        self.step = step
        self.model = model


class _Held(_Stream):
    """A step that may change all of the text: it runs at the end."""

    def __init__(self, step: Step, model: Model) -> None:
        super().__init__(step, model)
        self.held: list[str] = []

    def __call__(self, tokens: list[str], final: bool) -> list[str]:
        self.held += tokens
        return decode_step(self.step, self.held, self.model) if final else []


class _HeldParts(_Held):
    """The same on the parts of a single token."""

    def __call__(self, tokens: list[str], final: bool) -> list[str]:
        self.held += tokens
        return decode_step(self.step, ["".join(self.held)], self.model) if final else []


class _StripParts:
    def __init__(self, step: Strip) -> None:
        self.step, self.left, self.held = step, step.start, ""

    def __call__(self, parts: list[str], final: bool) -> list[str]:
        content = self.step.content
        text = self.held + "".join(parts)
        while self.left and text.startswith(content):
            text, self.left = text[1:], self.left - 1
        if text:
            self.left = 0
        least = max(0, len(text) - self.step.stop)
        end = len(text)
        while end > least and text[end - 1] == content:
            end -= 1
        self.held = "" if final else text[end:]
        return [text[:end]]


class _FirstDiffers(_Stream):
    """A step that treats the first token differently."""

    is_first = True

    def __call__(self, tokens: list[str], final: bool) -> list[str]:
        if self.is_first and tokens:
            self.is_first = False
            return decode_step(self.step, tokens, self.model)
        return decode_step(self.step, ["", *tokens], self.model)[1:]


class _ByteFallback(_Held):
    def __call__(self, tokens: list[str], final: bool) -> list[str]:
        held = self.held + tokens
        end = len(held)
        while not final and end and byte_of(held[end - 1]) is not None:
            end -= 1
        certain, self.held = held[:end], held[end:]
        return decode_step(self.step, certain, self.model)


class _ByteLevel:
    def __init__(self) -> None:
        self.characters = codecs.getincrementaldecoder("utf-8")("replace")

    def __call__(self, tokens: list[str], final: bool) -> list[str]:
        parts = [token.encode() if (data := unspell(token)) is None else data for token in tokens]
        return [self.characters.decode(b"".join(parts), final)]


class _Fuse:
    def __init__(self, step: Fuse) -> None:
        self.separator, self.is_first = step.separator, True

    def __call__(self, tokens: list[str], final: bool) -> list[str]:
        parts = [self.separator + token for token in tokens]
        if self.is_first and tokens:
            self.is_first, parts[0] = False, tokens[0]
        return parts


class _Bpe(_Stream):
    def __init__(self, step: BPEDecoder, model: Model) -> None:
        super().__init__(step, model)
        self.suffix = step.suffix
        self.held: list[str] = []

    def __call__(self, tokens: list[str], final: bool) -> list[str]:
        known = [*self.held, *tokens]
        if final:
            return decode_step(self.step, known, self.model)
        # A mark in the last token may become nothing.
        end = len(known) - 1 if known and self.suffix in known[-1] else len(known)
        certain, self.held = known[:end], known[end:]
        return decode_step(self.step, [*certain, ""], self.model)[:-1]


class _Ctc(_Stream):
    last: str | None = None

    def __call__(self, tokens: list[str], final: bool) -> list[str]:
        while tokens and tokens[0] == self.last:
            tokens = tokens[1:]
        self.last = tokens[-1] if tokens else self.last
        return decode_step(self.step, tokens, self.model)


class _SentencePiece(_Stream):
    def __init__(self, step: SentencePieceDecoder, model: Model) -> None:
        super().__init__(step, model)
        self.held: list[str] = []
        self.strips = step
        self.plain = replace(step, add_dummy_prefix=False, remove_extra_whitespaces=False)

    def __call__(self, tokens: list[str], final: bool) -> list[str]:
        known = [*self.held, *tokens]
        end = len(known) if final else _certain_pieces(known)
        certain, self.held = known[:end], known[end:]
        text = ""
        while certain and not text and self.strips != self.plain:
            # One by one, until the spaces at the start are through.
            size = 1
            while size < len(certain) and byte_of(certain[size - 1]) is not None:
                size += 1
            first, certain = certain[:size], certain[size:]
            text = decode_step(self.strips, first, self.model)[0]
            if text:
                self.strips = self.plain
            elif decode_step(self.plain, first, self.model) != [""]:
                self.strips = replace(self.strips, add_dummy_prefix=False)
        return [text, *decode_step(self.plain, certain, self.model)]


def _certain_pieces(pieces: list[str]) -> int:
    """Return the number of pieces before an unfinished character."""
    start = len(pieces)
    while start and byte_of(pieces[start - 1]) is not None:
        start -= 1
    characters = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    characters.decode(bytes(byte_of(piece) or 0 for piece in pieces[start:]))
    return len(pieces) - len(characters.getstate()[0])
