"""minbpe's ``RegexTokenizer``: byte-pair encoding of the matches of a split pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from toksmith._base.lazy import regex
from toksmith.compat.minbpe.base import Tokenizer
from toksmith.pipeline import Pipeline
from toksmith.splitters import FAMILIES
from toksmith.tokenizer import Tokenizer as Engine

GPT2_SPLIT_PATTERN = FAMILIES["gpt2"].spellings[1]
GPT4_SPLIT_PATTERN = FAMILIES["cl100k"].spellings[0]


class RegexTokenizer(Tokenizer):
    """Byte-pair encoding with a split pattern and special tokens.

    Args:
        pattern: the pattern; text between its matches is dropped. ``None`` for GPT-4's.

    Attributes:
        inverse_special_tokens: the literals of special tokens by id.

    Example:
        >>> tokenizer = RegexTokenizer()
        >>> tokenizer.train("low low lower", 258)
        >>> tokenizer.register_special_tokens({"<|end|>": 300})
        >>> tokenizer.encode("low<|end|>", allowed_special="all")
        [257, 300]
    """

    def __init__(self, pattern: str | None = None) -> None:
        super().__init__()
        self.pattern = GPT4_SPLIT_PATTERN if pattern is None else pattern
        self.inverse_special_tokens: dict[int, str] = {}
        self._unsplit: tuple[Engine, Engine] | None = None

    @property
    def compiled_pattern(self) -> Any:
        """The split pattern, compiled by ``regex``; setting it sets ``pattern``."""
        return regex.compile(self.pattern)

    @compiled_pattern.setter
    def compiled_pattern(self, compiled: Any) -> None:
        self.pattern = compiled.pattern

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:
        """Learn merges from a text; see :meth:`Tokenizer.train`."""
        self._learn(text, vocab_size, verbose)

    def register_special_tokens(self, special_tokens: dict[str, int]) -> None:
        """Set the special tokens, which replace those set before.

        Args:
            special_tokens: ids by literal.

        Example:
            >>> tokenizer = RegexTokenizer()
            >>> tokenizer.register_special_tokens({"<|end|>": 300})
            >>> tokenizer.decode([97, 300])
            'a<|end|>'
        """
        self.special_tokens = special_tokens
        self.inverse_special_tokens = {idx: literal for literal, idx in special_tokens.items()}

    def load(self, model_file: str) -> None:
        """Read a ``.model`` file, its pattern and special tokens included."""
        super().load(model_file)
        self.register_special_tokens(self.special_tokens)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids.

        Args:
            ids: the ids.

        Raises:
            ValueError: no token has one of the ids.

        Example:
            >>> RegexTokenizer().decode([108, 111, 119])
            'low'
        """
        parts = []
        for idx in ids:
            if idx in self.vocab:
                parts.append(self.vocab[idx])
            elif idx in self.inverse_special_tokens:
                parts.append(self.inverse_special_tokens[idx].encode())
            else:
                raise ValueError(f"invalid token id: {idx}")
        return b"".join(parts).decode("utf-8", "replace")

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a text in which special tokens are plain text.

        Args:
            text: the text.

        Example:
            >>> RegexTokenizer().encode_ordinary("low")
            [108, 111, 119]
        """
        return self._engine().encode(text)

    def _encode_chunk(self, text_bytes: bytes) -> list[int]:
        """Return the ids of bytes that are not split."""
        engine = self._engine()
        if self._unsplit is None or self._unsplit[0] is not engine:
            self._unsplit = engine, Engine(Pipeline(engine.pipeline.model))
        return self._unsplit[1].encode(text_bytes)

    def encode(self, text: str, allowed_special: str | set[str] = "none_raise") -> list[int]:
        """Return the ids of a text.

        Args:
            text: the text.
            allowed_special: the special tokens that become their ids: ``"all"``, ``"none"``, or a
                set of literals. With ``"none_raise"``, a text that holds one is an error.

        Raises:
            AssertionError: ``"none_raise"``, and the text holds a special token.
            ValueError: ``allowed_special`` is something else.

        Example:
            >>> tokenizer = RegexTokenizer()
            >>> tokenizer.register_special_tokens({"<e>": 300})
            >>> tokenizer.encode("a<e>", "all"), tokenizer.encode("a<e>", "none")
            ([97, 300], [97, 60, 101, 62])
        """
        if allowed_special == "all":
            special = self.special_tokens
        elif allowed_special in ("none", "none_raise"):
            special = {}
            if allowed_special == "none_raise":
                for literal in self.special_tokens:
                    if literal in text:
                        raise AssertionError(
                            f"the text holds the special token {literal!r}: allow it with "
                            "allowed_special, or take it as text with allowed_special='none'"
                        )
        elif isinstance(allowed_special, set):
            special = {k: v for k, v in self.special_tokens.items() if k in allowed_special}
        else:
            raise ValueError(f"allowed_special={allowed_special} not understood")
        if not special:
            return self.encode_ordinary(text)
        ids: list[int] = []
        for part in re.split(f"({'|'.join(map(re.escape, special))})", text):
            if part in special:
                ids.append(special[part])
            else:
                ids += self.encode_ordinary(part)
        return ids
