"""Encoding step by step: for components written in Python, and for random segmentations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from toksmith.compat.tokenizers.added_token import AddedToken
from toksmith.compat.tokenizers.added_vocabulary import AddedVocabulary
from toksmith.compat.tokenizers.component import Component
from toksmith.compat.tokenizers.encoding import Encoding
from toksmith.compat.tokenizers.pre_tokenized_string import (
    PreTokenizedString,
    Split,
    Token,
)
from toksmith.framing import AddedToken as Literal
from toksmith.framing.added import find
from toksmith.tokenizer.encode import Special

_CACHED = 10_000
"""The number of words whose tokens are kept."""


class Stepwise:
    """What encodes the texts of a tokenizer in Python, in one state of its components.

    Args:
        parts: the components by name.
        added: the added tokens.
    """

    def __init__(self, parts: dict[str, Component | None], added: AddedVocabulary) -> None:
        self._normalizer: Any = parts["normalizer"]
        self._pre_tokenizer: Any = parts["pre_tokenizer"]
        model: Any = parts["model"]
        self._tokenize = model.tokenize if model.is_random() else lru_cache(_CACHED)(model.tokenize)
        self._added = added
        self._raw, self._normalized = self._literals(False), self._literals(True)

    def _literals(self, normalized: bool) -> dict[str, Literal]:
        """Return the added tokens that are looked for in raw or normalized text."""
        found = {}
        for token_id, token in self._added.tokens.items():
            if token.normalized is normalized:
                text = token.content
                if normalized and self._normalizer is not None:
                    text = self._normalizer.normalize_str(text)
                if text:
                    found[text] = _literal(token, token_id)
        return found

    def texts(
        self,
        texts: Sequence[Any],
        type_id: int,
        *,
        special: Special,
        pre_split: bool,
        spans: bool = True,
    ) -> list[Encoding]:
        """Return the encoding of each text, before the post-processor."""
        found = [self._text(text, type_id, special, pre_split) for text in texts]
        if not spans:
            for each in found:
                each._columns["offsets"] = [(0, 0)] * len(each)
        return found

    def _text(self, text: Any, type_id: int, special: Special, pre_split: bool) -> Encoding:
        if not pre_split:
            return self._encoding(text, type_id, None, special)
        words = [self._encoding(word, type_id, place, special) for place, word in enumerate(text)]
        return Encoding.merge(words, False)

    def _encoding(self, text: str, type_id: int, word: int | None, special: Special) -> Encoding:
        pretok = PreTokenizedString(text)
        self._find(pretok, self._raw, special)
        if self._normalizer is not None:
            pretok.normalize(self._normalizer.normalize)
        self._find(pretok, self._normalized, special)
        if self._pre_tokenizer is not None:
            self._pre_tokenizer.pre_tokenize(pretok)
        pretok.tokenize(self._tokenize)
        return pretok.to_encoding(type_id, word)

    def _find(
        self, pretok: PreTokenizedString, tokens: dict[str, Literal], special: Special
    ) -> None:
        """Cut added tokens out."""
        literals = frozenset(
            text for text, token in tokens.items() if special != "text" or not token.special
        )
        splits: list[Split] = []  # also without literals: a part's original is that of its text
        for part, held in pretok._splits:
            if held is not None:
                splits.append((part, held))
                continue
            data = part.normalized.encode()
            for start, end, token in find(data, literals, tokens):
                first = len(data[:start].decode())
                last = first + len(data[start:end].decode())
                piece = part._part(first, last)
                made = None
                if token is not None:
                    made = [Token(token.id, piece.normalized, (0, end - start))]
                splits.append((piece, made))
        pretok._splits = splits


def _literal(token: AddedToken, token_id: int) -> Literal:
    return Literal(
        token.content,
        token_id,
        special=token.special,
        single_word=token.single_word,
        lstrip=token.lstrip,
        rstrip=token.rstrip,
        normalized=token.normalized,
    )
