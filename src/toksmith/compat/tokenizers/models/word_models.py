"""The models that have one token for all unknown words: WordPiece and WordLevel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from toksmith.compat.tokenizers.checks import Check, arguments, optional, string, unsigned
from toksmith.compat.tokenizers.component import compact_json, setting
from toksmith.compat.tokenizers.models.arguments import (
    check_vocab,
    known_options,
    read_ids,
    read_lines,
)
from toksmith.compat.tokenizers.models.base import Model, by_id

_WORD_PIECE_OPTIONS: dict[str, Check] = {
    "unk_token": string,
    "max_input_chars_per_word": unsigned,
    "continuing_subword_prefix": string,
}


class _WordModel(Model):
    """The base of the models that have one token for all unknown words."""

    unk_token = setting("unk_token", "The unknown token.", string)

    def _read(self, spec: Mapping[str, Any]) -> None:
        self._read_vocab(spec)

    def spec_for_reading(self) -> tuple[dict[str, Any], int | None]:
        """Return an entry that toksmith reads, and the id that marks an unknown token in it."""
        return super().spec_for_reading() if self.unk_token in self.vocab else self._extended()


class WordPiece(_WordModel, type="WordPiece"):
    """WordPiece: the longest token that fits, again and again.

    Args:
        vocab: the id of each token, or the path of a vocab.txt.
        options: ``unk_token``, ``max_input_chars_per_word`` and ``continuing_subword_prefix``.

    Example:
        >>> model = WordPiece({"play": 0, "##ing": 1, "[UNK]": 2})
        >>> [token.value for token in model.tokenize("playing")]
        ['play', '##ing']
    """

    _defaults: ClassVar[dict[str, Any]] = {
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {},
    }
    _missing = "WordPiece error: Missing [UNK] token from the vocabulary"
    continuing_subword_prefix = setting(
        "continuing_subword_prefix", "The start of tokens inside a word.", string
    )
    max_input_chars_per_word = setting(
        "max_input_chars_per_word", "The most characters of a known word.", unsigned
    )

    def __init__(self, vocab: dict[str, int] | str | None = None, **options: Any) -> None:
        if isinstance(vocab, str):
            vocab = self.read_file(vocab)
        kept = known_options(options, _WORD_PIECE_OPTIONS, "kwargs")
        self._start(**kept, vocab=by_id({} if vocab is None else check_vocab(vocab)))

    @staticmethod
    @arguments(vocab=string)
    def read_file(vocab: str) -> dict[str, int]:
        """Return the content of a vocab.txt.

        Args:
            vocab: its path.

        Raises:
            TokenizersError: the file cannot be read.
        """
        return {token.rstrip(): token_id for token_id, token in enumerate(read_lines(vocab))}

    @classmethod
    @arguments(vocab=string)
    def from_file(cls, vocab: str, **options: Any) -> WordPiece:
        """Return the model of a vocab.txt.

        Args:
            vocab: its path.
            options: see the class.

        Raises:
            TokenizersError: the file cannot be read.
        """
        return cls(cls.read_file(vocab), **options)

    def _files(self) -> dict[str, str]:
        return {"vocab.txt": "".join(f"{token}\n" for token in self.vocab)}


class WordLevel(_WordModel, type="WordLevel"):
    """Each word is a token.

    Args:
        vocab: the id of each word, or the path of a vocab.json.
        unk_token: the token for all other words; by default ``<unk>``.

    Example:
        >>> WordLevel({"to": 0, "be": 1}).token_to_id("be")
        1
    """

    _defaults: ClassVar[dict[str, Any]] = {"vocab": {}, "unk_token": "<unk>"}
    _missing = "WordLevel error: Missing [UNK] token from the vocabulary"

    @arguments(unk_token=optional(string))
    def __init__(
        self, vocab: dict[str, int] | str | None = None, unk_token: str | None = None
    ) -> None:
        if isinstance(vocab, str):
            vocab = self.read_file(vocab)
        unk = "<unk>" if unk_token is None else unk_token
        self._start(vocab=by_id({} if vocab is None else check_vocab(vocab)), unk_token=unk)

    @staticmethod
    @arguments(vocab=string)
    def read_file(vocab: str) -> dict[str, int]:
        """Return the content of a vocab.json.

        Args:
            vocab: its path.

        Raises:
            TokenizersError: the file cannot be read.
        """
        return read_ids(vocab)

    @classmethod
    @arguments(vocab=string, unk_token=optional(string))
    def from_file(cls, vocab: str, unk_token: str | None = None) -> WordLevel:
        """Return the model of a vocab.json.

        Args:
            vocab: its path.
            unk_token: see the class.

        Raises:
            TokenizersError: the file cannot be read.
        """
        return cls(cls.read_file(vocab), unk_token)

    def _files(self) -> dict[str, str]:
        return {"vocab.json": compact_json(self.vocab)}
