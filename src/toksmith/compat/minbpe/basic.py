"""minbpe's ``BasicTokenizer``: byte-pair encoding of a whole text, which is not split."""

from __future__ import annotations

from collections.abc import Iterable

from toksmith.compat.minbpe.base import Tokenizer


class BasicTokenizer(Tokenizer):
    """Byte-pair encoding without a split pattern or special tokens.

    Example:
        >>> tokenizer = BasicTokenizer()
        >>> tokenizer.train("low lower", 258)
        >>> tokenizer.merges
        {(108, 111): 256, (256, 119): 257}
    """

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:
        """Learn merges from a text; see :meth:`Tokenizer.train`."""
        self._learn(text, vocab_size, verbose)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text."""
        return self._engine().encode(text)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids; an unknown id is a KeyError."""
        return b"".join(self.vocab[idx] for idx in ids).decode("utf-8", "replace")
