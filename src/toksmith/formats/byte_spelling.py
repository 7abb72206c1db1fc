"""Vocabularies and merges in GPT-2's byte alphabet, for GPT-2's files and tokenizer.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path

from toksmith._base.byte_alphabet import spell
from toksmith._base.lazy import np, npt
from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats import checks
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.vocabulary import find_outside


def merges_by_id(
    path: Path,
    lefts: Sequence[str],
    rights: Sequence[str],
    ids: Mapping[str, int],
    where: str,
    first: int,
    prefix: str = "",
) -> npt.NDArray[np.uint32]:
    """Return merges as ids.

    Args:
        path: the file, for errors.
        lefts: the spelled left token of each merge, in rank order.
        rights: the spelled right token of each merge.
        ids: the id of each spelled token.
        where: the word for the place of a merge in errors, such as ``"line"``.
        first: the number of the first merge's place.
        prefix: the prefix of the right tokens, which merging removes.

    Returns:
        uint32, shape ``(n, 3)``: left id, right id, resulting id.

    Raises:
        FormatError: a merge names a token that has no id.
    """
    ends = [right[len(prefix) :] for right in rights] if prefix else rights
    joined = list(map(str.__add__, lefts, ends))
    try:
        columns = [list(map(ids.__getitem__, tokens)) for tokens in (lefts, rights, joined)]
    except KeyError:
        place, token = next(
            (place, token)
            for place, merge in enumerate(zip(lefts, rights, joined, strict=True))
            for token in merge
            if token not in ids
        )
        raise FormatError(
            path,
            f"{where} {first + place} joins {lefts[place]!r} and {rights[place]!r}, but "
            f"{token!r} is not in the vocabulary",
        ) from None
    merges: npt.NDArray[np.uint32] = np.array(columns, np.uint32).T
    return merges


def bytes_outside(text: str, whole_chunk_first: bool) -> bytes:
    """Return what to hold for a token with characters outside of the byte alphabet.

    Merging never makes such a token, and it decodes to its own text (Command R has some). Where
    chunks are looked up, its bytes could be found, so it is held as an id without bytes; likewise
    if it would look like a single byte.
    """
    data = text.encode(errors="surrogateescape")
    return b"" if whole_chunk_first or len(data) == 1 else data


def split_pairs(lines: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Split each line at its space; ``None`` if a line does not have exactly one."""
    if not set(map(str.count, lines, repeat(" "))) <= {1}:
        return None
    parts = " ".join(lines).split(" ") if lines else []
    return parts[::2], parts[1::2]


def spell_merges(model: BPE) -> Iterator[tuple[str, str]]:
    """Return the two spelled tokens of each merge, in rank order."""
    names = [spell(token) for token in model.vocab]
    return ((names[left], names[right]) for left, right, _ in model.merges.tolist())


def spell_vocab(pipeline: Pipeline, name: str) -> dict[str, int]:
    """Return the ids of all tokens, in order: those of the model spelled, added ones as they are.

    Raises:
        UnsupportedError: two ids have equal bytes, an added token looks like another token, or
            shares its id.
    """
    model = checks.require_bpe(pipeline.model, name)
    outside = find_outside(model)
    checks.check_unique_tokens(model, name, outside)
    checks.check_no_aliases(pipeline, name)
    ids = {
        outside.get(token_id) or spell(token): token_id
        for token_id, token in enumerate(model.vocab)
        if token
    }
    for token in pipeline.framing.added_tokens:
        taken = token.id < len(model.vocab) and model.vocab[token.id] != b""
        held = ids.setdefault(checks.require_literal(token, name), token.id)
        if held != token.id or (taken and spell(model.vocab[token.id]) != token.content):
            raise UnsupportedError(
                f"{name} keeps one id for each string, but the added token {token.content!r} "
                f"(id {token.id}) has the spelling of id {held} of the model; minbpe and tiktoken "
                "can hold that"
            )
    return dict(sorted(ids.items(), key=lambda item: item[1]))
