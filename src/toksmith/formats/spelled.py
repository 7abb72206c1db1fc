"""Vocabulary and merges in spelled tokens: what GPT-2's files and tokenizer.json share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from toksmith.errors import FormatError, UnsupportedError
from toksmith.formats import limits
from toksmith.formats.byte_alphabet import spell
from toksmith.models import BPE
from toksmith.pipeline import Pipeline


def merges_by_id(
    path: Path, pairs: Sequence[Sequence[str]], ids: Mapping[str, int], where: str, first: int
) -> npt.NDArray[np.uint32]:
    """Return merges as ids.

    Args:
        path: the file, for errors.
        pairs: the two spelled tokens of each merge, in rank order.
        ids: the id of each spelled token.
        where: what errors call the place of a merge, such as ``"line"``.
        first: the number of the first merge's place.

    Returns:
        uint32, shape ``(n, 3)``: left id, right id, resulting id.

    Raises:
        FormatError: a merge names a token that has no id.
    """
    try:
        rows = [(ids[left], ids[right], ids[left + right]) for left, right in pairs]
    except KeyError as missing:
        place = next(
            place
            for place, (left, right) in enumerate(pairs)
            if not {left, right, left + right} <= ids.keys()
        )
        raise FormatError(
            path,
            f"{where} {first + place} joins {pairs[place][0]!r} and {pairs[place][1]!r}, but "
            f"{missing.args[0]!r} is not in the vocabulary",
        ) from None
    return np.fromiter(chain.from_iterable(rows), np.uint32, 3 * len(rows)).reshape(-1, 3)


def spelled_merges(model: BPE) -> Iterator[tuple[str, str]]:
    """Return the two spelled tokens of each merge, in rank order."""
    names = [spell(token) for token in model.vocab]
    return ((names[left], names[right]) for left, right, _ in model.merges.tolist())


def spelled_vocab(pipeline: Pipeline, name: str) -> dict[str, int]:
    """Return the ids of all tokens, in order: those of the model spelled, added ones as they are.

    Raises:
        UnsupportedError: two ids have equal bytes, or an added token looks like another token.
    """
    model = pipeline.model
    limits.unique_tokens(model, name)
    ids = {spell(token): token_id for token_id, token in enumerate(model.vocab) if token}
    for token in pipeline.framing.added_tokens:
        taken = token.id < len(model.vocab) and model.vocab[token.id] != b""
        held = ids.setdefault(limits.literal(token, name), token.id)
        if held != token.id or (taken and spell(model.vocab[token.id]) != token.content):
            raise UnsupportedError(
                f"{name} keeps one id for each string, but the added token {token.content!r} "
                f"(id {token.id}) is written like id {held} of the model; minbpe and tiktoken "
                "can hold that"
            )
    return dict(sorted(ids.items(), key=lambda item: item[1]))
