"""Running decoders: each step turns a list of tokens into another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import groupby

from toksmith._base.byte_alphabet import unspell
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
from toksmith.models import Model, Pieces, PieceType
from toksmith.normalizers import SentencePieceNormalizer
from toksmith.stages.aligned import apply_edits
from toksmith.stages.normalize import find_edits
from toksmith.stages.normalize_sentencepiece import SPACE, sentencepiece_edits


def join_pieces(step: SentencePieceDecoder, tokens: list[str], model: Model) -> list[str]:
    """Return the text of pieces, as the only token.

    What is no piece of the model is an added token, and becomes nothing, as control pieces do.
    """
    text = "".join(text for text, _ in each_piece(step, tokens, model))
    if step.charsmap:
        plain = SentencePieceNormalizer(step.charsmap, False, False, False)
        text = apply_edits(text, sentencepiece_edits(plain, text))
    return [text]


def each_piece(
    step: SentencePieceDecoder, tokens: list[str], model: Model
) -> Iterator[tuple[str, int]]:
    """Yield the text of each piece with 1, or that of consecutive byte pieces with their number."""
    strips = step.add_dummy_prefix or step.remove_extra_whitespaces
    is_start = True
    for is_byte, run in groupby(tokens, key=lambda token: _type(model, token) is PieceType.BYTE):
        if is_byte:
            found = list(run)
            is_start = False
            yield _characters(found), len(found)
            continue
        for token in run:
            kind, text = _type(model, token), ""
            if kind is PieceType.UNKNOWN:
                text = step.unk_surface
            elif kind is not PieceType.CONTROL:
                # The first mark is the dummy's. A second one is text, if normalizing kept it.
                if strips and is_start and token.startswith(SPACE):
                    token = token.removeprefix(SPACE)
                    strips = step.remove_extra_whitespaces
                text = token.replace(SPACE, " ")
            is_start = is_start and not text
            yield text, 1


def _type(model: Model, token: str) -> PieceType:
    token_id = model.ids.get(token.encode())
    if token_id is None:
        return PieceType.CONTROL
    if isinstance(model, Pieces):
        return PieceType(int(model.types[token_id]))
    unknown = token_id == getattr(model, "unk_id", None)
    return PieceType.UNKNOWN if unknown else PieceType.NORMAL


def _characters(tokens: list[str]) -> str:
    """Return the text of byte pieces; each byte of invalid UTF-8 is one U+FFFD."""
    data = bytes(int(token[3:5], 16) for token in tokens)
    text = data.decode("utf-8", "surrogateescape")
    return "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text)


def run_decoder(decoder: Decoder, tokens: Iterable[str], model: Model) -> str:
    """Return the text of tokens.

    Args:
        decoder: the steps.
        tokens: each as the vocabulary spells it.
        model: whose tokens they are, for steps that have to know what kind each is.

    Example:
        >>> from toksmith.models import WordLevel
        >>> run_decoder((WordPieceDecoder(),), ["token", "##s", "!"], WordLevel(()))
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
            return list(_join_bytes(tokens))
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
            return [apply_edits(token, find_edits(step, token)) for token in tokens]
        case Strip():
            return [_strip(token, step) for token in tokens]
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
            return [clean_up(word) for word in words] if step.cleanup else words
        case CTC():
            found = [token.replace(step.pad_token, "") for token, _ in groupby(tokens)]
            if step.cleanup:
                found = [clean_up(token).replace(step.word_delimiter_token, " ") for token in found]
            return [token for token in found if token]
        case SentencePieceDecoder():
            return join_pieces(step, tokens, model)
        case _:
            assert_never(step)


def _join_bytes(tokens: list[str]) -> Iterator[str]:
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


def _strip(token: str, step: Strip) -> str:
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


def clean_up(text: str) -> str:
    """Return English text without the spaces before punctuation and in contractions.

    Example:
        >>> clean_up("it 's fine , is n't it ?")
        "it's fine, isn't it?"
    """
    return reduce(lambda done, rule: done.replace(*rule), _CLEANUP, text)
