"""The added tokens of a tokenizer and their ids, numbered as tokenizers numbers them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toksmith.compat.tokenizers.added_token import AddedToken
from toksmith.compat.tokenizers.models import Model

_KEYS = ("content", "single_word", "lstrip", "rstrip", "normalized", "special")


class AddedVocabulary:
    """Added tokens by text and by id.

    Attributes:
        ids: the id of each text.
        tokens: the token of each id.
        special: the texts of special tokens.
    """

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.tokens: dict[int, AddedToken] = {}
        self.special: set[str] = set()

    def add(self, tokens: Iterable[AddedToken], model: Model) -> int:
        """Add tokens, and return how many changed the vocabulary.

        A token of the model keeps its id. All others get the next one.
        """
        added = 0
        known = set(map(_key, self.tokens.values()))
        highest = max(self.ids.values(), default=None)
        size = len(model.vocab)
        for given in tokens:
            token = given.copy()
            if not token.content or _key(token) in known:
                continue
            added += 1
            known.add(_key(token))
            token_id = self.ids.get(token.content, model.token_to_id(token.content))
            if token_id is None:
                token_id = size
                if highest is not None and (highest >= size or size == 0):
                    token_id = highest + 1
            highest = token_id if highest is None else max(highest, token_id)
            before = self.tokens.get(token_id)
            if before is not None:
                known.discard(_key(before))
                self.special.discard(before.content)
            self.put(token, token_id)
        return added

    def put(self, token: AddedToken, token_id: int) -> None:
        """Add a token with its id, as a file has it."""
        self.ids[token.content] = token_id
        self.tokens[token_id] = token
        if token.special:
            self.special.add(token.content)

    def spec(self) -> list[dict[str, Any]]:
        """Return the entry of tokenizer.json."""
        return [
            {"id": token_id, **{key: getattr(token, key) for key in _KEYS}}
            for token_id, token in sorted(self.tokens.items())
        ]

    def copy(self) -> AddedVocabulary:
        """Return the same tokens, in a vocabulary of its own."""
        made = AddedVocabulary()
        made.ids, made.special = dict(self.ids), set(self.special)
        made.tokens = dict(self.tokens)
        return made


def _key(token: AddedToken) -> tuple[object, ...]:
    return tuple(getattr(token, key) for key in _KEYS)
