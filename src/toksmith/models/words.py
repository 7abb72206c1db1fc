"""Models without merges or scores: WordPiece, whole words, and longest match."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from toksmith._base.records import dataclass
from toksmith._base.visible import short_repr
from toksmith.errors import OptionError


def ids_of(vocab: Sequence[bytes]) -> dict[bytes, int]:
    """Return the id of each token; the lowest where several share its bytes.

    Example:
        >>> ids_of((b"a", b"", b"b", b"a"))
        {b'a': 0, b'b': 2}
    """
    ids = dict(zip(reversed(vocab), reversed(range(len(vocab))), strict=True))
    ids.pop(b"", None)
    return ids


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

    Example:
        >>> from toksmith import Tokenizer, pipeline
        >>> model = WordPiece((b"[UNK]", b"un", b"##able", b"##a"), unk_id=0)
        >>> tok = Tokenizer(pipeline.Pipeline(model))
        >>> tok.encode("unable"), tok.encode("unabled")
        ([1, 2], [0])
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
        """The id of each token.

        Example:
            >>> WordPiece((b"[UNK]", b"play", b"##ing"), unk_id=0).ids[b"##ing"]
            2
        """
        return ids_of(self.vocab)


@short_repr
@dataclass(frozen=True)
class WordLevel:
    """Each chunk is a token, or unknown.

    Attributes:
        vocab: each token as UTF-8; ``b""`` marks an id that is not used.
        unk_id: the id of unknown chunks; ``None``: they become nothing.

    Example:
        >>> from toksmith import Tokenizer, pipeline, splitters
        >>> model = WordLevel((b"[UNK]", b"to", b"be"), unk_id=0)
        >>> tok = Tokenizer(pipeline.Pipeline(model, splitters.WhitespaceSplit()))
        >>> tok.encode("to be or")
        [1, 2, 0]
    """

    vocab: tuple[bytes, ...]
    unk_id: int | None = None

    def __post_init__(self) -> None:
        _check_unk(self.vocab, self.unk_id)

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each token.

        Example:
            >>> WordLevel((b"to", b"be")).ids[b"be"]
            1
        """
        return ids_of(self.vocab)


@short_repr
@dataclass(frozen=True)
class LongestMatch:
    """Takes the longest matching token, from left to right; unmatched characters are unknown.

    With a vocabulary of single characters this is the character model. The unknown token itself is
    not looked for: no text is spelled like it.

    Attributes:
        vocab: each token as UTF-8; ``b""`` marks an id that is not used.
        unk_id: the id of unknown characters; ``None``: they become nothing.
        fuse_unk: consecutive unknown characters are one unknown token.
        unit: what tokens are made of: ``"characters"``, or ``"bytes"``: a token may then start or
            end inside a character, as those of byte-level BPE do.

    Raises:
        OptionError: ``unk_id`` is no id, or ``unit`` has another value.

    Example:
        >>> from toksmith import Tokenizer, pipeline
        >>> model = LongestMatch((b"?", b"a", b"b", b"ab", b"bba"), unk_id=0)
        >>> Tokenizer(pipeline.Pipeline(model)).encode("abbac")
        [3, 2, 1, 0]
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
        """The id of each token.

        Example:
            >>> LongestMatch((b"a", b"b", b"ab")).ids[b"ab"]
            2
        """
        return ids_of(self.vocab)


def _check_unk(vocab: tuple[bytes, ...], unk_id: int | None) -> None:
    if unk_id is not None and (not 0 <= unk_id < len(vocab) or not vocab[unk_id]):
        raise OptionError(f"unk_id is {unk_id}: use one of the {len(vocab)} ids")
