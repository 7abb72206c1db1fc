"""Whole chunks as tokens, and the longest known token first: models without merges or scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from toksmith.errors import OptionError
from toksmith.models.vocabulary import ids_of
from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class WordLevel:
    """Each chunk is a token, or unknown.

    Attributes:
        vocab: each token as UTF-8; ``b""`` marks an id that is not used.
        unk_id: the id of unknown chunks; ``None``: they become nothing.
    """

    vocab: tuple[bytes, ...]
    unk_id: int | None = None

    def __post_init__(self) -> None:
        _check_unk(self.vocab, self.unk_id)

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each token."""
        return ids_of(self.vocab)


@short_repr
@dataclass(frozen=True)
class LongestMatch:
    """From left to right, the longest token that matches; what no token starts is unknown.

    With a vocabulary of single characters this is the character model. The unknown token itself is
    not looked for: no text stands for it.

    Attributes:
        vocab: each token as UTF-8; ``b""`` marks an id that is not used.
        unk_id: the id of unknown characters; ``None``: they become nothing.
        fuse_unk: unknown characters that stand side by side are one unknown token.
        unit: what tokens are made of: ``"characters"``, or ``"bytes"``: a token may then start or
            end inside a character, as those of byte-level BPE do.

    Raises:
        OptionError: ``unk_id`` is no id, or ``unit`` is none of these.
    """

    vocab: tuple[bytes, ...]
    unk_id: int | None = None
    fuse_unk: bool = False
    unit: Literal["characters", "bytes"] = "characters"

    def __post_init__(self) -> None:
        _check_unk(self.vocab, self.unk_id)
        if self.unit not in ("characters", "bytes"):
            raise OptionError(f'unit is {self.unit!r:.80}: use "characters" or "bytes"')

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each token."""
        return ids_of(self.vocab)


def _check_unk(vocab: tuple[bytes, ...], unk_id: int | None) -> None:
    if unk_id is not None and (not 0 <= unk_id < len(vocab) or not vocab[unk_id]):
        raise OptionError(f"unk_id is {unk_id}, which is none of the {len(vocab)} ids")
