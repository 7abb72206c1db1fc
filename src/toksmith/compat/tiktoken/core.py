"""tiktoken's ``Encoding``: ranks, a split pattern and special tokens, run by a Tokenizer."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from typing import Any, Literal, NoReturn, TypeAlias

from toksmith._base.arrays import IdArray
from toksmith._base.lazy import regex
from toksmith._base.threads import thread_count
from toksmith.compat.tiktoken._tiktoken import (
    NONE,
    CoreBPE,
    check_literals,
    check_text,
    common_start,
)
from toksmith.pipeline import Pipeline

Allowed: TypeAlias = "Literal['all'] | AbstractSet[str]"
Disallowed: TypeAlias = "Literal['all'] | Collection[str]"

_CONTINUING = bytes(range(0x80, 0xC0))
"""The bytes inside a character of UTF-8."""

REGISTERED: dict[str, Encoding] = {}
"""The encodings that get_encoding() has made, by name; pickles hold only their names."""

find_registered: list[Callable[[str], Encoding]] = []
"""The function that finds an encoding by name, which the registry adds."""


class Encoding:
    r"""A vocabulary of ranks with a split pattern and special tokens, as tiktoken has it.

    Args:
        name: its name, which its representation shows.
        pat_str: the split pattern; text between its matches is dropped.
        mergeable_ranks: the rank, which is the id, of each token by its bytes. Of all pairs of
            neighbours whose bytes together are a token, the one of the lowest rank merges first.
        special_tokens: the ids of special tokens by literal.
        explicit_n_vocab: the number of all tokens, if it is to be checked.

    Raises:
        ValueError: two tokens have one rank, or the pattern does not compile.
        AssertionError: the number of tokens is not ``explicit_n_vocab``, or ids have gaps.

    Example:
        >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"lo": 256, b"low": 257}
        >>> end = {"<e>": 258}
        >>> enc = Encoding("low", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens=end)
        >>> enc, enc.encode("low lo"), enc.n_vocab
        (<Encoding 'low'>, [257, 32, 256], 259)
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        self.name = name
        self._pat_str = pat_str
        self._mergeable_ranks = mergeable_ranks
        self._special_tokens = special_tokens
        self._core_bpe = CoreBPE(mergeable_ranks, special_tokens, pat_str)
        self.max_token_value = max(
            max(mergeable_ranks.values()), max(special_tokens.values(), default=0)
        )
        if explicit_n_vocab:
            found = len(mergeable_ranks) + len(special_tokens)
            if found != explicit_n_vocab or self.max_token_value != explicit_n_vocab - 1:
                raise AssertionError(
                    f"explicit_n_vocab is {explicit_n_vocab}, but there are {found} tokens with "
                    f"ids up to {self.max_token_value}"
                )

    @classmethod
    def of(cls, name: str, pipeline: Pipeline) -> Encoding:
        """Return the encoding of a published pipeline; its ranks are listed on first use.

        Args:
            name: its name.
            pipeline: byte-level BPE with a split pattern and special tokens.

        Example:
            >>> import toksmith
            >>> Encoding.of("small", toksmith.get("toksmith-small").pipeline).n_vocab
            16384
        """
        self = cls.__new__(cls)
        splitter: Any = pipeline.splitter
        self.name = name
        self._pat_str = splitter.pattern
        self._core_bpe = CoreBPE.of(pipeline)
        self._special_tokens = {token.content: token.id for token in pipeline.framing.added_tokens}
        self.max_token_value = self._core_bpe.tokenizer.vocab_size - 1
        return self

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        return dict(self._core_bpe.ranks)

    @cached_property
    def _has_all(self) -> frozenset[str]:
        return frozenset(self._special_tokens)

    @cached_property
    def _special_ids(self) -> frozenset[int]:
        return frozenset(self._special_tokens.values())

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # Encoding

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a text in which special tokens are plain text.

        Args:
            text: the text.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").encode_ordinary("hello world")
            [12700, 111, 1683]
        """
        return self._core_bpe.encode_ordinary(text)

    def encode(
        self,
        text: str,
        *,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
    ) -> list[int]:
        """Return the ids of a text; by default, a text that holds a special token is an error.

        Args:
            text: the text.
            allowed_special: the special tokens that become their ids; ``"all"`` for all of them.
                Other strings in the set have no effect.
            disallowed_special: the strings that may not occur in the text; ``"all"`` for the
                special tokens that are not allowed, ``()`` for none.

        Raises:
            ValueError: the text holds a disallowed string.
            TypeError: ``text`` is no str, or ``allowed_special`` is no set.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> enc = get_encoding("toksmith-small")
            >>> enc.encode("<|endoftext|>", allowed_special={"<|endoftext|>"})
            [16382]
        """
        allowed = self._check_special(text, allowed_special, disallowed_special)
        return self._core_bpe.encode(text, allowed)

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
    ) -> IdArray:
        """Return the ids of a text as a uint32 array; see :meth:`encode`.

        Args:
            text: the text.
            allowed_special: see :meth:`encode`.
            disallowed_special: see :meth:`encode`.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").encode_to_numpy("hello world")
            array([12700,   111,  1683], dtype=uint32)
        """
        allowed = self._check_special(text, allowed_special, disallowed_special)
        return self._core_bpe.encode_to_tiktoken_buffer(text, allowed)

    def encode_ordinary_batch(
        self, text: list[str], *, num_threads: int | None = 8
    ) -> list[list[int]]:
        """Return the ids of many texts; see :meth:`encode_ordinary`.

        Args:
            text: the texts.
            num_threads: the most threads to use.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").encode_ordinary_batch(["hello", " world"])
            [[12700, 111], [1683]]
        """
        return self._core_bpe.encode_batch(_checked_texts(text), NONE, _threads(num_threads))

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int | None = 8,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """Return the ids of many texts; see :meth:`encode`.

        Args:
            text: the texts.
            num_threads: the most threads to use.
            allowed_special: see :meth:`encode`.
            disallowed_special: see :meth:`encode`.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").encode_batch(["hello", " world"])
            [[12700, 111], [1683]]
        """
        texts = _checked_texts(text)
        if disallowed_special is None:
            raise TypeError("disallowed_special is None: use a collection of strings, or 'all'")
        allowed, disallowed = self._special(allowed_special, disallowed_special)
        if disallowed:
            for each in texts:
                _refuse(each, disallowed)
        return self._core_bpe.encode_batch(texts, allowed, _threads(num_threads))

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """Return the ids that more text cannot change, and the ids that may come after them.

        Args:
            text: the start of a text.
            allowed_special: see :meth:`encode`.
            disallowed_special: see :meth:`encode`.

        Returns:
            The stable ids, and the possible continuations: each begins with the rest of the text,
            and has no more ids than needed for that. Their order is not defined.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> stable, others = get_encoding("toksmith-small").encode_with_unstable("hello wor")
            >>> stable, [1683] in others
            ([12700, 111], True)
        """
        allowed = self._check_special(text, allowed_special, disallowed_special)
        return self._core_bpe.encode_with_unstable(text, allowed)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of a token, special or not.

        Args:
            text_or_bytes: the token.

        Raises:
            KeyError: there is no such token.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").encode_single_token(" world")
            1683
        """
        return self._core_bpe.encode_single_token(_bytes_of(text_or_bytes))

    # Decoding

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes of ids.

        Args:
            tokens: the ids.

        Raises:
            KeyError: no token has one of the ids.
            OverflowError: an id is negative, or 2**32 or more.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").decode_bytes([12700, 111])
            b'hello'
        """
        return self._core_bpe.decode_bytes(tokens)

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Return the text of ids.

        Args:
            tokens: the ids.
            errors: the handler of invalid UTF-8, as in :meth:`bytes.decode`.

        Raises:
            KeyError, OverflowError: see :meth:`decode_bytes`.
            UnicodeDecodeError: ``errors="strict"`` and the bytes are invalid UTF-8.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").decode([12700, 111, 1683])
            'hello world'
        """
        return self._core_bpe.decode_bytes(tokens).decode("utf-8", errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token, special or not.

        Args:
            token: its id.

        Raises:
            KeyError: no token has this id.
            OverflowError: the id is negative, or 2**32 or more.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").decode_single_token_bytes(1683)
            b' world'
        """
        return self._core_bpe.decode_single_token_bytes(token)

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Return the bytes of each id; see :meth:`decode_single_token_bytes`.

        Args:
            tokens: the ids.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").decode_tokens_bytes([12700, 111])
            [b'hell', b'o']
        """
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Return the text of ids, and the character at which each token starts.

        A token that starts inside a character starts at that character.

        Args:
            tokens: the ids.

        Raises:
            KeyError, OverflowError: see :meth:`decode_single_token_bytes`.
            UnicodeDecodeError: the bytes of the ids are invalid UTF-8.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").decode_with_offsets([12700, 111, 1683])
            ('hello world', [0, 4, 5])
        """
        parts = self.decode_tokens_bytes(tokens)
        text = b"".join(parts).decode()
        starts: list[int] = []
        begun = 0  # the number of characters that begin in the tokens so far
        for part in parts:
            starts.append(begun - (part[:1] in _CONTINUING and part != b""))
            begun += len(part) if part.isascii() else len(part.translate(None, _CONTINUING))
        return text, starts

    def decode_batch(
        self,
        batch: Sequence[Sequence[int]],
        *,
        errors: str = "replace",
        num_threads: int | None = 8,
    ) -> list[str]:
        """Return the text of each list of ids; see :meth:`decode`.

        Args:
            batch: the lists.
            errors: see :meth:`decode`.
            num_threads: the most threads to use.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").decode_batch([[12700, 111], [1683]])
            ['hello', ' world']
        """
        found = self.decode_bytes_batch(batch, num_threads=num_threads)
        return [data.decode("utf-8", errors) for data in found]

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int | None = 8
    ) -> list[bytes]:
        """Return the bytes of each list of ids; see :meth:`decode_bytes`.

        Args:
            batch: the lists.
            num_threads: the most threads to use.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").decode_bytes_batch([[12700, 111], [1683]])
            [b'hello', b' world']
        """
        return self._core_bpe.decode_bytes_batch(batch, _threads(num_threads))

    # The vocabulary

    def token_byte_values(self) -> list[bytes]:
        r"""Return the bytes of all tokens but the special ones, in the order of the bytes.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").token_byte_values()[:2]
            [b'\x00', b'\x01']
        """
        return self._core_bpe.token_byte_values()

    @property
    def eot_token(self) -> int:
        """The id of ``<|endoftext|>``; without such a token, a KeyError.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").eot_token
            16382
        """
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The literals of the special tokens.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> sorted(get_encoding("toksmith-small").special_tokens_set)
            ['<|endoftext|>', '<|pad|>']
        """
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Return whether an id is that of a special token.

        Args:
            token: the id.

        Raises:
            AssertionError: ``token`` is no int.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").is_special_token(16382)
            True
        """
        if not isinstance(token, int):
            raise AssertionError(f"token is {token!r:.80}: use an int")
        return token in self._special_ids

    @property
    def n_vocab(self) -> int:
        """The highest id plus one.

        Example:
            >>> from toksmith.compat.tiktoken import get_encoding
            >>> get_encoding("toksmith-small").n_vocab
            16384
        """
        return self.max_token_value + 1

    # Names that start with an underscore, but that other packages use

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """Return the ids of a text that is not split."""
        return self._core_bpe.encode_single_piece(_bytes_of(text_or_bytes))

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """Return the ids of a text that Python's ``regex`` splits."""
        return [
            token_id
            for match in regex.finditer(self._pat_str, text)
            for token_id in self._encode_single_piece(match.group())
        ]

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Return the ids of bytes; see :meth:`CoreBPE._encode_bytes`."""
        return self._core_bpe._encode_bytes(text)

    # Pickling

    def __getstate__(self) -> object:
        if self is REGISTERED.get(self.name):
            return self.name
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, str):
            vars(self).update(vars(find_registered[0](state)))
        else:
            self.__init__(**state)  # type: ignore[misc]

    # Special tokens

    def _check_special(
        self, text: str, allowed_special: Allowed, disallowed_special: Disallowed
    ) -> frozenset[str]:
        """Return the special tokens to look for, after a check of the text for the others."""
        allowed, disallowed = self._special(allowed_special, disallowed_special)
        if type(text) is not str:
            check_text(text)
        if disallowed:
            _refuse(text, disallowed)
        return allowed

    def _special(
        self, allowed_special: Allowed, disallowed_special: Disallowed
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Return the special tokens to look for, and the strings that may not occur."""
        if isinstance(allowed_special, str) and allowed_special == "all":
            allowed = self._has_all
        elif not allowed_special and isinstance(allowed_special, AbstractSet):
            allowed = NONE
        elif isinstance(allowed_special, AbstractSet):
            allowed = self._has_all.intersection(allowed_special)
            if len(allowed) < len(allowed_special):
                check_literals(allowed_special)
        else:
            raise TypeError(
                f"allowed_special is {allowed_special!r:.80}: use a set of strings, or 'all', not "
                f"{type(allowed_special).__name__}"
            )
        if isinstance(disallowed_special, str) and disallowed_special == "all":
            return allowed, self._has_all - allowed if allowed else self._has_all
        return allowed, frozenset(disallowed_special or ())


def _bytes_of(text: str | bytes) -> bytes:
    if isinstance(text, str):
        return text.encode()
    if not isinstance(text, bytes):
        raise TypeError(f"{text!r:.80} is no text: use str or bytes, not {type(text).__name__}")
    return text


def _checked_texts(texts: Iterable[str]) -> list[str]:
    found = list(texts)
    for text in found:
        check_text(text)
    return found


def _threads(num_threads: int | None) -> int:
    if num_threads is None:
        return thread_count(None)
    if num_threads <= 0:
        raise ValueError("num_threads must be greater than 0")
    return min(num_threads, thread_count(None))


@lru_cache(maxsize=128)
def _pattern(literals: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern that finds the first of some strings, the longest if several start there."""
    longest_first = sorted(literals, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)))


def _refuse(text: str, disallowed: frozenset[str]) -> None:
    if common_start(disallowed) in text and (match := _pattern(disallowed).search(text)):
        raise_disallowed_special_token(match.group())


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raise the error for a text that holds a special token.

    Args:
        token: the token.

    Raises:
        ValueError: always.

    Example:
        >>> raise_disallowed_special_token("<|end|>")
        Traceback (most recent call last):
        ValueError: Encountered text corresponding to disallowed special token '<|end|>'.
        ...
    """
    raise ValueError(
        f"Encountered text corresponding to disallowed special token {token!r}.\n"
        "If you want this text to be encoded as a special token, "
        f"pass it to `allowed_special`, e.g. `allowed_special={{{token!r}, ...}}`.\n"
        "If you want this text to be encoded as normal text, disable the check for this token "
        f"by passing `disallowed_special=(enc.special_tokens_set - {{{token!r}}})`.\n"
        "To disable this check for all special tokens, pass `disallowed_special=()`.\n"
    )
