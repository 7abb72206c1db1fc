"""Reads and writes the added tokens, padding and truncation of a tokenizer.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toksmith.engine.portable import TokenIds
from toksmith.errors import FormatError
from toksmith.formats.huggingface.entries import Entry
from toksmith.framing import AddedToken, Padding, Truncation

MOST_PADDED = 1 << 20
"""The maximum length of the rows that a file asks to pad to."""

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")


def read_added_tokens(root: Entry) -> list[AddedToken]:
    """Return the added tokens, in the order of the file; none if it leaves the list out."""
    tokens: list[AddedToken] = []
    if "added_tokens" not in root.of(dict):
        return tokens
    for item in root.get("added_tokens").items():
        item.only("id", "content", *_FLAGS, "special")
        flags = {key: item.get(key).of(bool) for key in _FLAGS if key in item.value}
        tokens.append(
            AddedToken(
                content=item.text("content"),
                id=item.get("id").token_id(),
                special=item.get("special").of(bool),
                **flags,
            )
        )
    return tokens


def check_added_ids(path: Path, added: list[AddedToken], ids: Mapping[str, int] | TokenIds) -> None:
    """Check that ``tokenizers`` would give the added tokens the ids of the file."""
    if wrong := find_misnumbered(added, ids):
        token, expected = wrong
        raise FormatError(
            path,
            f"added token {token.content!r} has id {token.id}, but tokenizers would give it "
            f"{expected}",
        )


def find_misnumbered(
    added: Iterable[AddedToken], ids: Mapping[str, int] | TokenIds
) -> tuple[AddedToken, int] | None:
    """Return the first added token to which ``tokenizers`` would give another id, and that id.

    It looks each token up in the vocabulary; tokens that are not in it get the next ids.
    """
    highest = -1
    for token in added:
        onwards = highest + 1 if highest >= len(ids) else len(ids)
        held = ids.get(token.content)
        expected = onwards if held is None else held
        if token.id != expected:
            return token, expected
        highest = max(highest, token.id)
    return None


def write_added_token(token: AddedToken) -> dict[str, Any]:
    """Return the entry of an added token."""
    flags = {key: getattr(token, key) for key in _FLAGS}
    return {"id": token.id, "content": token.content, **flags, "special": token.special}


_STRATEGIES = {
    "LongestFirst": "longest_first",
    "OnlyFirst": "only_first",
    "OnlySecond": "only_second",
}
_DIRECTIONS = {"Right": "right", "Left": "left", None: "right"}


def read_truncation(entry: Entry) -> Truncation | None:
    """Return the truncation of a file."""
    if entry.value is None:
        return None
    entry.only("direction", "max_length", "strategy", "stride")
    entry.expect("direction", *_DIRECTIONS)
    entry.expect("strategy", *_STRATEGIES)
    return Truncation(
        max_length=entry.get("max_length").token_id(),
        stride=entry.get("stride").token_id(),
        strategy=_STRATEGIES[entry.text("strategy")],  # type: ignore[arg-type]
        direction=_DIRECTIONS[entry.value.get("direction")],  # type: ignore[arg-type]
    )


def write_truncation(truncation: Truncation | None) -> dict[str, Any] | None:
    """Return the entry of a truncation."""
    if truncation is None:
        return None
    return {
        "direction": truncation.direction.title(),
        "max_length": truncation.max_length,
        "strategy": next(k for k, name in _STRATEGIES.items() if name == truncation.strategy),
        "stride": truncation.stride,
    }


def read_padding(entry: Entry) -> Padding | None:
    """Return the padding of a file."""
    if entry.value is None:
        return None
    entry.only(
        *("strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token")
    )
    entry.expect("direction", *_DIRECTIONS)
    strategy, multiple = entry.get("strategy"), entry.get("pad_to_multiple_of")
    length = None
    if strategy.value != "BatchLongest":
        if type(strategy.value) is not dict or list(strategy.value) != ["Fixed"]:
            raise strategy.refusal()
        length = _row_length(strategy.get("Fixed"))
    return Padding(
        length=length,
        direction=_DIRECTIONS[entry.value.get("direction")],  # type: ignore[arg-type]
        multiple_of=None if multiple.value is None else _row_length(multiple),
        id=entry.get("pad_id").token_id(),
        type_id=entry.get("pad_type_id").token_id(),
        token=entry.text("pad_token"),
    )


def _row_length(entry: Entry) -> int:
    """Return a number of tokens that every row is padded to."""
    value = entry.token_id()
    if value > MOST_PADDED:
        raise FormatError(
            entry.path,
            f"{entry.name} is {value}: rows are padded to at most {MOST_PADDED:,} tokens, as each "
            "takes that much memory",
        )
    return value


def write_padding(padding: Padding | None) -> dict[str, Any] | None:
    """Return the entry of a padding."""
    if padding is None:
        return None
    return {
        "strategy": "BatchLongest" if padding.length is None else {"Fixed": padding.length},
        "direction": padding.direction.title(),
        "pad_to_multiple_of": padding.multiple_of,
        "pad_id": padding.id,
        "pad_type_id": padding.type_id,
        "pad_token": padding.token,
    }
