"""tiktoken's ``CoreBPE``: the calls of an encoding without checks for special tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from operator import index
from typing import Any

from toksmith._base.arrays import IdArray, OffsetArray
from toksmith._base.lazy import np
from toksmith._base.text import utf8
from toksmith.compat.tiktoken.ranks import ranked_pipeline
from toksmith.compat.tiktoken.unstable import completions, last_chunk
from toksmith.errors import OptionError, UnknownTokenError
from toksmith.models import BPE
from toksmith.pipeline import Pipeline
from toksmith.tokenizer import Tokenizer

_MOST = 2**32
_SHORT = 512
"""Ids that are decoded one by one: the calls that decode many at once have a cost of their own."""

NONE: frozenset[str] = frozenset()


class CoreBPE:
    """Ranks, special tokens and a split pattern, run by a Tokenizer.

    Args:
        encoder: the rank of each token.
        special_tokens_encoder: the ids of special tokens by literal.
        pattern: the split pattern; text between its matches is dropped.

    Raises:
        ValueError: two tokens have one rank, or the pattern does not compile.

    Example:
        >>> core = CoreBPE({bytes([byte]): byte for byte in range(256)}, {"<e>": 256}, ".")
        >>> core.encode("a<e>", {"<e>"})
        [97, 256]
    """

    def __init__(
        self, encoder: Mapping[bytes, int], special_tokens_encoder: Mapping[str, int], pattern: str
    ) -> None:
        for given in (encoder, special_tokens_encoder):
            if not isinstance(given, Mapping):
                raise TypeError(
                    f"{given!r:.80} is of the type {type(given).__name__}: use a dict of ids"
                )
        check_literals(special_tokens_encoder)
        pipeline, outer = ranked_pipeline(encoder, special_tokens_encoder, pattern)
        self._set_up(pipeline, special_tokens_encoder, outer)
        self.ranks = encoder

    def _set_up(
        self, pipeline: Pipeline, special_tokens: Mapping[str, int], outer: OffsetArray | None
    ) -> None:
        self._special_tokens = special_tokens
        self._literals = frozenset(special_tokens)
        self.tokenizer = Tokenizer(pipeline)
        self._outer = outer

    @classmethod
    def of(cls, pipeline: Pipeline) -> CoreBPE:
        """Return the core of a published pipeline; its ranks are listed on first use.

        Args:
            pipeline: byte-level BPE with a split pattern and special tokens.
        """
        self = cls.__new__(cls)
        special = {token.content: token.id for token in pipeline.framing.added_tokens}
        self._set_up(pipeline, special, None)
        return self

    @cached_property
    def ranks(self) -> Mapping[bytes, int]:
        """The rank of each token."""
        vocab = self.tokenizer.pipeline.model.vocab
        return {token: token_id for token_id, token in enumerate(vocab) if token}

    def __reduce__(self) -> tuple[Any, ...]:
        pattern: Any = self.tokenizer.pipeline.splitter
        return CoreBPE, (self.ranks, self._special_tokens, pattern.pattern)

    # Encoding

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a text in which special tokens are plain text."""
        if type(text) is not str:
            check_text(text)
        ids = self.tokenizer.encode(text)
        return ids if self._outer is None else self._own(ids)

    def encode(self, text: str, allowed_special: AbstractSet[str]) -> list[int]:
        """Return the ids of a text with these special tokens."""
        allowed = self._known(text, allowed_special)
        if not allowed:
            return self.encode_ordinary(text)
        ids = self.tokenizer.encode(text, special=allowed)
        return ids if self._outer is None else self._own(ids)

    def encode_to_tiktoken_buffer(self, text: str, allowed_special: AbstractSet[str]) -> IdArray:
        """Return the same as a uint32 array."""
        ids = self.tokenizer.encode_array(text, special=self._known(text, allowed_special))
        return ids if self._outer is None else np.array(self._own(ids), np.uint32)

    def encode_batch(
        self, texts: Sequence[str], allowed_special: AbstractSet[str], threads: int
    ) -> list[list[int]]:
        """Return the ids of many texts."""
        allowed = self._allowed(allowed_special)
        lists = self.tokenizer.encode_batch(
            texts, special=allowed or "text", threads=threads
        ).to_lists()
        return lists if self._outer is None else list(map(self._own, lists))

    def _known(self, text: str, allowed_special: AbstractSet[str]) -> frozenset[str]:
        """Return the special tokens to look for; none if the text cannot hold one."""
        if type(text) is not str:
            check_text(text)
        allowed = self._allowed(allowed_special)
        return allowed if allowed and common_start(allowed) in text else NONE

    def _allowed(self, literals: AbstractSet[str]) -> frozenset[str]:
        """Return the special tokens among some strings."""
        if literals is NONE:
            return NONE
        if not isinstance(literals, AbstractSet):
            raise TypeError(
                f"{literals!r:.80} is of the type {type(literals).__name__}: use a set of strings"
            )
        found = self._literals.intersection(literals)
        if len(found) < len(literals):
            check_literals(literals)
        return found

    def encode_with_unstable(
        self, text: str, allowed_special: AbstractSet[str]
    ) -> tuple[list[int], list[list[int]]]:
        """Return the stable ids, and the possible ids after them."""
        allowed = self._allowed(allowed_special)
        ids = self.encode(text, allowed)
        last = self._unstable_length(ids, utf8(text), allowed)
        stable, rest = ids[: len(ids) - last], ids[len(ids) - last :]
        if not rest:
            return stable, []
        found = completions(
            self.decode_bytes(rest),
            self._sorted_tokens,
            self.ranks,
            lambda texts: self.encode_batch(texts, NONE, 1),
            self._merge,
        )
        return stable, [list(each) for each in found]

    def _unstable_length(self, ids: list[int], data: bytes, allowed: frozenset[str]) -> int:
        """Return the number of ids at the end that more text may change.

        They come from the last chunk, and from white space before it if it is white space too.
        """
        chunk = last_chunk(self.tokenizer.pipeline, data, allowed)
        if not chunk:
            return 0
        last = len(self.encode_single_piece(chunk))
        spaces = self._space_ids
        if ids[len(ids) - last] in spaces:
            while last < len(ids) and ids[len(ids) - last - 1] in spaces:
                last += 1
        return last

    @cached_property
    def _space_ids(self) -> frozenset[int]:
        ranks = self.ranks.items()
        return frozenset(token_id for token, token_id in ranks if not token.strip(b" \n\t"))

    def encode_single_token(self, piece: bytes) -> int:
        """Return the id of a token, special or not; KeyError if there is none."""
        found = self.ranks.get(_checked_bytes(piece))
        if found is None:
            found = self._special_tokens.get(piece.decode("utf-8", "surrogateescape"))
        if found is None:
            raise KeyError(piece)
        return found

    def encode_single_piece(self, piece: bytes) -> list[int]:
        """Return the ids of bytes that are not split."""
        return self._own(self._unsplit.encode(_checked_bytes(piece)))

    def _merge(self, pieces: Sequence[bytes]) -> list[list[int]]:
        """Return the ids of unsplit texts, found by merging even if the whole is a token."""
        return list(map(self._own, self._merging.encode_batch(pieces).to_lists()))

    @cached_property
    def _unsplit(self) -> Tokenizer:
        return Tokenizer(Pipeline(self.tokenizer.pipeline.model))

    @cached_property
    def _merging(self) -> Tokenizer:
        model: Any = self.tokenizer.pipeline.model
        return Tokenizer(Pipeline(BPE(model.vocab, vars(model)["merges"])))

    def _encode_bytes(self, data: bytes) -> list[int]:
        """Return the ids of bytes; from the last chunk before invalid UTF-8 on, nothing is split.

        A text that was cut inside a character gets ids that fit the text that it was cut from.
        """
        try:
            return self.encode_ordinary(_checked_bytes(data).decode())
        except UnicodeDecodeError as wrong:
            valid = data[: wrong.start]
        ids = self.encode_ordinary(valid.decode())
        last = self._unstable_length(ids, valid, NONE)
        kept, rest = ids[: len(ids) - last], ids[len(ids) - last :]
        return kept + self.encode_single_piece(self.decode_bytes(rest) + data[len(valid) :])

    # Decoding

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes of ids; KeyError for an unknown one."""
        if self._outer is None and not (type(tokens) is list and len(tokens) < _SHORT):
            try:
                return self.tokenizer.decode_bytes(tokens)
            except (UnknownTokenError, OptionError):
                pass  # tiktoken's errors are raised below
        if type(tokens) is not list:
            _check_sequence(tokens)
        try:
            # A float that equals an id would be found in the dictionary, but not have an int sum.
            if type(sum(tokens)) is int:
                return b"".join(map(self._decoder.__getitem__, tokens))
        except (KeyError, TypeError):
            pass
        return b"".join(self._each_token(tokens))

    def _each_token(self, tokens: Iterable[int]) -> Iterable[bytes]:
        for token in tokens:
            data = self._decoder.get(_id(token))
            if data is None:
                raise KeyError(f"Invalid token for decoding: {token}")
            yield data

    def decode_bytes_batch(self, batch: Iterable[Sequence[int]], threads: int) -> list[bytes]:
        """Return the bytes of each list of ids."""
        batch = list(batch)
        if self._outer is None:
            try:
                return self.tokenizer.decode_bytes_batch(batch, threads=threads)
            except (UnknownTokenError, OptionError):
                pass
        return list(map(self.decode_bytes, batch))

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token; KeyError if there is none."""
        data = self._decoder.get(_id(token))
        if data is None:
            raise KeyError(str(token))
        return data

    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of all tokens but the special ones, in the order of the bytes."""
        return list(self._sorted_tokens)

    @cached_property
    def _sorted_tokens(self) -> list[bytes]:
        return sorted(self.ranks)

    @cached_property
    def _decoder(self) -> Mapping[int, bytes]:
        tokens = {token_id: token for token, token_id in self.ranks.items()}
        for literal, token_id in self._special_tokens.items():
            tokens.setdefault(token_id, literal.encode())
        return tokens

    def _own(self, ids: Sequence[int] | IdArray) -> list[int]:
        """Return the encoding's ids for those of the pipeline."""
        if self._outer is None:
            return list(ids)
        own = self._outer[np.asarray(ids, np.int64)]
        if own.min(initial=0) < 0:
            raise KeyError(self.tokenizer.token_bytes(int(ids[int(own.argmin())])))
        found: list[int] = own.tolist()
        return found


