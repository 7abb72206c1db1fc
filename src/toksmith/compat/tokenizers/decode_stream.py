"""tokenizers' ``DecodeStream``: the text of ids that come one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Protocol, TypeAlias

from toksmith.compat.tokenizers.checks import an_id, arguments, boolean, optional, sequence_of
from toksmith.compat.tokenizers.failures import ComponentTypeError
from toksmith.errors import ToksmithError
from toksmith.stages.decode import byte_of
from toksmith.tokenizer import Tokenizer


class PeerTokenizer(Protocol):
    """The calls of ``tokenizers.Tokenizer`` that a stream makes."""

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        """Return the text of ids."""

    def id_to_token(self, id: int) -> str | None:
        """Return a token as it is spelled."""


AnyTokenizer: TypeAlias = Tokenizer | PeerTokenizer

_BROKEN = "\ufffd"
_WINDOW = 8
"""The number of ids at the end of a prompt that are decoded first."""


class DecodeStream:
    """Returns the text of new ids as soon as it ends in a whole character.

    The steps are those of ``tokenizers.decoders.DecodeStream``: a token that ends inside a
    character is held back as a whole. :meth:`toksmith.Tokenizer.decoder` returns the characters
    that are complete at once. A step decodes only the ids since the last text and those of that
    text, and at first the last few ids of the prompt.

    Args:
        ids: the ids of a prompt, whose text is not returned.
        skip_special_tokens: leave special tokens out.

    Example:
        >>> import toksmith
        >>> tok = toksmith.get("toksmith-small")
        >>> stream = DecodeStream()
        >>> [stream.step(tok, i) for i in tok.encode("ok 👋")]
        ['ok', ' ', None, None, None, '👋']
    """

    @arguments(skip_special_tokens=optional(boolean))
    def __init__(
        self, ids: Sequence[int] | None = None, skip_special_tokens: bool | None = False
    ) -> None:
        self._prompt = [] if ids is None else sequence_of(an_id)(ids)
        self._skip = bool(skip_special_tokens)
        self._ids: list[int] = []
        self._prefix = ""
        self._shown = 0  # the number of ids whose text is the prefix

    def step(self, tokenizer: AnyTokenizer, id: int | Sequence[int]) -> str | None:
        """Return the text that is complete with one or several more ids; ``None`` if there is none.

        Args:
            tokenizer: the tokenizer of the ids, the same in each step: a toksmith.Tokenizer, or an
                object with ``decode`` and ``id_to_token``, as tokenizers.Tokenizer has.
            id: an id, or several. Ids that no token has are left out.

        Raises:
            ComponentTypeError: an id is no integer from 0 to 2**32 - 1, or tokenizer no tokenizer.
            ToksmithError: the new ids change text that was returned, as the decoder of byte tokens
                does if invalid bytes follow valid ones: "Invalid prefix encountered …".

        Example:
            >>> import toksmith
            >>> tok = toksmith.get("toksmith-small")
            >>> DecodeStream(tok.encode("hello")).step(tok, tok.encode(" world"))
            ' world'
        """
        try:
            new = [an_id(id)] if hasattr(id, "__index__") else sequence_of(an_id)(id)
        except ToksmithError as wrong:
            raise ComponentTypeError(
                f"StreamInput must be either an integer or a list of integers: {wrong}"
            ) from None
        if not isinstance(tokenizer, Tokenizer) and not hasattr(tokenizer, "id_to_token"):
            raise ComponentTypeError(
                f"{type(tokenizer).__name__!r} object is not an instance of 'Tokenizer'"
            )
        if self._prompt:
            self._start(tokenizer)
        self._ids += [each for each in new if _spelling(tokenizer, each)]
        text = self._decode(tokenizer, self._ids)
        if text.endswith(_BROKEN) or text == self._prefix:
            return None
        if not text.startswith(self._prefix):
            if len(text.encode()) <= len(self._prefix.encode()):
                return None
            raise ToksmithError(
                "Invalid prefix encountered while decoding stream: the text before was "
                f"{self._prefix!r:.80}, and is now part of {text!r:.80}; start a new DecodeStream"
            )
        found = text[len(self._prefix) :]
        self._ids = self._ids[self._shown :]
        self._prefix, self._shown = self._decode(tokenizer, self._ids), len(self._ids)
        return found

    def _start(self, tokenizer: AnyTokenizer) -> None:
        """Keep the last ids of the prompt: as many as decide the text of the ids after them."""
        prompt = [each for each in self._prompt if _spelling(tokenizer, each)]
        size = _WINDOW
        while size < len(prompt) and (
            byte_of(_spelling(tokenizer, prompt[-size])) is not None
            or not self._decode(tokenizer, prompt[-size:])
        ):
            size *= 2
        self._prompt, self._ids = [], prompt[-size:]
        self._prefix, self._shown = self._complete(tokenizer, self._ids), len(self._ids)

    def _complete(self, tokenizer: AnyTokenizer, ids: list[int]) -> str:
        """Return the text of ids without a character that is not complete."""
        text = self._decode(tokenizer, ids)
        if not text.endswith(_BROKEN):
            return text
        found = [text.rstrip(_BROKEN)]
        if isinstance(tokenizer, Tokenizer):
            found = [tokenizer.decoder(skip_special_tokens=self._skip).decode(ids)]
        for left_out in (1, 2, 3):  # byte tokens, which the decoder above holds back in runs
            shorter = self._decode(tokenizer, ids[:-left_out])
            if not shorter.endswith(_BROKEN):
                found.append(shorter)
        return max(found, key=len)

    def _decode(self, tokenizer: AnyTokenizer, ids: list[int]) -> str:
        return tokenizer.decode(ids, skip_special_tokens=self._skip)

    def __copy__(self) -> DecodeStream:
        again = DecodeStream(None, self._skip)
        vars(again).update({name: copy(value) for name, value in vars(self).items()})
        return again

    def __deepcopy__(self, memo: object) -> DecodeStream:
        return copy(self)


def _spelling(tokenizer: AnyTokenizer, token_id: int) -> str:
    """Return the spelling of a token, or nothing for an unknown id."""
    if not isinstance(tokenizer, Tokenizer):
        return tokenizer.id_to_token(token_id) or ""
    return tokenizer.spellings[token_id] if token_id < len(tokenizer) else ""
