"""Checks of an audit that look at the vocabulary alone, and encode only its own tokens."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from toksmith._base.lazy import np, npt
from toksmith._base.visible import visible_start
from toksmith.measure.findings import Example, Finding, Severity
from toksmith.measure.reachability import Category, Reachability, byte_of, tokens_of
from toksmith.models import WordPiece
from toksmith.models.pieces import Pieces, PieceType
from toksmith.tokenizer import Tokenizer

LONG = 32
"""Tokens of more characters than this are long."""

SHOWN = 12
"""The most examples that a finding has."""

_MARK = "▁"
_NEVER = {bytes([byte]) for byte in (0xC0, 0xC1, *range(0xF5, 0x100))}


def unreached_tokens(tok: Tokenizer, found: Reachability) -> Iterator[Finding]:
    """Report tokens that no text becomes, partial characters, and ids without a token."""
    tokens = tokens_of(tok)
    unmade = set(found.never)
    shadowed = set(_ascii_byte_pieces(tok)) & set(found.of(Category.UNREACHABLE))
    if unmade:
        yield Finding(
            "never made",
            Severity.WARNING,
            len(unmade),
            "tokens that the model does not make of their own bytes: no text becomes them",
            examples(tokens, found.never),
        )
    others = [i for i in found.of(Category.UNREACHABLE) if i not in unmade | shadowed]
    if others:
        yield Finding(
            "unreachable",
            Severity.WARNING,
            len(others),
            "tokens that none of the texts tried becomes; what is done before the model changes "
            "or cuts them",
            examples(tokens, others),
        )
    if shadowed:
        yield Finding(
            "byte pieces",
            Severity.INFO,
            len(shadowed),
            "bytes that are never fallen back to, since their characters are pieces",
            examples(tokens, sorted(shadowed)),
        )
    if found.whole_only:
        yield Finding(
            "whole only",
            Severity.INFO,
            len(found.whole_only),
            "tokens that no merges lead to: only a chunk that equals them becomes them",
            examples(tokens, found.whole_only),
        )
    if partial := found.of(Category.PARTIAL):
        longer = [i for i in partial if len(tokens[i]) > 1 and byte_of(tokens[i]) is None]
        yield Finding(
            "partial characters",
            Severity.INFO,
            len(partial),
            "tokens whose bytes are no whole characters: alone they decode to U+FFFD"
            + (f"; {len(longer):,} of them hold more than one byte" if longer else ""),
            examples(tokens, longer or partial),
            {"single_bytes": len(partial) - len(longer)},
        )
    if found.cut_of_none:
        never = {i for i in found.cut_of_none if (byte_of(tokens[i]) or tokens[i]) in _NEVER}
        yield Finding(
            "parts of none",
            Severity.INFO,
            len(found.cut_of_none),
            f"partial characters that none of many characters is cut into; {len(never)} of them "
            "are bytes that never occur in UTF-8",
            examples(tokens, sorted(found.cut_of_none, key=never.__contains__)),
            {"never_in_utf8": len(never)},
        )
    if holes := found.of(Category.NONE):
        yield Finding(
            "holes",
            Severity.INFO,
            len(holes),
            "ids below the largest that no token has: rows of an embedding for nothing",
            tuple(Example(b"", i) for i in holes[:SHOWN]),
        )


def duplicates(tok: Tokenizer) -> Iterator[Finding]:
    """Report tokens with the same bytes under several ids."""
    if groups := _groups(enumerate(tokens_of(tok))):
        yield Finding(
            "duplicates",
            Severity.WARNING,
            sum(len(ids) - 1 for ids in groups.values()),
            "tokens whose bytes another id has already",
            tuple(
                Example(token, ids[0], f"also {', '.join(map(str, ids[1:]))}")
                for token, ids in list(groups.items())[:SHOWN]
            ),
        )


def near_duplicates(tok: Tokenizer, found: Reachability) -> Iterator[Finding]:
    """Report tokens that differ only in case, or in white space or marks around them."""
    tokens = tokens_of(tok)
    texts: dict[int, str] = {}
    for i, (token, category) in enumerate(zip(tokens, found.categories.tolist(), strict=True)):
        if category in (Category.ALONE, Category.IN_CONTEXT, Category.UNREACHABLE):
            text = _plain(tok, token)
            if any(map(str.isalpha, text)):
                texts[i] = text
    by_space = _groups((i, text) for i, text in texts.items())
    by_case = _groups((i, text.casefold()) for i, text in texts.items())
    if not by_case:
        return
    largest = sorted(by_case.values(), key=len, reverse=True)[:SHOWN]
    extra = sum(len(ids) - 1 for ids in by_case.values())
    spaces = sum(len(ids) - 1 for ids in by_space.values())
    yield Finding(
        "near-duplicates",
        Severity.INFO,
        extra,
        f"tokens that differ from another only in white space or marks around them ({spaces:,}) "
        f"or also in case ({extra - spaces:,})",
        tuple(
            Example(tokens[ids[0]], ids[0], "; ".join(visible_start(tokens[i]) for i in ids[1:9]))
            for ids in largest
        ),
        {"by_space": spaces, "by_case": extra - spaces, "share": round(extra / len(tokens), 4)},
    )


def long_tokens(tok: Tokenizer, longest: int = LONG) -> Iterator[Finding]:
    """Report tokens of many characters."""
    tokens = tokens_of(tok)
    sizes = {i: len(token.decode("utf-8", "replace")) for i, token in enumerate(tokens)}
    special = set(tok.special_tokens.values())
    found = [i for i, size in sizes.items() if size > longest and i not in special]
    if found:
        found.sort(key=lambda i: (-sizes[i], i))
        runs = sum(len(set(tokens[i].decode("utf-8", "replace").strip(_MARK))) < 3 for i in found)
        yield Finding(
            "long tokens",
            Severity.INFO,
            len(found),
            f"tokens of more than {longest} characters; {runs:,} are one or two characters over "
            "and over",
            examples(tokens, found, lambda i: f"{sizes[i]:,} characters"),
            {"longest": sizes[found[0]], "repetitions": runs},
        )


def unused(tok: Tokenizer, found: Reachability, used: npt.NDArray[np.int64]) -> Iterator[Finding]:
    """Report tokens that a corpus never uses, the unreachable and special ones left out.

    Args:
        tok: whose tokens.
        found: what they are.
        used: int64, shape ``(vocab_size,)``: how often the corpus has each.
    """
    tokens = tokens_of(tok)
    kinds = (Category.ALONE, Category.IN_CONTEXT, Category.PARTIAL)
    ids = np.flatnonzero(np.isin(found.categories, kinds))
    never: list[int] = ids[used[ids] == 0].tolist()
    rare = int((used[ids] > 0).sum() - (used[ids] > _RARE).sum())
    total = int(used.sum())
    if never and total:
        yield Finding(
            "unused",
            Severity.INFO,
            len(never),
            f"tokens that do not occur in the corpus of {total:,} tokens: "
            f"{len(never) / len(ids):.1%} of those that could; {rare:,} more occur in it at most "
            f"{_RARE} times",
            examples(tokens, never),
            {"corpus_tokens": total, "share": round(len(never) / len(ids), 4), "rare": rare},
        )


_RARE = 10


def examples(
    tokens: Sequence[bytes], ids: Sequence[int], note: Callable[[int], str] = lambda i: ""
) -> tuple[Example, ...]:
    """Return some of these tokens as examples, with a note on each."""
    return tuple(Example(tokens[i], i, note(i)) for i in ids[:SHOWN])


_Key = TypeVar("_Key", str, bytes)


def _groups(items: Iterable[tuple[int, _Key]]) -> dict[_Key, list[int]]:
    """Return what several ids have in common, and those ids."""
    items = [(i, key) for i, key in items if key]
    often = {key for key, count in Counter(key for _, key in items).items() if count > 1}
    groups: dict[_Key, list[int]] = defaultdict(list)
    for i, key in items:
        if key in often:
            groups[key].append(i)
    return dict(groups)


def _plain(tok: Tokenizer, token: bytes) -> str:
    """Return the text of a token without white space around it, and the marks of its model."""
    text = token.decode("utf-8", "replace")
    if isinstance(tok.pipeline.model, WordPiece):
        text = text.removeprefix(tok.pipeline.model.prefix)
    return text.strip().strip(_MARK)


def _ascii_byte_pieces(tok: Tokenizer) -> list[int]:
    model = tok.pipeline.model
    if not isinstance(model, Pieces):
        return []
    return [
        i for i in model.of_type(PieceType.BYTE) if (byte_of(model.vocab[i]) or b"\xff")[0] < 0x80
    ]
