"""minbpe's ``GPT4Tokenizer``: cl100k_base, whose single bytes have other ids than their values."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from toksmith._base.files import write_bytes
from toksmith.compat.minbpe.base import Pair, merged_vocab, split_of, vocab_text
from toksmith.compat.minbpe.regex import GPT4_SPLIT_PATTERN, RegexTokenizer
from toksmith.formats import published
from toksmith.pipeline import Pipeline

GPT4_SPECIAL_TOKENS = dict(published.ENCODINGS["cl100k_base"].special_tokens)


class GPT4Tokenizer(RegexTokenizer):
    """The tokenizer of GPT-4, as minbpe takes it apart; its file is read or downloaded.

    ``vocab`` and ``merges`` are in minbpe's terms: each byte stands there for the id of a byte, and
    ``byte_shuffle`` maps bytes to these ids.

    Raises:
        toksmith.errors.DownloadError: the file of cl100k_base is in no cache and cannot be
            downloaded.

    Example:
        >>> GPT4Tokenizer().encode("hello world")    # doctest: +SKIP
        [15339, 1917]
    """

    def __init__(self) -> None:
        self._published: Any = published.fetch("cl100k_base").model
        super().__init__(GPT4_SPLIT_PATTERN)
        # They follow from the ranks, which takes a moment: found on first use.
        del self.merges, self.vocab
        self.register_special_tokens(GPT4_SPECIAL_TOKENS)

    if not TYPE_CHECKING:

        @cached_property
        def merges(self) -> dict[Pair, int]:
            """The id that each pair becomes."""
            return {(left, right): new for left, right, new in self._published.merges.tolist()}

        @cached_property
        def vocab(self) -> dict[int, bytes]:
            """The bytes of each id, each byte in place of the id of a byte."""
            return merged_vocab(self.merges)

    @cached_property
    def byte_shuffle(self) -> dict[int, int]:
        """The id of each byte.

        Example:
            >>> GPT4Tokenizer().byte_shuffle[33]    # doctest: +SKIP
            0
        """
        return dict(enumerate(self._published.byte_ids))

    @cached_property
    def inverse_byte_shuffle(self) -> dict[int, int]:
        """The byte of each id.

        Example:
            >>> GPT4Tokenizer().inverse_byte_shuffle[0]    # doctest: +SKIP
            33
        """
        return {idx: byte for byte, idx in self.byte_shuffle.items()}

    def _key(self) -> object:
        return self.pattern

    def _pipeline(self) -> Pipeline:
        return Pipeline(self._published, split_of(self.pattern))

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids, special tokens included; an unknown id is a KeyError.

        Args:
            ids: the ids.

        Example:
            >>> GPT4Tokenizer().decode([15339, 1917])    # doctest: +SKIP
            'hello world'
        """
        vocab, special = self._published.vocab, self.inverse_special_tokens
        parts = []
        for idx in ids:
            token = vocab[idx] if 0 <= idx < len(vocab) else b""
            parts.append(token or special[idx].encode())
        return b"".join(parts).decode("utf-8", "replace")

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> NoReturn:
        """Raise NotImplementedError: this tokenizer is trained already."""
        raise NotImplementedError("GPT4Tokenizer is trained already: train a RegexTokenizer")

    def save(self, file_prefix: str) -> NoReturn:
        """Raise NotImplementedError, as minbpe does."""
        raise NotImplementedError("GPT4Tokenizer cannot be saved: save_vocab() lists its tokens")

    def load(self, model_file: str) -> NoReturn:
        """Raise NotImplementedError, as minbpe does."""
        raise NotImplementedError("GPT4Tokenizer cannot be loaded: load a RegexTokenizer")

    def save_vocab(self, vocab_file: str) -> None:
        """Write the tokens to a file to look at.

        Args:
            vocab_file: its path.

        Example:
            >>> GPT4Tokenizer().save_vocab("gpt4.vocab")    # doctest: +SKIP
        """
        vocab = {idx: bytes([self.inverse_byte_shuffle[idx]]) for idx in range(256)}
        for (left, right), idx in self.merges.items():
            vocab[idx] = vocab[left] + vocab[right]
        write_bytes(Path(vocab_file), vocab_text(vocab, self.merges).encode())
