"""WordPiece: a word becomes the longest pieces that fit, from left to right."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from toksmith.errors import OptionError
from toksmith.models.vocabulary import ids_of
from toksmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True)
class WordPiece:
    """WordPiece (Schuster & Nakajima 2012, as BERT uses it).

    The longest token that starts a word is taken, then the longest of those with the prefix that
    starts what is left, and so on. A word in which this fails anywhere, or that is too long, is
    unknown as a whole.

    Attributes:
        vocab: each token as UTF-8; ``b""`` marks an id that is not used.
        unk_id: the id of unknown words.
        prefix: what marks a token that does not start a word.
        max_characters: longer words are unknown.

    Raises:
        OptionError: ``unk_id`` is no id, or ``max_characters`` is negative.
    """

    vocab: tuple[bytes, ...]
    unk_id: int
    prefix: str = "##"
    max_characters: int = 100

    def __post_init__(self) -> None:
        if not 0 <= self.unk_id < len(self.vocab) or not self.vocab[self.unk_id]:
            raise OptionError(f"unk_id is {self.unk_id}, no id of {len(self.vocab)}")
        if self.max_characters < 0:
            raise OptionError(f"max_characters is {self.max_characters}: use 0 or more")

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each token."""
        return ids_of(self.vocab)
