"""The characters of a decoded text that each id covers."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from itertools import groupby

from toksmith._base.arrays import SpanArray
from toksmith._base.byte_alphabet import unspell
from toksmith._base.lazy import np
from toksmith.decoders import (
    CTC,
    ByteFallback,
    ByteLevelDecoder,
    Decoder,
    Fuse,
    SentencePieceDecoder,
    Step,
    Strip,
)
from toksmith.errors import UnsupportedError
from toksmith.models import Model
from toksmith.stages.decode import byte_of, decode_step, each_piece


def locate_bytes(parts: Sequence[bytes], errors: str) -> tuple[str, SpanArray]:
    r"""Return the text of byte strings that follow each other, and the characters of each.

    A character that is divided between several belongs to all of them.

    Args:
        parts: the byte strings.
        errors: the handler of invalid UTF-8.

    Returns:
        The text, and int64 of shape ``(parts, 2)``.

    Raises:
        UnicodeDecodeError: ``errors`` is ``"strict"``, and the bytes are invalid UTF-8.

    Example:
        >>> locate_bytes([b"n\xc3", b"\xa9"], "strict")
        ('né', array([[0, 2],
               [1, 2]]))
    """
    data = b"".join(parts)
    ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
    text, first, after = _characters(data, errors)
    starts = ends - np.diff(ends, prepend=0)
    spans = np.empty((len(parts), 2), np.int64)
    spans[:, 0] = first[starts]
    spans[:, 1] = np.where(starts < ends, after[ends - 1], first[starts])
    return text, spans


def _characters(data: bytes, errors: str) -> tuple[str, SpanArray, SpanArray]:
    """Return the text of bytes, and for each byte its first character and the one after its last.

    Both arrays have one entry more than there are bytes: the number of characters.
    """
    first = np.empty(len(data) + 1, np.int64)
    after = np.empty(len(data) + 1, np.int64)
    texts: list[str] = []
    total = 0
    for start, end, text, is_valid in _stretches(data, errors):
        if is_valid:
            begun = np.frombuffer(data, np.uint8, end - start, start) & 0xC0 != 0x80
            after[start:end] = total + np.cumsum(begun)
            first[start:end] = after[start:end] - 1
        else:
            first[start:end], after[start:end] = total, total + len(text)
        texts.append(text)
        total += len(text)
    first[len(data)] = after[len(data)] = total
    return "".join(texts), first, after


def _stretches(data: bytes, errors: str) -> Iterator[tuple[int, int, str, bool]]:
    """Yield stretches of valid UTF-8 and of invalid bytes, each with its text."""
    handler = codecs.lookup_error(errors)
    start = 0
    with memoryview(data) as view:
        while start < len(data):
            try:
                yield start, len(data), str(view[start:], "utf-8"), True
                return
            except UnicodeDecodeError as wrong:
                at, end = start + wrong.start, start + wrong.end
            if at > start:
                yield start, at, str(view[start:at], "utf-8"), True
            error = UnicodeDecodeError("utf-8", data, at, end, "invalid UTF-8")
            yield at, end, str(handler(error)[0]), False
            start = end


def locate_tokens(
    decoder: Decoder, tokens: Sequence[str], model: Model, errors: str
) -> tuple[str, SpanArray]:
    """Return the text that a decoder makes of tokens, and the characters of each token.

    Args:
        decoder: the steps.
        tokens: the tokens as the vocabulary spells them.
        model: the model that the tokens belong to.
        errors: the handler of invalid UTF-8 of a byte-level decoder.

    Raises:
        UnsupportedError: a step of the decoder does not keep the tokens apart.
    """
    parts: list[str | bytes] = list(tokens)
    done = 0
    for step in decoder:
        parts = _run_step(step, parts, model)
        done += 1
        if isinstance(step, Fuse | ByteLevelDecoder | SentencePieceDecoder):
            break
    is_bytes = done and isinstance(decoder[done - 1], ByteLevelDecoder)
    encoded = [part.encode() if isinstance(part, str) else part for part in parts]
    text, spans = locate_bytes(encoded, "replace" if is_bytes else errors)
    for step in decoder[done:]:
        text, spans = _run_on_text(step, text, spans, model)
    return text, spans


def _run_step(step: Step, parts: list[str | bytes], model: Model) -> list[str | bytes]:
    if isinstance(step, Fuse) and not step.separator:
        return parts
    tokens = [part for part in parts if isinstance(part, str)]
    if len(tokens) < len(parts):
        raise _undivided(step)
    match step:
        case Fuse():
            return [*parts[:1], *(step.separator + token for token in tokens[1:])]
        case ByteFallback():
            return list(_byte_parts(tokens))
        case ByteLevelDecoder():
            return [
                token.encode() if (data := unspell(token)) is None else data for token in tokens
            ]
        case SentencePieceDecoder() if not step.charsmap:
            return list(_piece_parts(step, tokens, model))
        case SentencePieceDecoder() | CTC():
            raise _undivided(step)
        case _:
            return list(decode_step(step, tokens, model))


def _byte_parts(tokens: list[str]) -> Iterator[str | bytes]:
    for is_byte, group in groupby(tokens, key=lambda token: byte_of(token) is not None):
        if not is_byte:
            yield from group
            continue
        data = bytes(byte_of(token) or 0 for token in group)
        try:
            data.decode()
        except UnicodeDecodeError:
            yield from "\ufffd" * len(data)
        else:
            yield from (bytes([byte]) for byte in data)


def _piece_parts(
    step: SentencePieceDecoder, tokens: list[str], model: Model
) -> Iterator[str | bytes]:
    done = 0
    for text, count in each_piece(step, tokens, model):
        done += count
        if count == 1:
            yield text
            continue
        run = bytes(byte_of(token) or 0 for token in tokens[done - count : done])
        decoded = run.decode("utf-8", "surrogateescape")
        for character in decoded:
            if "\udc80" <= character <= "\udcff":
                yield "\ufffd"
            else:
                yield from (bytes([byte]) for byte in character.encode())


def _run_on_text(step: Step, text: str, spans: SpanArray, model: Model) -> tuple[str, SpanArray]:
    if isinstance(step, Fuse):
        return text, spans
    if not isinstance(step, Strip):
        raise _undivided(step)
    start = min(step.start, len(text) - len(text.lstrip(step.content)))
    stripped = decode_step(step, [text], model)[0]
    return stripped, np.clip(spans - start, 0, len(stripped))


def _undivided(step: Step) -> UnsupportedError:
    return UnsupportedError(
        f"the characters of each token are not known after the decoder step {type(step).__name__}: "
        "encode the text with encoding(), which has spans"
    )
