"""Decoders, step by step: each makes a list of tokens from the list before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import groupby

from toksmith.arguments import assert_never
from toksmith.byte_alphabet import unspell
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
from toksmith.reference.aligned import edited
from toksmith.reference.decoding_sentencepiece import sentencepiece_text
from toksmith.reference.normalizing import edits


def decoded(decoder: Decoder, tokens: Iterable[str], model: Model) -> str:
    """Return the text of tokens.

    Args:
        decoder: the steps.
        tokens: each as the vocabulary spells it.
        model: whose tokens they are, for steps that have to know what kind each is.

    Example:
        >>> from toksmith.models import WordLevel
        >>> decoded((WordPieceDecoder(),), ["token", "##s", "!"], WordLevel(()))
        'tokens!'
    """
    tokens = list(tokens)
    for step in decoder:
        tokens = decode_step(step, tokens, model)
    return "".join(tokens)


def decode_step(step: Step, tokens: list[str], model: Model) -> list[str]:
    """Return the tokens that a step makes of tokens."""
    match step:
        case ByteFallback():
            return list(_bytes_joined(tokens))
        case ByteLevelDecoder():
            parts = [
                token.encode() if (data := unspell(token)) is None else data for token in tokens
            ]
            return [b"".join(parts).decode("utf-8", "replace")]
        case Fuse():
            return [step.separator.join(tokens)]
        case Replace():
            if step.pattern and not step.is_regex:
                return [token.replace(step.pattern, step.content) for token in tokens]
            return [edited(token, edits(step, token)) for token in tokens]
        case Strip():
            return [_stripped(token, step) for token in tokens]
        case BPEDecoder():
            ends = [" "] * (len(tokens) - 1) + [""]
            return [
                token.replace(step.suffix, end) for token, end in zip(tokens, ends, strict=False)
            ]
        case MetaspaceDecoder():
            return [
                token.replace(step.replacement, "" if step.strip and place == 0 else " ")
                for place, token in enumerate(tokens)
            ]
        case WordPieceDecoder():
            words = [
                token if place == 0 else _word_piece(token, step.prefix)
                for place, token in enumerate(tokens)
            ]
            return [cleaned(word) for word in words] if step.cleanup else words
        case CTC():
            found = [token.replace(step.pad_token, "") for token, _ in groupby(tokens)]
            if step.cleanup:
                found = [cleaned(token).replace(step.word_delimiter_token, " ") for token in found]
            return [token for token in found if token]
        case SentencePieceDecoder():
            return sentencepiece_text(step, tokens, model)
        case _:
            assert_never(step)


def _bytes_joined(tokens: list[str]) -> Iterator[str]:
    for spelled, group in groupby(tokens, key=lambda token: byte_of(token) is not None):
        if not spelled:
            yield from group
            continue
        data = bytes(byte for token in group if (byte := byte_of(token)) is not None)
        try:
            yield data.decode()
        except UnicodeDecodeError:
            yield from "\ufffd" * len(data)


def byte_of(token: str) -> int | None:
    """Return the byte that ``<0x0A>`` or its like spells."""
    if len(token) != 6 or not token.startswith("<0x") or token[5] != ">":
        return None
    try:
        return int(token[3:5], 16) if token[3:5].isalnum() and token.isascii() else None
    except ValueError:
        return None


def _stripped(token: str, step: Strip) -> str:
    start, end = 0, len(token)
    while start < min(step.start, end) and token[start] == step.content:
        start += 1
    least = max(start, end - step.stop)
    while end > least and token[end - 1] == step.content:
        end -= 1
    return token[start:end]


def _word_piece(token: str, prefix: str) -> str:
    return token[len(prefix) :] if token.startswith(prefix) else f" {token}"


_CLEANUP = (
    *((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't")),
    *((" 'm", "'m"), (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re")),
)


def cleaned(text: str) -> str:
    """Return English text without the spaces before punctuation and in contractions.

    Example:
        >>> cleaned("it 's fine , is n't it ?")
        "it's fine, isn't it?"
    """
    return reduce(lambda done, rule: done.replace(*rule), _CLEANUP, text)
