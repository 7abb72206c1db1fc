"""Reachability: which tokens of a vocabulary some text is encoded to.

A token is reached if its own text is encoded to it: alone, or between some other
characters. These are characters that hardly any token holds, so that nothing reaches across:
letters, digits, symbols, white space, and the ends of English contractions.

Besides, the model is run alone, without normalizer and splitter. If it makes other tokens of a
token's own bytes, no text becomes that token, whatever is around it: between the ends
of a token, the same happens as to its bytes alone. (Land & Bartolo 2024, "Fishing for Magikarp",
sort tokens in this way.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from toksmith._base.lazy import np, npt
from toksmith.measure.partial_characters import find_unreached
from toksmith.models import (
    BPE,
    CharacterBPE,
    LongestMatch,
    Model,
    SentencePieceBPE,
    Unigram,
    WordLevel,
)
from toksmith.models.pieces import Pieces, PieceType
from toksmith.pipeline import Pipeline
from toksmith.results import Batch
from toksmith.tokenizer import Tokenizer

_LETTERS = "ɐɥʞʍɮƕƣȹʬɤꝏꭓⱷƾʘǂ龘鱻靐คฐႠqxzj"
_SYMBOLS = "‽⁂※§¶¤⌘☃❧◊~^"
_CONTRACTIONS = ("s", "t", "d", "m", "ll", "ve", "re", "S", "M", "LL", "RE")
_BYTE = re.compile(rb"<0x([0-9A-F]{2})>")
_SPACES = (" ", "\n", "\t", "\r\n")


class Category(IntEnum):
    """The kind of a token, by how text becomes it."""

    NONE = 0
    """no token has this id"""
    ALONE = 1
    """its own text becomes it"""
    IN_CONTEXT = 2
    """its text becomes it next to other text"""
    SPECIAL = 3
    """it has no text: special, control or unknown"""
    PARTIAL = 4
    """its bytes are no whole characters, so no text is it alone"""
    UNREACHABLE = 5
    """no text that was tried becomes it"""


@dataclass(frozen=True, eq=False)
class Reachability:
    """The category of each token of a vocabulary.

    Attributes:
        categories: uint8, shape ``(vocab_size,)``: a :class:`Category` each.
        never: ids of unreachable tokens that the model cannot make: no text becomes them.
        cut_of_none: ids of partial tokens that none of many characters is cut into.
        whole_only: ids of BPE tokens that no merges lead to: only a chunk that equals them as a
            whole becomes them.
    """

    categories: npt.NDArray[np.uint8]
    never: list[int]
    cut_of_none: list[int]
    whole_only: list[int]

    def of(self, category: Category) -> list[int]:
        """Return the ids of a category."""
        ids: list[int] = np.flatnonzero(self.categories == int(category)).tolist()
        return ids

    @property
    def counts(self) -> dict[str, int]:
        """The number of tokens in each category."""
        return {
            category.name.lower().replace("_", " "): int((self.categories == int(category)).sum())
            for category in Category
            if category is not Category.NONE
        }


def reachability(tok: Tokenizer, threads: int | None = None) -> Reachability:
    """Find out which tokens texts can become.

    Args:
        tok: whose tokens.
        threads: ``None`` for the cores this process may use.

    Example:
        >>> from toksmith import train
        >>> found = reachability(train(texts=["abab abab"], vocab_size=258))
        >>> found.counts["alone"], found.counts["partial"], found.counts["unreachable"]
        (130, 128, 0)
    """
    tokens = tokens_of(tok)
    # A list: comparing an array with an enum can lose Ctrl-C; see PieceType.
    found = [Category.UNREACHABLE if token else Category.NONE for token in tokens]

    def mark(ids: Iterable[int], category: Category) -> None:
        for i in ids:
            found[i] = category

    mark(_special(tok), Category.SPECIAL)
    open_ids = np.array([i for i, kind in enumerate(found) if kind == Category.UNREACHABLE], int)

    texts = dict(zip(open_ids.tolist(), _decoded(tok, open_ids), strict=True))
    mark(_hits(tok, texts, texts.values(), threads, alone=True), Category.ALONE)
    texts = {i: text for i, text in texts.items() if found[i] == Category.UNREACHABLE}

    after_letter = _after_letter(tok, texts)
    partial = [i for i, text in after_letter.items() if "\ufffd" in text and _is_partial(tok, i)]
    mark(partial, Category.PARTIAL)
    never, whole_only = _by_model(tok.pipeline, tokens, threads)
    mark([i for i in never if found[i] == Category.PARTIAL], Category.UNREACHABLE)
    parts = {i: byte_of(tokens[i]) or tokens[i] for i in partial if found[i] == Category.PARTIAL}
    gone = {*partial, *never}
    texts = {i: text for i, text in texts.items() if i not in gone}
    for before, after in _contexts(tok, tokens):
        for surfaces in (after_letter, texts):
            if not texts:
                break
            tried = [before + surfaces[i] + after for i in texts]
            hits = set(_hits(tok, texts, tried, threads))
            mark(hits, Category.IN_CONTEXT)
            texts = {i: text for i, text in texts.items() if i not in hits}
    return Reachability(
        np.array(found, np.uint8),
        [i for i in never if found[i] == Category.UNREACHABLE],
        find_unreached(tok, parts, threads),
        [i for i in whole_only if found[i] in (Category.ALONE, Category.IN_CONTEXT)],
    )


def tokens_of(tok: Tokenizer) -> list[bytes]:
    """Return the bytes of each id; ``b""`` where there is none."""
    table: list[bytes] = tok._table.tokens
    return table


def byte_of(piece: bytes) -> bytes | None:
    """Return the byte of a piece such as ``<0x0A>``; ``None`` for other pieces."""
    found = _BYTE.fullmatch(piece)
    return bytes.fromhex(found[1].decode()) if found else None


def _special(tok: Tokenizer) -> set[int]:
    """Return the ids without a text: special tokens, pieces of control, the unknown."""
    model = tok.pipeline.model
    ids = set(tok.special_tokens.values())
    if isinstance(model, Pieces):
        ids |= {*model.of_type(PieceType.CONTROL), *model.of_type(PieceType.UNKNOWN)}
    unknown = getattr(model, "unk_id", None)
    return ids if unknown is None else ids | {unknown}


def _decoded(tok: Tokenizer, ids: npt.NDArray[np.int64], before: int | None = None) -> list[str]:
    """Return the text of each id, alone or after another id."""
    if before is not None:
        ids = np.stack([np.full_like(ids, before), ids], axis=1).ravel()
    width = 1 if before is None else 2
    offsets = np.arange(0, len(ids) + 1, width, dtype=np.int64)
    return tok.decode_batch(Batch(ids.astype(np.uint32), offsets))


def _after_letter(tok: Tokenizer, texts: dict[int, str]) -> dict[int, str]:
    """Return the text of each token after another one, where ``▁the`` and ``the`` differ."""
    if tok.pipeline.decoder is None:
        return texts
    first = next((i for i in map(tok.encode, _LETTERS + "a") if i), [0])[-1]
    start = tok.decode([first])
    ids = np.array(list(texts), np.int64)
    pairs = zip(texts.items(), _decoded(tok, ids, before=first), strict=True)
    return {i: both[len(start) :] if both.startswith(start) else text for (i, text), both in pairs}


def _is_partial(tok: Tokenizer, token_id: int) -> bool:
    """Whether the bytes of a token are not whole characters; U+FFFD alone is no proof of that."""
    token = tok.token_bytes(token_id)
    if tok.pipeline.decoder is not None:
        return "\ufffd".encode() not in token
    try:
        token.decode()
    except UnicodeDecodeError:
        return True
    return False


def _hits(
    tok: Tokenizer,
    ids: dict[int, str],
    texts: Iterable[str],
    threads: int | None,
    alone: bool = False,
) -> list[int]:
    """Return the ids that occur among those of their text, or are all of them."""
    batch = tok.encode_batch(texts, threads=threads)
    wanted = np.array(list(ids), np.int64)
    sizes = np.diff(batch.offsets)
    same = batch.ids == np.repeat(wanted, sizes)
    documents = np.repeat(np.arange(len(wanted)), sizes)
    hit = np.zeros(len(wanted), np.bool_)
    hit[documents[same]] = True
    if alone:
        hit &= sizes == 1
    found: list[int] = wanted[hit].tolist()
    return found


def _contexts(tok: Tokenizer, tokens: Sequence[bytes]) -> Iterator[tuple[str, str]]:
    """Yield prefixes and suffixes to put around a text, the most promising first."""
    letter, other, symbol, sign = (
        *_quiet(tok, tokens, _LETTERS)[:2],
        *_quiet(tok, tokens, _SYMBOLS)[:2],
    )
    yield from ((letter, ""), (symbol, ""), ("", letter), ("", symbol), (" ", ""))
    yield from ((letter, letter), (symbol, symbol), (other, ""), (sign, ""), ("7", ""), ("", "7"))
    for space in _SPACES:
        yield from ((space, ""), ("", space), (letter, space), (symbol, space), (space, letter))
    yield from (("", ending) for ending in _CONTRACTIONS)
    yield from ((letter, ending) for ending in _CONTRACTIONS)


def _quiet(tok: Tokenizer, tokens: Sequence[bytes], candidates: str) -> list[str]:
    """Return characters sorted by the number of tokens that hold them, known characters first."""
    blob = b"\n".join(tokens)
    unknown = getattr(tok.pipeline.model, "unk_id", None)

    def loudness(character: str) -> tuple[bool, int]:
        ids = tok.encode(character)
        return (unknown is not None and unknown in ids) or not ids, blob.count(character.encode())

    return sorted(candidates, key=loudness)


def _bare(model: Model, tokens: Sequence[bytes]) -> tuple[list[int], Model | None]:
    """Return the ids whose own spelling may be given to a model as a chunk, and that model."""
    match model:
        case BPE():
            ids = [i for i, token in enumerate(model.vocab) if token]
            return ids, replace(model, whole_chunk_first=False)
        case CharacterBPE():
            if model.continuing_prefix or model.word_suffix:
                return [], None  # their symbols are spelled by their place
            return [i for i, token in enumerate(model.vocab) if token], model
        case SentencePieceBPE() | Unigram():
            return _text_pieces(model), model
        case WordLevel() | LongestMatch():
            return [i for i, token in enumerate(tokens[: len(model.vocab)]) if token], model
        case _:  # WordPiece: the longest match always finds a token in its own text
            return [], None


def _text_pieces(model: Pieces) -> list[int]:
    text = (PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED)
    return [i for i, kind in enumerate(model.types.tolist()) if kind in text]


def _by_model(
    pipeline: Pipeline, tokens: Sequence[bytes], threads: int | None
) -> tuple[list[int], list[int]]:
    """Return the ids that the model does not make of their own bytes.

    Returns:
        Those that it never makes, and those that it makes of whole chunks alone.
    """
    model = pipeline.model
    ids, bare = _bare(model, tokens)
    if bare is None or not ids:
        return [], []
    added = {token.id for token in pipeline.framing.added_tokens}
    ids = [i for i in ids if i not in added]
    batch = Tokenizer(Pipeline(bare)).encode_batch([model.vocab[i] for i in ids], threads=threads)
    sizes = np.diff(batch.offsets)
    first = batch.ids[np.minimum(batch.offsets[:-1], max(len(batch.ids) - 1, 0))]
    missed = [i for i, is_it in zip(ids, (sizes == 1) & (first == ids), strict=True) if not is_it]
    if isinstance(model, BPE) and model.whole_chunk_first:
        return [i for i in missed if model.ids[model.vocab[i]] != i], missed
    return missed, []
