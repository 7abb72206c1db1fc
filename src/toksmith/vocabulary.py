"""The vocabulary of a pipeline: all tokens by id, and all ids by token."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import overload

from toksmith._base.byte_alphabet import spell, unspell
from toksmith._base.checks import check_index
from toksmith._base.text import utf8
from toksmith._base.visible import count_of, shorten
from toksmith.errors import OptionError, UnknownTokenError
from toksmith.models import BPE, is_of_bytes
from toksmith.pipeline import Pipeline

_SHOWN = 6
"""The maximum number of entries in a repr."""


def find_outside(model: BPE) -> dict[int, str]:
    """Return the tokens that repeat the bytes of another one, but no merge makes, as text."""
    if len(model.ids) == len(model.vocab) - model.vocab.count(b""):
        return {}
    same: dict[bytes, list[int]] = {}
    for token_id, token in enumerate(model.vocab):
        if token:
            same.setdefault(token, []).append(token_id)
    in_merges = set(model.merges.ravel().tolist())
    found: dict[int, str] = {}
    for token, ids in same.items():
        text = token.decode(errors="replace")
        if len(ids) == 1 or text.encode() != token or unspell(text) is not None:
            continue
        spelled = next((token_id for token_id in ids if token_id in in_merges), ids[-1])
        found |= dict.fromkeys((i for i in ids if i != spelled and i not in in_merges), text)
    return found


class TokenTable:
    """The tokens of a pipeline's model, and the added ones.

    Args:
        pipeline: the pipeline that holds the tokens.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    @cached_property
    def tokens(self) -> list[bytes]:
        """The bytes of each id, added tokens included; ``b""`` for an id without a token."""
        tokens = list(self._pipeline.model.vocab)
        for added in self._pipeline.framing.added_tokens:
            tokens += [b""] * (added.id + 1 - len(tokens))
            if not added.alias:
                tokens[added.id] = added.content.encode()
        return tokens

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each token, in the order of ids; aliases of added tokens come last."""
        ids: dict[bytes, int] = {}
        for token_id, token in enumerate(self.tokens):
            if token:
                ids.setdefault(token, token_id)
        return ids | self._added_ids

    @cached_property
    def spelled(self) -> list[str]:
        """The spelling of each id in a tokenizer's file; ``""`` for an id without a token.

        Tokens of a byte-level model are spelled in GPT-2's printable alphabet, added tokens by
        their literals.
        """
        texts = [token.decode("utf-8", "replace") for token in self.tokens]
        model = self._pipeline.model
        if is_of_bytes(model):
            added = {token.id for token in self._pipeline.framing.added_tokens}
            outside = find_outside(model) if isinstance(model, BPE) else {}
            texts = [
                text if token_id in added else outside.get(token_id) or spell(token)
                for token_id, (token, text) in enumerate(zip(self.tokens, texts, strict=True))
            ]
        return texts

    @cached_property
    def spelled_ids(self) -> dict[str, int]:
        """The id of each spelling, the lowest of several; aliases of added tokens come last."""
        ids: dict[str, int] = {}
        for token_id, text in enumerate(self.spelled):
            if text:
                ids.setdefault(text, token_id)
        return ids | {token.content: token.id for token in self._pipeline.framing.added_tokens}

    @cached_property
    def _added_ids(self) -> dict[bytes, int]:
        added = self._pipeline.framing.added_tokens
        return {token.content.encode(): token.id for token in added}

    def bytes_of(self, token_id: int) -> bytes:
        """Return the bytes of a token, or raise UnknownTokenError."""
        try:
            token = self.tokens[token_id] if 0 <= token_id < len(self.tokens) else b""
        except TypeError:
            raise OptionError(f"token_id is {token_id!r:.80}: use a whole number") from None
        if not token:
            raise UnknownTokenError(
                f"no token has id {token_id}; ids go from 0 to {len(self.tokens) - 1}"
            )
        return token

    def find(self, token: str | bytes) -> int | None:
        """Return the id of a token, added or not; ``None`` if there is none."""
        if not isinstance(token, str | bytes | bytearray | memoryview):
            raise OptionError(
                f"token is {token!r:.80}: use a token as str or bytes, not {type(token).__name__}; "
                "token_bytes(id) returns the token of an id"
            )
        literal = utf8(token)
        return self._added_ids.get(literal, self._pipeline.model.ids.get(literal))

    def id_of(self, token: str | bytes) -> int:
        """Return the id of a token, added or not, or raise UnknownTokenError."""
        found = self.find(token)
        if found is None:
            raise UnknownTokenError(f"{token!r:.80} is not one token of this vocabulary")
        return found


class Tokens(Sequence[bytes]):
    """The bytes of each id, special tokens included: the value of :attr:`Tokenizer.tokens`.

    A read-only sequence: ``tokens[id]``, ``tokens[:10]`` (a list). It has an entry for each id up
    to the highest; an id without a token is ``b""``.

    Args:
        table: the vocabulary.
    """

    def __init__(self, table: TokenTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table.tokens)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        check_index(index, "id", f"a vocabulary of {count_of(len(self), 'id')}")
        try:
            return self._table.tokens[index]
        except IndexError:
            raise IndexError(f"id {index} of a vocabulary of {count_of(len(self), 'id')}") from None

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._table.tokens)

    def __contains__(self, token: object) -> bool:
        """Return whether a token, as str or bytes, is in the vocabulary."""
        if isinstance(token, str):
            token = utf8(token)
        return token in self._table.tokens

    def index(self, value: str | bytes, start: int = 0, stop: int | None = None) -> int:
        """Return the first id of a token from ``start`` on and before ``stop``.

        Raises:
            OptionError: no id has this token, or it is neither str nor bytes.

        Example:
            >>> import toksmith
            >>> tok = toksmith.train(texts=["low low"], vocab_size=258)
            >>> tok.tokens.index("low"), tok.tokens.index(b"l")
            (257, 108)
        """
        if not isinstance(value, str | bytes):
            raise OptionError(
                f"token is {value!r:.80}: use a token as str or bytes, not {type(value).__name__}"
            )
        tokens = self._table.tokens
        try:
            return tokens.index(utf8(value), start, len(tokens) if stop is None else stop)
        except ValueError:
            raise OptionError(
                f"{value!r:.80} is not one token of this vocabulary: encode it to see its tokens"
            ) from None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Tokens | list | tuple):
            return self._table.tokens == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it equals lists, which have none

    def __repr__(self) -> str:
        return _repr(f"Tokens: {count_of(len(self), 'id')}", map(repr, self), len(self))


class Vocabulary(Mapping[bytes, int]):
    """The id of each token, special tokens included: the value of :attr:`Tokenizer.vocab`.

    A read-only mapping from the bytes of tokens to ids, in the order of ids. If several ids have
    the same bytes, it holds the id that :meth:`Tokenizer.token_id` returns.

    Args:
        table: the vocabulary.
    """

    def __init__(self, table: TokenTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table.ids)

    def __getitem__(self, token: bytes) -> int:
        if not isinstance(token, bytes | str):
            raise UnknownTokenError(
                f"{token!r:.80} is no token: the keys of a vocabulary are bytes; for the token "
                "of an id, use tokens[id]"
            )
        try:
            return self._table.ids[token]
        except KeyError:
            hint = f": use bytes, {utf8(token)!r:.80}" if isinstance(token, str) else ""
            raise UnknownTokenError(
                f"{token!r:.80} is not one token of this vocabulary{hint}"
            ) from None

    def __contains__(self, token: object) -> bool:
        return isinstance(token, bytes) and token in self._table.ids

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._table.ids)

    def __repr__(self) -> str:
        shown = (f"{token!r}: {token_id}" for token, token_id in self.items())
        return _repr(f"Vocabulary: {count_of(len(self), 'token')}", shown, len(self))


def _repr(head: str, entries: Iterable[str], count: int) -> str:
    shown = ", ".join(shorten(each, 24) for each in islice(entries, _SHOWN))
    return f"<{head}: {shown}{', …' if count > _SHOWN else ''}>"