def _id(token: int) -> int:
    number = index(token)
    if not 0 <= number < _MOST:
        raise OverflowError(f"{number} is no id: use 0 to {_MOST - 1}")
    return number


def check_text(text: object) -> None:
    """Raise TypeError if a text is no str."""
    if not isinstance(text, str):
        raise TypeError(f"text is {text!r:.80}: use a str, not {type(text).__name__}")


def check_literals(literals: Iterable[object]) -> None:
    """Raise TypeError if there is something else than strings."""
    for each in literals:
        if not isinstance(each, str):
            raise TypeError(f"{each!r:.80} is no literal of a special token: use strings")


def _checked_bytes(data: object) -> bytes:
    if not isinstance(data, bytes):
        raise TypeError(f"{data!r:.80} is of the type {type(data).__name__}: use bytes")
    return data


def _check_sequence(ids: object) -> None:
    if isinstance(ids, Mapping) or not hasattr(ids, "__getitem__"):
        raise TypeError(f"ids are {ids!r:.80}: use a list of whole numbers")


@lru_cache(maxsize=128)
def common_start(literals: frozenset[str]) -> str:
    """Return the characters that all literals start with.

    Example:
        >>> common_start(frozenset({"<|end|>", "<|pad|>"}))
        '<|'
    """
    first, last = min(literals), max(literals)
    size = 0
    while size < len(first) and first[size : size + 1] == last[size : size + 1]:
        size += 1
    return first[:size]
