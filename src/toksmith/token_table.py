"""All tokens of a pipeline by id, and all ids by token."""

from __future__ import annotations

from functools import cached_property

from toksmith.errors import OptionError, UnknownTokenError
from toksmith.pipeline import Pipeline
from toksmith.text import utf8


class TokenTable:
    """The tokens of a pipeline's model, and the added ones.

    Args:
        pipeline: whose tokens.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    @cached_property
    def tokens(self) -> list[bytes]:
        """The bytes of each id, those of added tokens included; ``b""`` where there is none."""
        tokens = list(self._pipeline.model.vocab)
        for added in self._pipeline.framing.added_tokens:
            tokens += [b""] * (added.id + 1 - len(tokens))
            if not added.alias:
                tokens[added.id] = added.content.encode()
        return tokens

    @cached_property
    def _added_ids(self) -> dict[bytes, int]:
        added = self._pipeline.framing.added_tokens
        return {token.content.encode(): token.id for token in added}

    def bytes_of(self, token_id: int) -> bytes:
        """Return the bytes of a token; UnknownTokenError where there is none."""
        try:
            token = self.tokens[token_id] if 0 <= token_id < len(self.tokens) else b""
        except TypeError:
            raise OptionError(f"token_id is {token_id!r:.80}: use a whole number") from None
        if not token:
            raise UnknownTokenError(
                f"no token has id {token_id}; ids go from 0 to {len(self.tokens) - 1}"
            )
        return token

    def id_of(self, token: str | bytes) -> int:
        """Return the id of a token, added or not; UnknownTokenError where there is none."""
        literal = utf8(token)
        found = self._added_ids.get(literal, self._pipeline.model.ids.get(literal))
        if found is None:
            raise UnknownTokenError(f"{token!r} is not one token of this vocabulary")
        return found
